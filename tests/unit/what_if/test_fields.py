"""What a form offers of the policy, and a policy from what it sends."""

from __future__ import annotations

import contextlib
import json
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.errors import ConfigError
from otel_processor.policy import Policy
from otel_processor.what_if.fields import PolicyField, offered_fields, policy_with

OFFERED = {field.name: field for field in offered_fields()}


def test_every_threshold_is_offered() -> None:
    left = {field.name for field in fields(Policy)} - OFFERED.keys()
    assert left == {"run_idle_timeout_seconds", "nudges_before_stop", "effects", "prices", "discounts", "task_types"}


@pytest.mark.parametrize("field", OFFERED.values(), ids=str)
def test_each_says_what_it_means_and_begins_at_its_default(field: PolicyField) -> None:
    assert field.sentence
    assert "\n" not in field.sentence
    assert policy_with({field.name: field.default}) == Policy()


@pytest.mark.parametrize(
    "field", [field for field in OFFERED.values() if field.kind in {"whole", "number"}], ids=lambda f: f.name
)
def test_its_range_is_what_the_policy_takes(field: PolicyField) -> None:
    assert field.least is not None
    step = 1 if field.kind == "whole" else 0.001
    inside = field.least + (step if field.is_above_least else 0)
    # The two thresholds of one pattern have an order, whatever each of them may be.
    base = Policy(no_progress_alert_steps=2, no_progress_stop_steps=10**9 if field.name == "no_progress_alert_steps" else 5)
    assert getattr(policy_with({field.name: inside}, base), field.name) == inside
    with pytest.raises(ConfigError, match=field.name):
        policy_with({field.name: inside - step}, base)
    if field.most is not None:
        assert getattr(policy_with({field.name: field.most}, base), field.name) == field.most
        with pytest.raises(ConfigError, match=field.name):
            policy_with({field.name: field.most + step}, base)
    if field.may_be_none:
        assert getattr(policy_with({field.name: ""}, base), field.name) is None
    else:
        with pytest.raises(ConfigError, match=field.name):
            policy_with({field.name: None}, base)


@pytest.mark.parametrize(
    "field", [field for field in OFFERED.values() if field.kind in {"whole", "number"}], ids=lambda f: f.name
)
def test_what_no_file_can_hold_is_refused(field: PolicyField) -> None:
    """A policy is hashed and stored with every run."""
    with pytest.raises(ConfigError, match=field.name):
        policy_with({field.name: 10**30})


@pytest.mark.parametrize("field", [field for field in OFFERED.values() if field.choices], ids=lambda f: f.name)
def test_its_choices_are_what_the_policy_takes(field: PolicyField) -> None:
    for choice in field.choices:
        policy_with({field.name: choice if field.kind == "choice" else [choice]})
    with pytest.raises(ConfigError, match=field.name):
        policy_with({field.name: "nothing" if field.kind == "choice" else ["nothing"]})


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"hard_loop_repeats": "4"}, {"hard_loop_repeats": 4}),
        ({"soft_loop_similarity": "0.75"}, {"soft_loop_similarity": 0.75}),
        ({"max_steps": " "}, {"max_steps": None}),
        ({"max_cost_usd": "1.5"}, {"max_cost_usd": 1.5}),
        ({"patterns": "hard_loop,cycle"}, {"patterns": frozenset({"hard_loop", "cycle"})}),
        ({"patterns": []}, {"patterns": frozenset()}),
        ({"volatile_keys": ["session"]}, {"volatile_keys": frozenset({"session"})}),
    ],
)
def test_values_of_an_address_are_read(given: dict[str, Any], read: dict[str, Any]) -> None:
    policy = policy_with(given)
    assert {name: getattr(policy, name) for name in read} == read


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"hard_lop_repeats": 3}, "policy.hard_lop_repeats is no field; did you mean hard_loop_repeats"),
        ({"hard_loop_repeats": "3\nx = 1"}, "policy.hard_loop_repeats"),
        ({"hard_loop_repeats": True}, "policy.hard_loop_repeats"),
        ({"soft_loop_similarity": "nan"}, "policy.soft_loop_similarity"),
        ({"patterns": 5}, "policy.patterns is 5"),
        ({"no_progress_alert_steps": 9}, "policy.no_progress_stop_steps must not be below"),
        ({"effects": 5}, "effects"),
        ({"cycle_max_period": 10**9}, "policy.cycle_max_period is 1000000000; here it must be at most 50"),
    ],
)
def test_what_it_cannot_be_names_the_field(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        policy_with(values)
    assert said in str(caught.value)


@given(st.dictionaries(st.sampled_from([*OFFERED, "effects", "task_types", "x"]), st.one_of(st.text(), st.integers(), st.none())))
def test_whatever_an_address_holds_is_a_policy_or_an_error(values: dict[str, Any]) -> None:
    with contextlib.suppress(ConfigError):
        assert isinstance(policy_with(values), Policy)


def test_a_stored_policy_comes_back() -> None:
    policy = Policy(
        hard_loop_repeats=7,
        volatile_keys=frozenset({"a", "b"}),
        effects={"scroll": "poll"},
        prices={"m": {"input": 1.0, "output": 2.0}},
        task_types={"research": {"patterns": frozenset({"cycle"}), "max_steps": 9}},
    )
    assert policy_with(json.loads(policy.as_json)) == policy
    assert policy_with({"max_steps": 3}, policy).hard_loop_repeats == 7
