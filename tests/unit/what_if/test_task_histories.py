"""The history of a task, answered from memory as the store answers it."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.model import History
from otel_processor.what_if.task_histories import RUNS_OF_A_HISTORY, TaskHistories, percentile

VALUES = st.lists(st.one_of(st.none(), st.integers(0, 1_000_000)), max_size=60)


@given(VALUES)
def test_the_percentile_is_duckdbs(values: list[int | None]) -> None:
    (expected,) = (
        duckdb.connect()
        .execute("select quantile_cont(v, 0.95) from (select unnest($v::BIGINT[]) as v)", {"v": values})
        .fetchall()[0]
    )
    found = percentile(values)
    assert found == (None if expected is None else pytest.approx(expected))


def rows(*runs: tuple[str, int, int]) -> TaskHistories:
    return TaskHistories(("t", run_id, ended_us, steps, None, None) for run_id, ended_us, steps in runs)


def test_only_runs_before_count_and_not_those_that_are_judged() -> None:
    histories = rows(("c", 30, 3), ("b", 20, 2), ("a", 10, 1))
    assert histories.of("t", 30_000, 2, ()) == History(2, 1.95, None, None)
    assert histories.of("t", 31_000, 3, ()) == History(3, 2.9, None, None)
    assert histories.of("t", 31_000, 3, {"b"}) is None
    assert histories.of("t", 31_000, 2, {"b"}) == History(2, 2.9, None, None)
    assert histories.of("other", 31_000, 0, ()) == History(0, None, None, None)


def test_the_latest_runs_are_the_measure() -> None:
    histories = rows(*((f"{number:04}", 10_000 - number, number) for number in range(RUNS_OF_A_HISTORY + 50)))
    found = histories.of("t", 10**9, 20, ())
    assert found is not None
    assert found.runs == RUNS_OF_A_HISTORY
    assert found.steps == pytest.approx(189.05)
