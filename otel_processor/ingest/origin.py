"""What the spans or log records of one scope share, and what was counted on the way, whichever encoding brought them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from otel_processor.model import Attributes

SERVICE_NAME: Final = "service.name"

_FLAG_REMOTE_KNOWN: Final = 0x100
_FLAG_REMOTE: Final = 0x200


@dataclass(slots=True)
class Tally:
    """What was read and what had to be left out."""

    spans: int = 0
    malformed_spans: int = 0
    malformed_requests: int = 0
    """Requests, or lines of a file, that could not be read at all."""
    other_signals: int = 0
    """Requests that hold metrics or profiles."""
    logs: int = 0
    """Log records of agents."""
    other_logs: int = 0
    """Log records of others, or that tell nothing that is looked at."""
    malformed_logs: int = 0

    def skip_spans(self, number: int = 1) -> None:
        """Count spans that cannot be read."""
        self.malformed_spans += number

    def skip_logs(self, number: int = 1) -> None:
        """Count log records that cannot be read."""
        self.malformed_logs += number


@dataclass(frozen=True, slots=True)
class Origin:
    """What all spans of one scope share."""

    service: str
    resource: Attributes
    scope: str
    scope_version: str
    extra: Mapping[str, Any]


def origin_of(
    *,
    resource: Attributes,
    resource_dropped: int,
    resource_schema: Any,
    entity_refs: list[dict[str, Any]],
    scope: str,
    scope_version: str,
    scope_attributes: Attributes,
    scope_dropped: int,
    schema: Any,
) -> Origin:
    """What the spans of a scope share; what has no column of its own goes along as `extra`, where it says anything."""
    service = resource.get(SERVICE_NAME)
    extra = {
        "resource_schema_url": resource_schema,
        "resource_dropped_attributes_count": resource_dropped,
        "entity_refs": entity_refs,
        "schema_url": schema,
        "scope_attributes": scope_attributes,
        "scope_dropped_attributes_count": scope_dropped,
    }
    return Origin(
        service=service if isinstance(service, str) else "",
        resource=resource,
        scope=scope,
        scope_version=scope_version,
        extra={name: value for name, value in extra.items() if value},
    )


def says_remote(flags: int) -> bool:
    """Whether a span's flags say that its parent lives in another process."""
    return bool(flags & _FLAG_REMOTE_KNOWN and flags & _FLAG_REMOTE)


def link_of(trace_id: str, span_id: str, attributes: Attributes, state: str, dropped: int, flags: int) -> dict[str, Any]:
    """A link as it is stored; what it does not say is left out."""
    link: dict[str, Any] = {"trace_id": trace_id, "span_id": span_id, "attributes": attributes}
    if state:
        link["trace_state"] = state
    if dropped:
        link["dropped_attributes_count"] = dropped
    if flags:
        link["flags"] = flags
    return link
