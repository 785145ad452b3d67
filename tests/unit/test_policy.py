from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from otel_processor.errors import ConfigError
from otel_processor.policy import Policy


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"hard_loop_repeats": 1}, "hard_loop_repeats"),
        ({"hard_loop_write_repeats": 0}, "hard_loop_write_repeats"),
        ({"hard_loop_poll_repeats": -1}, "hard_loop_poll_repeats"),
        ({"no_progress_alert_steps": True}, "no_progress_alert_steps"),
        ({"no_progress_stop_steps": 4.0}, "no_progress_stop_steps"),
        ({"no_progress_alert_steps": 9, "no_progress_stop_steps": 8}, "no_progress_stop_steps"),
        ({"transient_tolerance": -1}, "transient_tolerance"),
        ({"min_changed_chars": -1}, "min_changed_chars"),
        ({"min_new_share": 1.5}, "min_new_share"),
        ({"min_new_share": float("nan")}, "min_new_share"),
        ({"run_idle_timeout_seconds": 0}, "run_idle_timeout_seconds"),
        ({"run_idle_timeout_seconds": float("nan")}, "run_idle_timeout_seconds"),
        ({"run_idle_timeout_seconds": float("inf")}, "run_idle_timeout_seconds"),
        ({"run_idle_timeout_seconds": 10**400}, "run_idle_timeout_seconds"),
        ({"effects": {"search": "destroy"}}, "effects['search']"),
        ({"prices": {"m": {"input": 1}}}, "prices['m']"),
        ({"prices": {"m": 3}}, "prices['m']"),
        ({"prices": {"m": {"input": 1, "output": -1}}}, "prices['m']['output']"),
        ({"prices": {"m": {"input": float("nan"), "output": 1}}}, "prices['m']['input']"),
        ({"prices": {"m": {"input": 1, "output": float("inf")}}}, "prices['m']['output']"),
        ({"prices": {"m": {"input": "1", "output": 1}}}, "prices['m']['input']"),
        ({"prices": {"m": {"input": 1, "output": 1, "thinking": 1}}}, "thinking"),
        ({"discounts": {"openai": 1.5}}, "discounts['openai']"),
        ({"discounts": {"openai": True}}, "discounts['openai']"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(values: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Policy(**values)
    assert field in str(refused.value)


def test_the_defaults_are_those_of_the_documentation() -> None:
    policy = Policy()
    assert (policy.hard_loop_repeats, policy.hard_loop_write_repeats) == (3, 2)
    assert (policy.no_progress_alert_steps, policy.no_progress_stop_steps) == (4, 5)
    assert (policy.min_changed_chars, policy.transient_tolerance) == (50, 5)


def test_a_policy_of_read_only_mappings_has_the_hash_of_its_equal() -> None:
    prices = {"m": {"input": 1.0, "output": 2.0}}
    frozen = MappingProxyType({name: MappingProxyType(kinds) for name, kinds in prices.items()})
    assert Policy(prices=frozen).hash == Policy(prices=prices).hash


def test_equal_policies_have_equal_hashes_whatever_the_order_they_were_written_in() -> None:
    one = Policy(volatile_keys=frozenset({"a", "b", "c"}), effects={"x": "read", "y": "write"})
    other = Policy(volatile_keys=frozenset({"c", "b", "a"}), effects={"y": "write", "x": "read"})
    assert one.hash == other.hash
    assert len(one.hash) == 16


@pytest.mark.parametrize(
    "values",
    [
        {"hard_loop_repeats": 4},
        {"volatile_keys": frozenset({"a"})},
        {"effects": {"a": "read"}},
        {"min_new_share": 0.2},
        {"prices": {"m": {"input": 1, "output": 2}}},
        {"discounts": {"openai": 0.1}},
    ],
)
def test_any_other_value_gives_another_hash(values: dict[str, Any]) -> None:
    assert Policy(**values).hash != Policy().hash
