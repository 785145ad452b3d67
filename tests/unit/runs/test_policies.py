"""Each run is judged by the policy for its type of task, whenever that becomes known."""

from __future__ import annotations

import random
from typing import Any

import pytest

from otel_processor.model import Pattern, SpanRecord
from otel_processor.policy import Policy
from tests.unit.factory import agent_span, make_span, tool_span
from tests.unit.runs.small_store import SmallStore

PATIENT = Policy(
    task_types={
        "research": {"hard_loop_repeats": 5, "patterns": frozenset({Pattern.HARD_LOOP})},
        "scrape": {"volatile_keys": frozenset({"q"}), "effects": {"search": "poll"}},
    }
)
CALLS = [tool_span(str(number), "search:a=x", parent="root", at=number) for number in range(1, 5)]


def root(task_type: str | None, **fields: Any) -> SpanRecord:
    return agent_span("root", seconds=20, more={"loop.task.type": task_type} if task_type else {}, **fields)


def alerts(*batches: list[SpanRecord], policy: Policy = PATIENT) -> tuple[set[str], SmallStore]:
    store = SmallStore(policy)
    told = set()
    for batch in batches:
        told |= {str(alert.verdict.pattern) for alert in store.record(batch).alerts}
    return told, store


def test_a_type_of_task_has_thresholds_of_its_own() -> None:
    plain, store = alerts([*CALLS, root(None)])
    assert plain == {"hard_loop"}
    assert (store.runs["t1"].policy_hash, store.runs["t1"].flagged_reason is not None) == (PATIENT.hash, True)
    patient, store = alerts([*CALLS, root("research")])
    assert patient == set()
    assert (store.runs["t1"].policy_hash, store.runs["t1"].flagged_reason) == (PATIENT.for_task_type("research").hash, None)
    assert PATIENT.for_task_type("research").hash != PATIENT.hash


def test_a_type_without_thresholds_of_its_own_goes_by_the_policy_itself() -> None:
    assert alerts([*CALLS, root("poetry")])[1].runs["t1"].policy_hash == PATIENT.hash


def test_what_calls_are_is_told_by_the_policy_of_their_run() -> None:
    _, store = alerts([*CALLS, root("scrape")])
    _, other = alerts([*CALLS, root(None)])
    assert {recorded.call.effect for recorded in store.calls.values()} == {"poll"}
    assert store.calls["t1", "1"].call.signature != other.calls["t1", "1"].call.signature


@pytest.mark.parametrize("task_type", ["research", "scrape", None])
@pytest.mark.parametrize("number", range(5))
def test_a_type_that_becomes_known_late_counts_from_the_first_call(task_type: str | None, number: int) -> None:
    spans = [*CALLS, make_span("plain", {"loop.task": "t"}, parent="root", at=2), root(task_type)]
    _, whole = alerts(spans)
    random.Random(number).shuffle(spans)
    _, pieces = alerts(*([span] for span in spans))
    assert pieces.outcomes() == whole.outcomes()
    assert pieces.runs == whole.runs


def test_two_runs_of_one_trace_go_by_their_own_types() -> None:
    inner = [
        tool_span(
            f"in {number}", "search:b=x", parent="part", at=number, more={"loop.run.id": "mine", "loop.task.type": "research"}
        )
        for number in range(1, 5)
    ]
    _, store = alerts([*CALLS, *inner, root(None)])
    assert {run.run_id: run.flagged_reason is not None for run in store.runs.values()} == {"t1": True, "mine": False}
