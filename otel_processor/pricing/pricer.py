"""Find what a call cost: the span's own word, else the user's prices, else the price list at the call's time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

from otel_processor.model import Reading
from otel_processor.policy import Policy
from otel_processor.pricing.model_names import candidates, provider_id
from otel_processor.pricing.price_list import PriceList, load_price_list
from otel_processor.pricing.rates import Rates, Tokens, flat

SPAN: Final = "span"
OVERRIDE: Final = "override"
PRICE_LIST: Final = "price_list"

_REMEMBERED = 4_096

_log = logging.getLogger(__name__)

T = TypeVar("T")

Times = Callable[[int], Rates | None]
"""A call's time → the prices then."""


class Cost(NamedTuple):
    """What a call cost, and who says so."""

    usd: float
    source: str
    """`span`, `override` or `price_list`; `calls.cost_source`."""


class Pricer:
    """Prices calls under one policy; remembers what it found for each model, the latest few thousand of them."""

    def __init__(self, policy: Policy, load: Callable[[], PriceList | None] = load_price_list) -> None:
        self._policy = policy
        self._load = load
        self._overrides = {name.lower(): _rates(prices) for name, prices in policy.prices.items()}
        self._discounts = {name.lower(): Fraction(str(share)) for name, share in policy.discounts.items()}
        self._find = lru_cache(maxsize=_REMEMBERED)(self._look_up)
        self._failed = False

    def get_ready(self) -> None:
        """Load what the first call needs, ahead of it."""
        self._load()

    def price(self, reading: Reading, start_ns: int) -> Cost | None:
        """Return what a call cost, or None where nobody knows it. Never 0 for what is not known, and never raises."""
        if reading.cost_usd is not None:
            return Cost(reading.cost_usd, SPAN)
        if reading.model is None or _is_undercounted(reading) or (tokens := Tokens.of(reading)) is None:
            return None
        try:
            source, at = self._find(reading.model, reading.provider, reading.service_tier)
            rates = None if at is None else at(start_ns)
            usd = None if rates is None else rates.cost(tokens)
        except Exception:  # noqa: BLE001 - a strange entry of the list costs a price and no row
            if not self._failed:
                self._failed = True
                _log.exception("The price of %.200r could not be worked out; it counts as unknown", reading.model)
            return None
        return None if usd is None else Cost(usd, source)

    def dollars(self, reading: Reading, start_ns: int) -> float | None:
        """Return what a call cost in US dollars, or None where nobody knows it."""
        cost = self.price(reading, start_ns)
        return None if cost is None else cost.usd

    def _look_up(self, model: str, provider: str | None, tier: str | None) -> tuple[str, Times | None]:
        override = _by_name(self._overrides, model)
        if override is not None:
            return OVERRIDE, lambda _: override
        names = candidates(model, provider)
        known = self._load() if names else None
        table = None if known is None else known.find(names, tier)
        if table is None:
            return PRICE_LIST, None
        share = 1 - self._discount(model, provider, table.provider)
        if table.at_time is None:
            always = None if table.always is None else table.always.times(share)
            return PRICE_LIST, lambda _: always
        if share == 1:
            return PRICE_LIST, table.at
        return PRICE_LIST, lambda start_ns: None if (rates := table.at(start_ns)) is None else rates.times(share)

    def _discount(self, model: str, provider: str | None, owner: str) -> Fraction:
        """Return the discount of a model, else of its provider, under the span's name or the list's."""
        if not self._discounts:
            return Fraction(0)
        for name in (model, provider, provider_id(provider), owner):
            if name is not None and (found := _by_name(self._discounts, name)) is not None:
                return found
        return Fraction(0)


def _is_undercounted(reading: Reading) -> bool:
    """Whether the writer is known to leave out tokens that are paid for: any price of what is left would be too low.

    Gemini CLI tells thoughts in its log records only, and AgentOps none of Anthropic's cached tokens (docs/tokens.md).
    """
    if reading.dialect == "gemini_cli":
        return reading.reasoning_tokens is None
    return reading.dialect == "agentops" and "claude" in (reading.model or "").lower()


def _rates(prices: Mapping[str, float]) -> Rates:
    """Return the user's prices; cached tokens cost what other input does, unless they say otherwise."""
    full = flat(prices["input"])
    output = flat(prices["output"])
    write = flat(prices["cache_write"]) if "cache_write" in prices else full
    return Rates(
        input=full,
        output=output,
        cache_read=flat(prices["cache_read"]) if "cache_read" in prices else full,
        cache_write=write,
        cache_write_1h=flat(prices["cache_write_1h"]) if "cache_write_1h" in prices else write,
        reasoning=output,
    )


def _by_name(entries: Mapping[str, T], name: str) -> T | None:
    """Return the entry of this name, else the one with the longest beginning of it before a `*`."""
    word = name.lower()
    if word in entries:
        return entries[word]
    fitting = [entry for entry in entries if entry.endswith("*") and word.startswith(entry[:-1])]
    return entries[max(fitting, key=len)] if fitting else None
