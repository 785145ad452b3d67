"""Which pattern a field of the policy belongs to, and what a field's value looks like in front of people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from dashboard import theme
from dashboard.language import current, t
from dashboard.wording import inert, short
from otel_processor.model import Pattern
from otel_processor.policy import Policy

GENERAL = "general"
"""Fields that belong to no pattern alone."""

_BEGINNINGS = {
    "hard_loop_": Pattern.HARD_LOOP,
    "repeat_scope": Pattern.HARD_LOOP,
    "soft_loop_": Pattern.SOFT_LOOP,
    "cycle_": Pattern.CYCLE,
    "retry_": Pattern.RETRY_STORM,
    "same_failures": Pattern.RETRY_STORM,
    "transient_tolerance": Pattern.RETRY_STORM,
    "semantic_": Pattern.SEMANTIC_LOOP,
    "no_progress_": Pattern.NO_PROGRESS,
    "progress_rule": Pattern.NO_PROGRESS,
    "min_": Pattern.NO_PROGRESS,
    "uncertainty_": Pattern.UNCERTAINTY,
    "max_": Pattern.LIMIT,
    "timeout_seconds": Pattern.LIMIT,
    "spend_spike_": Pattern.SPEND_SPIKE,
}

NAMED = ("volatile_keys", "effects", "prices", "discounts", "task_types")
"""Fields that hold names which somebody else gave."""

DEFAULTS: Mapping[str, Any] = {item.name: getattr(Policy(), item.name) for item in fields(Policy)}

_LONGEST_VALUE = 300


def group_of(name: str) -> str:
    """Return the pattern that a field belongs to, `GENERAL` if to none alone."""
    return next((str(pattern) for beginning, pattern in _BEGINNINGS.items() if name.startswith(beginning)), GENERAL)


def grouped(names: list[str]) -> dict[str, list[str]]:
    """Return fields by their group, in the order of `Pattern`; those of no pattern come first."""
    found: dict[str, list[str]] = {}
    for group in (GENERAL, *map(str, Pattern)):
        members = [name for name in names if group_of(name) == group]
        if members:
            found[group] = members
    return found


def label_of(group: str) -> str:
    """Return what a group is called in front of people."""
    return t("policy.general") if group == GENERAL else theme.pattern_label(group)


def text_of_value(name: str, value: Any) -> str:
    """Write a value as people read it, in one line; names of others are inert."""
    if value is None:
        return t("policy.off")
    if isinstance(value, bool | str):
        return short(inert(str(value)), _LONGEST_VALUE)
    if isinstance(value, int):
        return current().number(f"{value:,}") if abs(value) < 10**15 else f"{value:.3g}"
    if isinstance(value, float):
        return current().number(f"{value:,g}") if math.isfinite(value) else str(value)
    if name == "patterns":
        return _patterns(value)
    if isinstance(value, Mapping):
        words = [f"{key}: {text_of_value('', each)}" for key, each in sorted(value.items())]
    else:
        words = sorted(map(str, value))
    return short(inert(", ".join(words)), _LONGEST_VALUE) or t("wording.none")


def change_text(name: str, before: object, after: object) -> str:
    """Write a change in one line: `hard_loop_repeats: 3 → 4`."""
    return f"{name}: {text_of_value(name, before)} → {text_of_value(name, after)}"


def _patterns(value: Any) -> str:
    labels = [theme.pattern_label(str(pattern)) for pattern in Pattern if pattern in value]
    if len(labels) == len(Pattern):
        return t("policy.all_patterns")
    return ", ".join(labels) or t("wording.none")
