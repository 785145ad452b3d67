"""The parts of the page of thresholds: drafts in an address, policies as files, stored policies, what-ifs on their way."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard import language
from dashboard.charts import policy as charts
from dashboard.components.policy import groups, stored
from dashboard.components.policy.draft import DEFAULTS, IN_FORCE, OFFERED, STARTS, Draft, checked, start_of, text_of, value_of
from dashboard.components.policy.toml_text import not_said, toml_of
from dashboard.components.policy.trial import LEFT_AFTER_SECONDS, Question, Trial
from dashboard.filters import Filters
from dashboard.questions import policy as questions
from otel_processor.model import Pattern
from otel_processor.policy import Policy
from otel_processor.policy_file import load_policy
from otel_processor.what_if.choosing import Choice
from otel_processor.what_if.fields import policy_with
from otel_processor.what_if.results import Outcome

if TYPE_CHECKING:
    from pathlib import Path

NAMES = st.text(max_size=20)
LONG_AGO, LATELY = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC)


@given(
    st.sampled_from([*STARTS, None, "x"]),
    st.lists(st.text(max_size=60) | st.builds("{}:{}".format, st.sampled_from([*OFFERED]), NAMES)),
)
def test_whatever_an_address_says_is_a_policy_or_told(start: str | None, given_: list[str]) -> None:
    draft = Draft.of_address(start, given_)
    tried = checked(draft, Policy())
    assert (tried.candidate is None) == bool(tried.problems)
    assert Draft.of_address(draft.start, draft.to_address()) == replace(draft, refused=())


VALUES = {
    "hard_loop_repeats": st.integers(2, 10**9),
    "soft_loop_similarity": st.floats(0, 1),
    "max_cost_usd": st.none() | st.floats(0.001, 1e12),
    "repeat_scope": st.sampled_from(["change", "consecutive", "run"]),
    "patterns": st.frozensets(st.sampled_from(list(map(str, Pattern)))),
    "volatile_keys": st.frozensets(st.text(min_size=1, max_size=20), max_size=5),
}


@given(st.fixed_dictionaries({}, optional=VALUES))
def test_a_value_stands_in_the_address_and_comes_back(values: dict[str, Any]) -> None:
    for name, value in values.items():
        read = value_of(OFFERED[name], text_of(value))
        assert (frozenset(read) if isinstance(value, frozenset) else read) == value
    draft = Draft.of_address(None, Draft(changes=values).to_address())
    assert checked(draft, Policy()).candidate == policy_with(values)


def test_all_wrong_values_are_told_at_once_each_beside_its_field() -> None:
    tried = checked(Draft.of_address(None, ["max_steps:0", "cycle_rounds:1", "no_progress_alert_steps:8"]), Policy())
    assert set(tried.problems) == {"max_steps", "cycle_rounds", "no_progress_stop_steps"}
    assert checked(Draft(changes={"no_progress_alert_steps": 8, "no_progress_stop_steps": 9}), Policy()).problems == {}


def test_a_preset_keeps_what_is_said_of_tools_and_prices() -> None:
    kept: dict[str, Any] = {
        "effects": {"look": "poll"},
        "volatile_keys": frozenset({"session"}),
        "prices": {"m": {"input": 1.0, "output": 2.0}},
    }
    in_force = Policy(**kept, hard_loop_repeats=9, task_types={"a": {"max_steps": 3}})
    assert start_of(IN_FORCE, in_force) is in_force
    assert start_of(DEFAULTS, in_force) == Policy(**kept)
    assert start_of("bounded_calls", in_force) == Policy.preset("bounded_calls", **kept)


KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PRICES = st.fixed_dictionaries({"input": st.floats(0, 1e6), "output": st.floats(0, 1e6)})


@given(
    st.fixed_dictionaries(
        {},
        optional={
            **VALUES,
            "volatile_keys": st.frozensets(KEYS, max_size=5),
            "effects": st.dictionaries(KEYS, st.sampled_from(["read", "write", "poll", "unknown"]), max_size=4),
            "prices": st.dictionaries(KEYS, PRICES, max_size=3),
            "discounts": st.dictionaries(KEYS, st.floats(0, 1), max_size=3),
            "task_types": st.dictionaries(
                KEYS,
                st.fixed_dictionaries({}, optional={"max_steps": st.integers(1, 99), "volatile_keys": st.frozensets(KEYS)}),
                max_size=3,
            ),
        },
    )
)
def test_a_file_makes_the_same_policy(tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any]) -> None:
    policy = Policy(**values)
    text = toml_of(policy)
    assert not {"\x1b", "\u202e", "\u200b"} & set(text)
    file = tmp_path_factory.getbasetemp() / "policy.toml"
    file.write_text(text, encoding="utf-8", newline="")
    assert load_policy(file) == policy


def test_a_file_says_only_what_differs_and_what_it_cannot_say_is_known() -> None:
    assert toml_of(Policy()) == ""
    assert toml_of(Policy(max_steps=9, soft_loop_similarity=0.5)) == "soft_loop_similarity = 0.5\nmax_steps = 9\n"
    policy = Policy(max_steps=9, task_types={"long": {"max_steps": None, "max_tokens": 5}})
    assert toml_of(policy) == "max_steps = 9\ntask_types = { long = { max_tokens = 5 } }\n"
    assert not_said(policy) == [("long", "max_steps")]


def rows(*policies: tuple[Policy | str | None, int, datetime | None]) -> pd.DataFrame:
    made = [
        {
            "policy_hash": policy.hash if isinstance(policy, Policy) else f"h{number}",
            "runs": runs,
            "last_used_at": last,
            "first_used_at": None if policy is None else LONG_AGO,
            "fields": policy.as_json if isinstance(policy, Policy) else policy,
        }
        for number, (policy, runs, last) in enumerate(policies)
    ]
    return pd.DataFrame(made)


def test_runs_of_a_task_type_count_with_the_policy_that_has_values_for_it() -> None:
    policy = Policy(hard_loop_repeats=4, task_types={"long": {"max_steps": 50}, "odd": {"max_steps": 9}})
    part, other = policy.for_task_type("long"), Policy(max_steps=7)
    found = stored.read(rows((part, 5, LATELY), (other, 1, LONG_AGO), (policy, 0, None)))
    assert [(each.policy_hash, each.runs, each.runs_by_type) for each in found] == [
        (policy.hash, 5, {"long": 5}),
        (other.hash, 1, {}),
    ]
    assert found[0].policy == policy
    assert found[0].last_used_at == LATELY


@pytest.mark.parametrize(
    "fields", ["{", "[1]", '{"hard_loop_repeats": 0}', '{"field_of_tomorrow": 1}', '{"effects": 5}', "[" * 9_999]
)
def test_a_stored_policy_that_nobody_understands_is_no_policy(fields: str) -> None:
    (found,) = stored.read(rows((fields, 3, LATELY)))
    assert (found.policy, found.is_stored, found.runs) == (None, True, 3)


def test_a_policy_that_is_not_stored_and_one_that_judged_none_of_the_runs() -> None:
    (found,) = stored.read(rows((None, 2, None), (Policy(), 0, None)))
    assert (found.policy, found.is_stored, found.runs, found.last_used_at, found.first_used_at) == (None, False, 2, None, None)


def test_every_threshold_has_a_group_and_the_meaning_that_its_docstring_says() -> None:
    grouped = groups.grouped(list(groups.DEFAULTS))
    assert set(grouped) == {groups.GENERAL, *map(str, Pattern)}
    assert [name for members in grouped.values() for name in members if name not in groups.DEFAULTS] == []
    texts = language.catalogue("en").texts
    said = {name: item.sentence for name, item in OFFERED.items()}
    assert {name: texts[f"policy.means.{name}"] for name in said} == said
    assert [name for name in groups.DEFAULTS if name not in groups.NAMED and f"policy.means.{name}" not in texts] == []


@pytest.mark.parametrize(
    ("filters", "choice", "obeyed"),
    [
        (Filters(), Choice(runs=100), True),
        (Filters(tasks=("a",), agents=("b",)), Choice(runs=100, task="a", agent="b"), True),
        (Filters(tasks=("a", "b")), Choice(runs=100), False),
        (Filters(agents=("",)), Choice(runs=100), False),
        (Filters(period="24h", tasks=("a",)), Choice(runs=100, task="a"), False),
        (Filters(models=("m",)), Choice(runs=100), False),
    ],
)
def test_of_the_filters_one_task_and_one_agent_are_obeyed(filters: Filters, choice: Choice, obeyed: bool) -> None:
    found = questions.choice_of(filters, 100)
    assert replace(found, spans=choice.spans) == choice
    assert questions.is_all_of(filters) is obeyed


def question() -> Question:
    return Question(Policy(), Policy(), Choice())


def nothing_judged() -> Outcome:
    counts = dict.fromkeys(
        ("runs", "spans", "flagged_before", "flagged_after", "newly", "no_longer", "stops_before", "stops_after"), 0
    )
    return Outcome(**counts, patterns=(), outcomes=(), not_listed=0, left_out={}, took_seconds=0.0)


def test_a_what_if_that_nobody_looks_at_any_more_stops() -> None:
    now = [0.0]
    seen: list[bool] = []

    def judge(*_: Any, on_progress: Any, cancel: threading.Event) -> Outcome:
        for seconds in (LEFT_AFTER_SECONDS, LEFT_AFTER_SECONDS + 1):
            now[0] = seconds
            on_progress(1, 2)
            seen.append(cancel.is_set())
        return nothing_judged()

    trial = Trial(question(), judge=judge, clock=lambda: now[0])
    assert trial.begin(threading.BoundedSemaphore(1))
    assert trial.wait(60)
    assert seen == [False, True]
    assert trial.look() == (1, 2, LEFT_AFTER_SECONDS + 1)


def test_a_database_that_is_not_there_is_told_and_the_place_is_free_again(tmp_path: Path) -> None:
    room = threading.BoundedSemaphore(1)
    trial = Trial(question(), judge=partial(questions.judged, path=str(tmp_path / "none.duckdb")))
    assert trial.begin(room)
    assert trial.wait(60)
    assert trial.outcome is None
    assert "no database" in trial.problem
    assert room.acquire(blocking=False)
    assert not Trial(question()).begin(room)


def test_a_bug_is_a_sentence() -> None:
    def judge(*_: Any, **__: Any) -> Outcome:
        raise ZeroDivisionError("by \x1b zero")

    trial = Trial(question(), judge=judge)
    assert trial.begin(threading.BoundedSemaphore(1))
    assert trial.wait(60)
    assert (trial.outcome, trial.problem, trial.is_over) == (None, "by \u241b zero", True)


def test_the_chart_has_two_bars_for_each_pattern_that_flags_anything() -> None:
    frame = pd.DataFrame([("hard_loop", 3, 5), ("cycle", 0, 0), ("limit", 0, 2)], columns=["pattern", "before", "after"])
    figure = charts.flagged(frame)
    before, _, after, _ = figure.data
    assert (list(before.x), list(after.x)) == ([3, 0], [5, 2])
    assert list(figure.layout.yaxis.ticktext) == ["Repeated call", "Limit reached"]
    assert figure.layout.barmode == "group"
    assert before.marker.color[0] != after.marker.color[0]
