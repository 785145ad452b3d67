"""Every threshold of detection, with its unit and its reason."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import orjson

from otel_processor.errors import ConfigError
from otel_processor.model import Effect

PRICED = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
"""The kinds of tokens that a price of one's own can be given for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What counts as going in circles.

    Raises:
        ConfigError: a value is out of range; the message names the field.
    """

    hard_loop_repeats: int = 3
    """Equal calls with nothing changed between them. Two can be an honest second look; three are not."""

    hard_loop_write_repeats: int = 2
    """Equal calls of a tool that writes: repeating a read can be useful, repeating a write can do harm."""

    hard_loop_poll_repeats: int = 6
    """Equal calls of a tool that asks for a status: a job may well answer `running` a few times."""

    no_progress_alert_steps: int = 4
    """Consecutive flat steps before somebody is told."""

    no_progress_stop_steps: int = 5
    """Consecutive flat steps before the advice is to stop."""

    min_changed_chars: int = 50
    """Characters by which a repeated call's result must differ from its last one to count as moved, after masking."""

    min_new_share: float = 0.1
    """Share of a result's distinct words that the run has not seen before, from which the result counts as new."""

    transient_tolerance: int = 5
    """Transient failures (429, 503, timeouts) of one call that are neither a repeat nor flat."""

    run_idle_timeout_seconds: float = 1_800.0
    """Silence after which the next call of a conversation belongs to another run."""

    volatile_keys: frozenset[str] = frozenset()
    """Argument names to leave out of signatures, beyond those of the definition."""

    effects: Mapping[str, str] = field(default_factory=dict)
    """Tool name → `read`, `write`, `poll` or `unknown`, where the name says it wrong."""

    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Model name, exact or with a trailing `*` → USD per million tokens: `input`, `output` and, where they differ from
    `input`, `cache_read`, `cache_write`, `cache_write_1h`. Goes before the price list, not before what a span tells."""

    discounts: Mapping[str, float] = field(default_factory=dict)
    """Provider or model, exact or with a trailing `*` → share from 0 to 1 that is taken off the price list's price."""

    def __post_init__(self) -> None:
        for name in (
            "hard_loop_repeats",
            "hard_loop_write_repeats",
            "hard_loop_poll_repeats",
            "no_progress_alert_steps",
            "no_progress_stop_steps",
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 2:
                raise ConfigError(f"policy.{name} is {value!r}; it must be a whole number of at least 2")
        if self.no_progress_stop_steps < self.no_progress_alert_steps:
            raise ConfigError("policy.no_progress_stop_steps must not be below policy.no_progress_alert_steps")
        if self.transient_tolerance < 0 or self.min_changed_chars < 0 or not 0 <= self.min_new_share <= 1:
            raise ConfigError(
                "policy: transient_tolerance and min_changed_chars must not be negative, min_new_share lies from 0 to 1"
            )
        if not self.run_idle_timeout_seconds > 0:
            raise ConfigError("policy.run_idle_timeout_seconds must be above 0")
        for tool, effect in self.effects.items():
            if effect not in list(Effect):
                raise ConfigError(f"policy.effects[{tool!r}] is {effect!r}; use one of {', '.join(Effect)}")
        for model, prices in self.prices.items():
            _check_prices(model, prices)
        _check_discounts(self.discounts)

    @property
    def hash(self) -> str:
        """Sixteen hex digits that are equal for equal policies; `runs.policy_hash`."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return hashlib.sha256(orjson.dumps(values, default=_as_json, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def _check_prices(model: str, prices: Mapping[str, float]) -> None:
    """Raise where a model's prices are not what the price of a call can be worked out from."""
    place = f"policy.prices[{model!r}]"
    if not isinstance(model, str) or not isinstance(prices, Mapping) or not {"input", "output"} <= prices.keys():
        raise ConfigError(f"{place} is {prices!r}; give at least input and output, in USD per million tokens")
    for kind, value in prices.items():
        if kind not in PRICED:
            raise ConfigError(f"{place} has {kind!r}; use {', '.join(PRICED)}")
        if not _is_number(value) or not 0 <= value < math.inf:
            raise ConfigError(f"{place}[{kind!r}] is {value!r}; it must be a number of USD per million tokens, not below 0")


def _check_discounts(discounts: Mapping[str, float]) -> None:
    for name, share in discounts.items():
        if not isinstance(name, str) or not _is_number(share) or not 0 <= share <= 1:
            raise ConfigError(f"policy.discounts[{name!r}] is {share!r}; it must be a share from 0 to 1")


def _as_json(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else sorted(value)  # type: ignore[call-overload]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
