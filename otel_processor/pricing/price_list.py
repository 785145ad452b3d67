"""The price list of `genai-prices`, as it came with the installed package: nothing is ever fetched.

It takes 0.2 s to load and is loaded with the first model call that needs it. Without the package there is no list.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from otel_processor.pricing.model_names import Candidate
from otel_processor.pricing.rates import Rates, Steps, flat, price, price_per_thousand_requests

_log = logging.getLogger(__name__)

_STANDARD: Final = frozenset({"", "default", "standard", "auto", "on_demand"})

_TOLD_BY_NO_SPAN: Final = ("input_tool_mtok", "output_citation_mtok")
_ANSWER_BY_KIND: Final = ("output_audio_mtok", "output_image_mtok", "output_video_mtok")


@dataclass(frozen=True, slots=True)
class PriceTable:
    """The prices of one model with one provider over time."""

    provider: str
    always: Rates | None
    """Where the price never changed."""
    at_time: Callable[[datetime], Rates | None] | None = None

    def at(self, start_ns: int) -> Rates | None:
        """Return the prices at a call's time (nanoseconds since the epoch)."""
        if self.at_time is None:
            return self.always
        try:
            return self.at_time(datetime.fromtimestamp(start_ns / 1e9, UTC))
        except (ValueError, OverflowError, OSError):
            return None


class PriceList:
    """The models of a list, found by the list's own rules for names."""

    def __init__(self, snapshot: Any) -> None:
        self._snapshot = snapshot

    def find(self, names: Iterable[Candidate], service_tier: str | None) -> PriceTable | None:
        """Return the prices of the first name that is known, or None."""
        for candidate in names:
            try:
                provider, model = self._snapshot.find_provider_model(candidate.name, None, candidate.provider, None)
            except LookupError:
                continue
            return _table(provider, model, (service_tier or "").strip().lower())
        return None


def _table(provider: Any, model: Any, tier: str) -> PriceTable | None:
    if tier in _STANDARD:
        if not isinstance(model.prices, list):
            return PriceTable(provider.id, rates_of(model.prices))
        known: dict[int, Rates | None] = {}

        def standard(when: datetime) -> Rates | None:
            found = model.get_prices(when)
            if id(found) not in known:
                known[id(found)] = rates_of(found)
            return known[id(found)]

        return PriceTable(provider.id, None, standard)
    context = {"processing": tier} if tier == "batch" else {"service_tier": tier}
    if not any(own is model for own in provider.models):
        # The prices of another provider's model say nothing about this one's tiers.
        return None
    variants = [variant for variant in model.price_variants or () if context.items() >= variant.when.items()]

    def of_tier(when: datetime) -> Rates | None:
        if not any(variant.constraint is None or variant.constraint.active(when) for variant in variants):
            return None
        return rates_of(model.get_prices(when, context))

    return PriceTable(provider.id, None, of_tier)


def rates_of(prices: Any) -> Rates | None:
    """Return a model's prices per token; None where they depend on what no span tells."""
    told = {key: value for key, value in vars(prices).items() if value is not None}
    if any(key in told for key in _TOLD_BY_NO_SPAN):
        return None
    full = _steps(told.get("input_mtok"))
    # What a model that speaks or draws answered is not told: its price lies anywhere between those of the kinds.
    output = None if any(key in told for key in _ANSWER_BY_KIND) else _steps(told.get("output_mtok"))
    write = _steps(told.get("cache_write_mtok"))
    return Rates(
        input=full,
        output=output,
        cache_read=_steps(told.get("cache_read_mtok")) or full,
        cache_write=write or full,
        # Who takes more for a cache that lasts longer, takes an unknown amount where the list does not say it.
        cache_write_1h=_steps(told.get("cache_write_1h_mtok")) or (None if write else full),
        reasoning=_steps(told.get("output_reasoning_mtok")) or output,
        request=price_per_thousand_requests(told.get("requests_kcount", 0)),
    )


def _steps(value: Any) -> Steps | None:
    if value is None:
        return None
    tiers = getattr(value, "tiers", None)
    if tiers is None:
        return flat(value)
    above = ((tier.start, price(tier.price)) for tier in sorted(tiers, key=lambda tier: -tier.start))
    return (*above, *flat(value.base))


_loaded: PriceList | None = None
_is_loaded = False
_lock = threading.Lock()


def load_price_list() -> PriceList | None:
    """Return the list of the installed package, loaded once per process; None without the package."""
    global _loaded, _is_loaded
    if _is_loaded:
        return _loaded
    with _lock:
        if not _is_loaded:
            _loaded = _load()
            _is_loaded = True
    return _loaded


def _load() -> PriceList | None:
    try:
        from genai_prices.data import providers
        from genai_prices.data_snapshot import DataSnapshot

        # A snapshot of our own: what the host lets the package download would make costs depend on the process.
        return PriceList(DataSnapshot(providers=providers, from_auto_update=False))
    except ImportError:
        return None
    except Exception:  # noqa: BLE001 - another package's mistake costs the prices and nothing else
        _log.exception("The price list of genai-prices cannot be used; costs that no span tells stay unknown")
        return None
