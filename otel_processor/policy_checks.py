"""Which values a policy can hold; each refusal names the field."""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from otel_processor.errors import ConfigError
from otel_processor.model import Effect, Pattern

PRICED = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
"""The kinds of tokens that a price of one's own can be given for."""

_AT_LEAST_TWO = (
    "hard_loop_repeats hard_loop_write_repeats hard_loop_poll_repeats soft_loop_repeats cycle_rounds cycle_max_period "
    "retry_permanent retry_validation retry_failures same_failures retry_attempts semantic_window semantic_repeats "
    "no_progress_alert_steps no_progress_stop_steps uncertainty_turns spend_spike_runs"
).split()
_WHOLE = dict.fromkeys(_AT_LEAST_TWO, 2) | dict.fromkeys(("transient_tolerance", "min_changed_chars", "nudges_before_stop"), 0)
_LIMITS = ("max_steps", "max_tool_calls", "max_tokens")
_SHARES = ("soft_loop_similarity", "semantic_similarity", "min_new_share")
_OPTIONAL = ("max_cost_usd", "timeout_seconds")
_ABOVE_ZERO = ("run_idle_timeout_seconds", "spend_spike_factor", *_OPTIONAL)
_LONGEST_SECONDS = 1_000_000_000
_LARGEST = 1_000_000_000_000_000
"""What is larger than 64 bits can be neither hashed nor stored with the policy."""
_ONE_OF = {
    "repeat_scope": ("change", "consecutive", "run"),
    "progress_rule": ("novelty", "changed", "declared"),
    "max_steps_counts": ("steps", "tool_calls"),
}


class Range(NamedTuple):
    """Which values a field of a policy can have that is one number or one word."""

    is_whole: bool = False
    least: float | None = None
    is_above_least: bool = False
    """The least value itself is out of range."""
    most: float | None = None
    may_be_none: bool = False
    choices: tuple[str, ...] = ()


def range_of(name: str) -> Range | None:
    """Return which values a field can have; None where it is more than one number or word."""
    if name in _ONE_OF:
        return Range(choices=_ONE_OF[name])
    if name in _WHOLE:
        return Range(is_whole=True, least=_WHOLE[name])
    if name in _LIMITS:
        return Range(is_whole=True, least=1, may_be_none=True)
    if name in _SHARES:
        return Range(least=0, most=1)
    if name in _ABOVE_ZERO:
        longest = _LONGEST_SECONDS if name == "run_idle_timeout_seconds" else None
        return Range(least=0, is_above_least=True, most=longest, may_be_none=name in _OPTIONAL)
    return None


def check(policy: Any) -> None:
    """Raise where a policy holds what detection cannot work by.

    Raises:
        ConfigError: a value is out of range; the message names the field.
    """
    _check_numbers(policy)
    _check_names(policy)
    if policy.no_progress_stop_steps < policy.no_progress_alert_steps:
        raise ConfigError("policy.no_progress_stop_steps must not be below policy.no_progress_alert_steps")
    for model, prices in policy.prices.items():
        _check_prices(model, prices)
    _check_discounts(policy.discounts)
    _check_task_types(policy)


def _check_numbers(policy: Any) -> None:
    for name, least in _WHOLE.items():
        _check_whole(name, getattr(policy, name), least)
    for name in _LIMITS:
        if getattr(policy, name) is not None:
            _check_whole(name, getattr(policy, name), 1)
    for name in _SHARES:
        value = getattr(policy, name)
        if not _is_number(value) or not 0 <= value <= 1:
            raise ConfigError(f"policy.{name} is {value!r}; it must be a share from 0 to 1")
    for name in _ABOVE_ZERO:
        value = getattr(policy, name)
        if (value is not None or name not in _OPTIONAL) and (not _is_number(value) or not value > 0):
            raise ConfigError(f"policy.{name} is {value!r}; it must be a number above 0")
    if policy.run_idle_timeout_seconds > _LONGEST_SECONDS:
        value = policy.run_idle_timeout_seconds
        raise ConfigError(
            f"policy.run_idle_timeout_seconds is {value!r}; it must be at most {_LONGEST_SECONDS:_} (some 30 years)"
        )


def _check_names(policy: Any) -> None:
    for name, choices in _ONE_OF.items():
        if getattr(policy, name) not in choices:
            raise ConfigError(f"policy.{name} is {getattr(policy, name)!r}; use one of {', '.join(choices)}")
    for pattern in policy.patterns:
        if pattern not in list(Pattern):
            raise ConfigError(f"policy.patterns holds {pattern!r}{nearest(pattern, Pattern)}")
    for tool, effect in policy.effects.items():
        if effect not in list(Effect):
            raise ConfigError(f"policy.effects[{tool!r}] is {effect!r}; use one of {', '.join(Effect)}")


def nearest(name: str, known: Any) -> str:
    """Return the end of a message that says which known name was meant."""
    near = get_close_matches(str(name), [str(each) for each in known], n=1)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(sorted(str(each) for each in known))}"


def _check_whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(f"policy.{name} is {value!r}; it must be a whole number of at least {least}")
    if value > _LARGEST:
        raise ConfigError(f"policy.{name} is {value!r}; it must be at most {_LARGEST:_}")


def _check_task_types(policy: Any) -> None:
    known = policy.__dataclass_fields__.keys() - {"task_types", "prices", "discounts"}
    for task_type, changes in policy.task_types.items():
        place = f"policy.task_types[{task_type!r}]"
        if not isinstance(changes, Mapping):
            raise ConfigError(f"{place} is {changes!r}; give fields of the policy and their values")
        for name in changes:
            if name not in known:
                raise ConfigError(f"{place} has {name!r}, which is no field{nearest(name, known)}")
        try:
            policy.for_task_type(task_type)
        except ConfigError as error:
            raise ConfigError(f"{place}: {error}") from error


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


def _is_number(value: object) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST)
