"""What a dialect is: one convention for naming span attributes, as data and two pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from otel_processor.dialects.values import amount, count, first_content, word

if TYPE_CHECKING:
    from otel_processor.model import Attributes, Role, SpanFacts, Told

Keys = Mapping[str, tuple[str, ...]]
"""A field of `Reading` → the attributes that may hold it, best first."""

Fields = dict[str, Any]
"""Fields of `Reading` that were found. `arguments` and `result` are as written: decoding them is the reader's work.

`is_error` is given only by a writer that tells a failure in a shape of its own; every other shape is found by the reader.
"""


def _tells_nothing(_span: SpanFacts) -> tuple[Told, ...]:
    return ()


def _no_opinion(_span: SpanFacts) -> Role | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One way of writing agent spans."""

    name: str
    markers: frozenset[str]
    """Attribute keys whose presence means that this writer was here."""
    role: Callable[[SpanFacts], Role | None]
    """What an explicit kind attribute says; None when there is none or it says nothing that we know."""
    fields: Callable[[SpanFacts, Role], Fields]
    """What the span says about itself, given its role; only what was found. None for a field says that what the other
    dialects would read there is a placeholder."""
    guess: Callable[[SpanFacts], Role | None] = _no_opinion
    """What the span looks like; asked only when no dialect on the span has an explicit kind."""
    scopes: frozenset[str] = frozenset()
    """Names of instrumentation scopes that mean the same as a marker."""
    told: Callable[[SpanFacts], tuple[Told, ...]] = _tells_nothing
    """What the span says about tool calls that other spans stand for."""
    state_keys: tuple[str, ...] = ()
    """Attributes in which the writer says whether the operation went well: a word such as `error`, or true for a failure."""
    message_keys: tuple[str, ...] = ()
    """Attributes in which the writer says why it failed."""


def content(attributes: Attributes, *, arguments: tuple[str, ...], result: tuple[str, ...]) -> Fields:
    """The arguments and the result of a tool as written, each from the first of its attributes that holds something."""
    told = {"arguments": first_content(attributes, arguments), "result": first_content(attributes, result)}
    return {name: value for name, value in told.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Table:
    """The fields of one role that are plain look-ups."""

    lookups: tuple[tuple[str, tuple[str, ...], Callable[[Any], Any]], ...]

    @classmethod
    def of(cls, *, words: Keys | None = None, counts: Keys | None = None, amounts: Keys | None = None) -> Table:
        """A table of names and ids, of token counts, and of amounts of money."""
        kinds: tuple[tuple[Keys | None, Callable[[Any], Any]], ...] = ((words, word), (counts, count), (amounts, amount))
        return cls(tuple((name, keys, convert) for table, convert in kinds for name, keys in (table or {}).items()))

    def read(self, attributes: Attributes) -> Fields:
        """Every field of the table that has a usable value."""
        found: Fields = {}
        get = attributes.get
        for name, keys, convert in self.lookups:
            for key in keys:
                value = get(key)
                if value is not None and (usable := convert(value)) is not None:
                    found[name] = usable
                    break
        return found
