"""Labelled runs of many kinds, written without knowledge of the detectors: what is stuck is told, what works is left alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "detection"))


@pytest.fixture(scope="module")
def judged() -> tuple[list[Any], dict[str, int | None]]:
    from labelled_runs import MADE_UP, load  # type: ignore[import-not-found]
    from run import judge  # type: ignore[import-not-found]

    from otel_processor.policy import Policy
    from otel_processor.privacy.settings import Privacy

    runs = list(load([MADE_UP]))
    fired, _, _ = judge(runs, Policy(), Privacy())
    return runs, fired


def test_there_are_runs_of_both_kinds(judged: tuple[list[Any], dict[str, int | None]]) -> None:
    assert [sum(run.loop is kind for run in judged[0]) for kind in (True, False)] == [67, 67]


def test_no_healthy_run_is_flagged(judged: tuple[list[Any], dict[str, int | None]]) -> None:
    runs, fired = judged
    assert [run.id for run in runs if not run.loop and fired[run.id] is not None] == []


def test_nearly_all_stuck_runs_are_flagged_and_most_of_them_in_time(judged: tuple[list[Any], dict[str, int | None]]) -> None:
    runs, fired = judged
    stuck = [run for run in runs if run.loop]
    at = {run.id: fired[run.id] for run in stuck}
    found = [run for run in stuck if at[run.id] is not None]
    assert len(found) >= 0.9 * len(stuck)
    assert sum((at[run.id] or 0) <= run.where[0] + 2 for run in found) >= 0.8 * len(stuck)
