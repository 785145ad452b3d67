"""Which alerts the process told already whose spans they were found in: each stands on its span as an event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_processor.dialects import names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from otel_processor.model import Alert
    from otel_processor.runs.records import ReadSpan


def untold(alerts: Sequence[Alert], reads: Iterable[ReadSpan]) -> list[Alert]:
    """Return the alerts of which the spans do not say that they were told.

    Args:
        alerts: found in these spans, or in earlier ones because of these.
        reads: the spans.
    """
    if not alerts:
        return []
    told = {
        (read.span.trace_id, event.attributes.get("pattern"), event.attributes.get("action"))
        for read in reads
        for event in read.span.events
        if event.name == names.LOOP_ALERT_EVENT
    }
    return [alert for alert in alerts if (alert.trace_id, str(alert.verdict.pattern), str(alert.verdict.action)) not in told]
