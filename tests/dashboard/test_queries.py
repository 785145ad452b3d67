"""Every query of the pages runs on an empty and on a seeded database, and returns the columns that pages use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dashboard import data
from otel_processor.store.database import Database
from otel_processor.store.opening import open_read_only
from otel_processor.store.scripts import query, query_names
from tests.dashboard import seed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Row = dict[str, Any]

RUN = seed.LOOPING

QUERIES: dict[str, tuple[Row, str]] = {
    "recent_alerts": (
        {"limit": 10},
        (
            "alert_id run_id raised_at severity pattern action stop_reason task agent tool message resolved_at until_the_end "
            "alerts open_alerts"
        ),
    ),
    "run_totals": (
        {"hours": None},
        "runs running flagged runs_without_usage tokens wasted_tokens cost_usd wasted_cost_usd unpriced_calls runs_ever",
    ),
    "stop_reasons": ({"hours": 24, "limit": 10}, "stop_reason flagged runs runs_with_reason"),
    "streak_lengths": ({"hours": None, "cap": 20}, "streak flagged runs"),
    "longest_streaks": ({"hours": 24, "limit": 10}, "run_id task agent streak last_step ended_at still_open"),
    "task_spread": (
        {"hours": None, "top": 3},
        (
            "place task is_rest tasks runs runs_without_usage tokens wasted_tokens "
            "tokens_min tokens_q1 tokens_median tokens_q3 tokens_max steps steps_min steps_q1 steps_median steps_q3 steps_max"
        ),
    ),
    "recent_runs": (
        {"hours": 24, "limit": 10},
        (
            "run_id task agent service started_at ended_at last_seen_at steps tool_calls longest_flat_streak tokens "
            "wasted_tokens stop_reason flagged_reason status"
        ),
    ),
    "run_header": (
        {"run_id": RUN},
        (
            "run_id task task_type agent service started_at ended_at last_seen_at steps tool_calls model_calls failed_tool_calls "
            "flat_steps longest_flat_streak repeated_signature_rate tokens wasted_tokens cost_usd wasted_cost_usd "
            "unpriced_calls stop_reason flagged_reason status last_step"
        ),
    ),
    "run_calls": (
        {"run_id": RUN, "first_step": 1, "last_step": 500, "limit": 100},
        (
            "position span_id step kind agent tool model signature progress repeats flat_steps effect is_error error_class "
            "input_tokens output_tokens started_at ended_at arguments result"
        ),
    ),
    "run_signatures": ({"run_id": RUN, "limit": 10}, "signature tool arguments calls flat_calls first_step last_step"),
    "run_alerts": (
        {"run_id": RUN, "limit": 10},
        "alert_id raised_at severity pattern action stop_reason agent tool message resolved_at until_the_end step",
    ),
    "step_calls": (
        {"run_id": RUN, "step": 2, "longest": 100, "limit": 10},
        (
            "span_id kind agent tool model signature fingerprint progress repeats flat_steps effect is_error error_class "
            "input_tokens output_tokens finish_reason started_at ended_at arguments arguments_length result result_length "
            "error_message error_message_length"
        ),
    ),
}


def rows(path: Path, name: str, parameters: Row) -> list[Row]:
    connection = open_read_only(path)
    try:
        answer = connection.execute(query(name), parameters)
        columns = [column[0] for column in answer.description or []]
        assert columns == QUERIES[name][1].split()
        return [dict(zip(columns, row, strict=True)) for row in answer.fetchall()]
    finally:
        connection.close()


@pytest.mark.parametrize("name", QUERIES)
def test_it_runs_on_an_empty_database(empty_db: Path, name: str) -> None:
    found = rows(empty_db, name, QUERIES[name][0])
    assert len(found) == (1 if name == "run_totals" else 0)


@pytest.mark.parametrize("name", QUERIES)
def test_it_finds_rows_in_a_seeded_database(seeded_db: Path, name: str) -> None:
    assert rows(seeded_db, name, QUERIES[name][0])


@pytest.mark.parametrize("name", QUERIES)
def test_its_first_line_says_what_it_returns_and_it_is_bounded(name: str) -> None:
    text = query(name)
    assert text.startswith("-- ")
    assert "spans" not in text
    assert any(bound in text for bound in ("limit $limit", "limit 1", "group by", "count(*)"))


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("recent_alerts", data.recent_alerts),
        ("run_totals", lambda: data.run_totals(None)),
        ("stop_reasons", lambda: data.stop_reasons(1)),
        ("streak_lengths", lambda: data.streak_lengths(24)),
        ("longest_streaks", lambda: data.longest_streaks(None)),
        ("task_spread", lambda: data.task_spread(None)),
        ("recent_runs", lambda: data.recent_runs(None)),
        ("run_header", lambda: data.run_header(RUN)),
        ("run_calls", lambda: data.run_calls(RUN, 1, 500)),
        ("run_signatures", lambda: data.run_signatures(RUN)),
        ("run_alerts", lambda: data.run_alerts(RUN)),
        ("step_calls", lambda: data.step_calls(RUN, 2)),
    ],
)
def test_the_pages_ask_it_with_the_parameters_that_it_has(seeded_db: Path, name: str, ask: Callable[[], data.Answer]) -> None:
    answer = ask()
    assert answer.problem == ""
    assert list(answer.frame.columns) == QUERIES[name][1].split()
    assert name in query_names()


def test_the_tasks_beyond_the_first_ones_are_one_row(empty_db: Path) -> None:
    with Database(empty_db).write(timeout_seconds=10) as connection:
        for number in range(1, 201):
            seed.add_run(connection, f"{number:032x}", [seed.model(1, number * 100)], task=f"task {number}")
    found = rows(empty_db, "task_spread", {"hours": None, "top": 15})
    assert len(found) == 16
    assert [row["task"] for row in found[:2]] == ["task 200", "task 199"]
    assert (found[-1]["is_rest"], found[-1]["task"], found[-1]["tasks"]) == (True, None, 185)
    assert sum(row["tokens"] for row in found) == sum(number * 100 for number in range(1, 201))


def test_runs_without_a_task_are_a_task_of_their_own(empty_db: Path) -> None:
    with Database(empty_db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, seed.HEALTHY, [seed.model(1)], task=None)
    (row,) = rows(empty_db, "task_spread", {"hours": None, "top": 15})
    assert (row["task"], row["is_rest"], row["tasks"], row["runs"]) == (None, False, 1, 1)


def test_a_verdict_falls_on_the_step_of_its_call(seeded_db: Path) -> None:
    (alert,) = rows(seeded_db, "run_alerts", QUERIES["run_alerts"][0])
    assert alert["step"] == 4
