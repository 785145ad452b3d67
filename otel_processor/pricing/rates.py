"""Token prices and the arithmetic over them: whole numbers, so that sums are exact whatever the process set for decimals."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, NamedTuple, Self

from otel_processor.model import Reading

_PER_MILLION = 10**12
"""A price is kept in millionths of a millionth of a dollar per million tokens: no list is that fine."""

_DOLLAR = _PER_MILLION * 10**6

Steps = tuple[tuple[int, int], ...]
"""(input tokens above which the price holds, price), the highest first. All tokens of a call have one price."""


class Tokens(NamedTuple):
    """The counts of one model call: input includes what was cached, output includes reasoning."""

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    """The part of `cache_write` that is kept for an hour."""
    reasoning: int = 0

    @classmethod
    def of(cls, reading: Reading) -> Self | None:
        """Return the counts that a span tells; None where one is missing or they contradict each other."""
        if reading.input_tokens is None or reading.output_tokens is None:
            return None
        tokens = cls(
            reading.input_tokens,
            reading.output_tokens,
            reading.cache_read_tokens or 0,
            reading.cache_write_tokens or 0,
            reading.cache_write_1h_tokens or 0,
            reading.reasoning_tokens or 0,
        )
        return tokens if tokens.agree else None

    @property
    def agree(self) -> bool:
        """Whether no part is larger than its whole."""
        return (
            min(self) >= 0
            and self.cache_read + self.cache_write <= self.input
            and self.cache_write_1h <= self.cache_write
            and self.reasoning <= self.output
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What each kind of token costs. None: there is no price, and a call that has such tokens has none either."""

    input: Steps | None = None
    output: Steps | None = None
    cache_read: Steps | None = None
    cache_write: Steps | None = None
    cache_write_1h: Steps | None = None
    reasoning: Steps | None = None
    request: int = 0
    """What a call costs beside its tokens."""

    def cost(self, tokens: Tokens) -> float | None:
        """Return what the call cost in USD, or None where a part of it has no price."""
        counts = (
            (tokens.input - tokens.cache_read - tokens.cache_write, self.input),
            (tokens.output - tokens.reasoning, self.output),
            (tokens.cache_read, self.cache_read),
            (tokens.cache_write - tokens.cache_write_1h, self.cache_write),
            (tokens.cache_write_1h, self.cache_write_1h),
            (tokens.reasoning, self.reasoning),
        )
        total = self.request
        for count, steps in counts:
            if not count:
                continue
            if steps is None:
                return None
            for above, price in steps:
                if tokens.input > above:
                    total += count * price
                    break
        return total / _DOLLAR

    def times(self, share: Fraction) -> Rates:
        """Return these rates multiplied, for a discount."""
        if share == 1:
            return self
        changed: dict[str, Any] = {"request": round(self.request * share)}
        for item in fields(self):
            steps = getattr(self, item.name)
            if isinstance(steps, tuple):
                changed[item.name] = tuple((above, round(price * share)) for above, price in steps)
        return Rates(**changed)


def flat(usd_per_million: Any) -> Steps:
    """Return a price that is the same for calls of every size."""
    return ((-1, price(usd_per_million)),)


def price(usd_per_million: Any) -> int:
    """Return a price in the unit of `Steps`; what a float shows is what is meant."""
    return round(Fraction(str(usd_per_million)) * _PER_MILLION)


def price_per_thousand_requests(usd: Any) -> int:
    """Return what one request costs, in the unit of a sum."""
    return round(Fraction(str(usd)) * _DOLLAR / 1000)
