"""The span of a call that is not made: what it says, and its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.trace import Status, StatusCode

from otel_processor.dialects import names
from otel_processor.guard.answer import Answer, error_for

if TYPE_CHECKING:
    from opentelemetry.trace import Span


def end_refused(span: Span, answer: Answer) -> None:
    """End a span that has just started, so that every exporter sees it: nobody else will."""
    # The status does not hold the message: that may quote an error, and would be taken for this call's.
    span.set_status(Status(StatusCode.ERROR, f"refused: {answer.pattern}"))
    mark_refused(span, answer)
    facts = {
        "pattern": str(answer.pattern),
        "action": str(answer.action),
        "stop_reason": str(answer.stop_reason or ""),
        "message": answer.message,
    }
    span.add_event(names.LOOP_REFUSED_EVENT, facts)
    span.end()


def mark_refused(span: Span, answer: Answer) -> None:
    """Say on a call's span that it was not made: what it tells as its result is our own message, and no news."""
    span.set_attribute(names.ERROR_TYPE, type(error_for(answer)).__name__)
    span.set_attribute(names.LOOP_PROGRESS_DECLARED, False)
