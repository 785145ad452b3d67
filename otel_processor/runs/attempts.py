"""Attempts behind one tool call: a client that retries inside a tool that is retried by an agent multiplies both."""

from __future__ import annotations

from typing import NamedTuple

from otel_processor.dialects import names
from otel_processor.model import Call, SpanFacts

_FIRST_FAILED_STATUS = 400


class Tries(NamedTuple):
    """What HTTP client spans inside a call say of attempts that did not do."""

    failed: int = 0
    resent: int = 0
    """The highest number that a client gave to a request it sent again (`http.request.resend_count`)."""

    def and_also(self, other: Tries | None) -> Tries:
        """Return both together."""
        return self if other is None else Tries(self.failed + other.failed, max(self.resent, other.resent))

    def of(self, call: Call) -> Call:
        """Return the call with the number of attempts that were made behind it."""
        worked = not call.reading.is_error and call.error_class is None
        return call._replace(attempts=max(self.failed + worked, self.resent + 1, 1))


def tries_of(span: SpanFacts) -> Tries | None:
    """Return what a plain span says of attempts: None where it is no HTTP request, or one that went well at once.

    The names are those of the HTTP semantic conventions, stable (1.23) and before.
    """
    attributes = span.attributes
    if names.HTTP_METHOD not in attributes and names.HTTP_METHOD_OLD not in attributes:
        return None
    status = attributes.get(names.HTTP_STATUS_CODE, attributes.get(names.HTTP_STATUS_CODE_OLD))
    failed = span.status == "ERROR" or (isinstance(status, int) and status >= _FIRST_FAILED_STATUS)
    resent = attributes.get(names.HTTP_RESEND_COUNT, attributes.get(names.HTTP_RESEND_COUNT_OLD, 0))
    resent = resent if isinstance(resent, int) and 0 < resent < 1_000_000 else 0
    return Tries(int(failed), resent) if failed or resent else None
