"""Which run a request is about, by the headers that OpenTelemetry sends along. Source: W3C Trace Context, W3C Baggage."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from otel_processor.dialects.names import LOOP_RUN_ID

if TYPE_CHECKING:
    from collections.abc import Mapping

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?")
_CHARS = 256


class Named(NamedTuple):
    """What the headers say."""

    run_id: str | None
    """`loop.run.id` of the baggage, else the trace id."""
    trace: tuple[str, str] | None
    """Trace id and span id."""


def named_by_headers(headers: Mapping[str, str]) -> Named:
    """Read them; what is malformed says nothing, as the specifications have it."""
    found = _TRACEPARENT.fullmatch(headers.get("traceparent", "").strip())
    trace = (found[1], found[2]) if found is not None else None
    for member in headers.get("baggage", "").split(","):
        name, _, value = member.partition(";")[0].partition("=")
        run_id = unquote(value.strip())
        if name.strip() == LOOP_RUN_ID and 0 < len(run_id) <= _CHARS:
            return Named(run_id, trace)
    return Named(trace[0] if trace is not None else None, trace)
