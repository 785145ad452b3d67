"""Which dialects are known, ours and those that other packages bring, and which of them wrote a span.

A package brings a dialect through an entry point in the group `otel_processor_dialects` that names a `Dialect`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Final

from otel_processor.dialects.dialect import Dialect, Fields
from otel_processor.dialects.failures import FailureKeys
from otel_processor.dialects.messages import MAX_TEXT_CHARS
from otel_processor.dialects.values import amount, count, flag, plain, word
from otel_processor.model import RequestedCall, Role, SpanFacts, Told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

ENTRY_POINTS: Final = "otel_processor_dialects"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Present:
    """The dialects on one span, best first, with what they say together about failures."""

    dialects: tuple[Dialect, ...]
    failure_keys: FailureKeys


@dataclass(frozen=True, slots=True)
class Index:
    """Finds the dialects on a span by its attribute keys and scope; a span of someone else costs one look."""

    markers: Mapping[str, int]
    """Marker → one bit for each dialect that it speaks for."""
    marker_keys: frozenset[str]
    scopes: Mapping[str, int]
    present: Callable[[int], Present]
    """The dialects that these bits stand for."""

    @classmethod
    def of(cls, dialects: tuple[Dialect, ...], others: Iterable[str] = ()) -> Index:
        """Index these dialects, best first; `others` are keys that stand for the lowest bit, which is no dialect's."""

        @lru_cache(maxsize=1024)
        def present(bits: int) -> Present:
            found = tuple(dialect for number, dialect in enumerate(dialects, 1) if bits >> number & 1)
            return Present(
                found,
                FailureKeys(
                    states=tuple(key for dialect in found for key in dialect.state_keys),
                    messages=tuple(key for dialect in found for key in dialect.message_keys),
                ),
            )

        markers = dict.fromkeys(others, 1)
        scopes: dict[str, int] = {}
        for number, dialect in enumerate(dialects, 1):
            for marks, known in ((dialect.markers, markers), (dialect.scopes, scopes)):
                for mark in marks:
                    known[mark] = known.get(mark, 0) | 1 << number
        return cls(markers, frozenset(markers), scopes, present)


def external_dialects() -> tuple[Dialect, ...]:
    """Load the dialects that other packages bring; one that cannot be used is logged and left out."""
    return tuple(dialect for entry in _entries() if (dialect := _load(entry)) is not None)


def _entries() -> list[EntryPoint]:
    try:
        return sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name)
    except Exception:  # noqa: BLE001 - broken metadata of another package
        _log.exception("Entry points of the group %s cannot be listed", ENTRY_POINTS)
        return []


def _load(entry: EntryPoint) -> Dialect | None:
    try:
        loaded = entry.load()
        if not isinstance(loaded, Dialect):
            raise TypeError(f"{entry.value} is a {type(loaded).__name__} and not a Dialect")
        for keys in (loaded.markers, loaded.scopes, loaded.state_keys, loaded.message_keys):
            if isinstance(keys, str) or not all(isinstance(key, str) for key in keys):
                raise TypeError(f"markers, scopes and keys of {entry.value} must be collections of texts")
        return _guarded(loaded)
    except Exception:  # noqa: BLE001 - what another package does when it is imported
        _log.exception("The dialect %s is left out: it cannot be loaded", entry.name)
        return None


def _guarded(dialect: Dialect) -> Dialect:
    """The same dialect, whose mistakes cost its own answer only: the first is logged."""
    told: list[bool] = []

    def tell() -> None:
        if not told:
            told.append(True)
            _log.exception("The dialect %s failed on a span, and may do so on others", dialect.name)

    def asked(question: Callable[[SpanFacts], Role | None], span: SpanFacts) -> Role | None:
        try:
            role = question(span)
            return None if role is None else Role(role)
        except Exception:  # noqa: BLE001 - the code of another package
            tell()
            return None

    def fields(span: SpanFacts, role: Role) -> Fields:
        try:
            return _usable(dialect.fields(span, role))
        except Exception:  # noqa: BLE001 - the code of another package
            tell()
            return {}

    def told_by(span: SpanFacts) -> tuple[Told, ...]:
        try:
            return tuple(told for told in dialect.told(span) if isinstance(told, Told))
        except Exception:  # noqa: BLE001 - the code of another package
            tell()
            return ()

    return replace(
        dialect,
        role=lambda span: asked(dialect.role, span),
        guess=lambda span: asked(dialect.guess, span),
        fields=fields,
        told=told_by,
    )


_COUNTS: Final = (
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens", "reasoning_tokens",
)  # fmt: skip
_WORDS: Final = ("agent", "conversation_id", "tool", "call_id", "model", "provider", "service_tier")


def _text(value: Any) -> str | None:
    return value[:MAX_TEXT_CHARS] if isinstance(value, str) and value else None


def _calls(value: Any) -> tuple[RequestedCall, ...]:
    return tuple(call for call in value or () if isinstance(call, RequestedCall))


_CONVERT: Final[Mapping[str, Callable[[Any], Any]]] = (
    dict.fromkeys(_COUNTS, count)
    | dict.fromkeys(_WORDS, word)
    | dict.fromkeys(("text", "reasoning"), _text)
    | dict.fromkeys(("arguments", "result", "finish_reason"), plain)
    | {"cost_usd": amount, "requested": _calls, "is_error": flag}
)
"""What a dialect may tell, and how it is made into what the layers above work with."""


def _usable(found: Fields) -> Fields:
    """The fields that a dialect may tell, with values that the layers above can work with."""
    unknown = found.keys() - _CONVERT.keys()
    if unknown:
        raise ValueError(f"a dialect cannot tell {', '.join(sorted(unknown))}; it may tell {', '.join(sorted(_CONVERT))}")
    converted = {name: _CONVERT[name](value) for name, value in found.items()}
    # None that was told is kept: it says that what other dialects would read is a placeholder.
    return {name: value for name, value in converted.items() if value is not None or found[name] is None}
