"""Every query of the pages runs on an empty and on a seeded database, and returns the columns that pages use."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from dashboard import data
from dashboard.filters import Filters
from dashboard.questions import alerts, choices, health, now, overview, policy, run, runs, spend, tools
from dashboard.run_search import RunSearch
from otel_processor.store.database import Database
from otel_processor.store.opening import open_read_only
from otel_processor.store.scripts import query, query_names
from otel_processor.store.temporary_views import make_views
from tests.dashboard import seed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Row = dict[str, Any]

RUN = seed.LOOPING

EVERYTHING = Filters().parameters()
LATELY = Filters(period="24h").parameters()

QUERIES: dict[str, tuple[Row, str]] = {
    "runs_ever": ({}, "any_run"),
    "filter_names": ({"limit": 10}, "field choice runs"),
    "recent_alerts": (
        EVERYTHING | {"severity": None, "open_limit": 10, "over_limit": 10, "per_run": 3},
        (
            "alert_id run_id raised_at severity pattern action stop_reason task agent tool message resolved_at until_the_end "
            "is_open run_alerts open_runs over_runs has_run run_stop_reason steps tokens cost_usd unpriced_calls"
        ),
    ),
    "alert_counts": (EVERYTHING, "alerts open_alerts open_critical looping_runs"),
    "open_runs": (
        LATELY | {"silent_seconds": 600, "minutes": 5, "limit": 10},
        (
            "run_id task agent open_alerts flagged_reason open_flat_streak steps tool started_at last_seen_at is_silent tokens "
            "cost_usd tokens_per_minute cost_per_minute runs silent_runs all_tokens_per_minute all_cost_per_minute"
        ),
    ),
    "last_seen": (EVERYTHING, "seen_at"),
    "anything_ever": ({}, "any_run"),
    "open_run_signs": ({}, "open_runs seen_at written_at"),
    "schema_version": ({}, "schema_major schema_minor created_by created_at is_sealed"),
    "run_totals": (
        EVERYTHING,
        (
            "runs running flagged flagged_completed runs_without_usage tokens wasted_tokens cost_usd wasted_cost_usd "
            "unpriced_calls"
        ),
    ),
    "stop_reasons": (LATELY | {"limit": 10}, "stop_reason flagged runs runs_with_reason"),
    "stop_reasons_over_time": (LATELY | {"zone": "Asia/Tokyo"}, "unit stretch stop_reason runs flagged"),
    "streak_lengths": (EVERYTHING | {"cap": 20}, "streak flagged runs"),
    "longest_streaks": (LATELY | {"limit": 10}, "run_id task agent streak last_step ended_at still_open"),
    "task_spread": (
        EVERYTHING | {"top": 3},
        (
            "place task is_rest tasks runs runs_without_usage tokens wasted_tokens "
            "tokens_min tokens_q1 tokens_median tokens_q3 tokens_max cost cost_min cost_q1 cost_median cost_q3 cost_max "
            "steps steps_min steps_q1 steps_median steps_q3 steps_max"
        ),
    ),
    "task_shares": (
        EVERYTHING | {"top": 3},
        ("place task is_rest tasks runs signed_tool_calls repeated_tool_calls repeated_share steps flat_steps flat_share"),
    ),
    "task_change": (
        LATELY | {"least": 1, "limit": 10},
        "task runs runs_before cost cost_before tokens tokens_before steps steps_before change",
    ),
    "recent_runs": (
        LATELY | {"limit": 10},
        (
            "run_id task agent service started_at ended_at last_seen_at steps tool_calls longest_flat_streak tokens "
            "wasted_tokens cost_usd stop_reason flagged_reason status"
        ),
    ),
    "run_header": (
        {"run_id": RUN},
        (
            "run_id task task_key task_type agent service started_at ended_at last_seen_at steps tool_calls model_calls "
            "failed_tool_calls flat_steps longest_flat_streak repeated_signature_rate tokens cache_read_tokens wasted_tokens "
            "cost_usd wasted_cost_usd unpriced_calls calls_without_usage model stop_reason flagged_reason status last_step "
            "is_only_asked"
        ),
    ),
    "run_calls": (
        {"run_id": RUN, "first_step": 1, "last_step": 500, "limit": 100},
        (
            "position span_id step kind agent tool model signature progress repeats flat_steps effect is_error error_class "
            "input_tokens output_tokens started_at ended_at content arguments result"
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
            "trace_id span_id kind agent tool call_id model provider signature fingerprint progress repeats flat_steps effect "
            "is_error error_class input_tokens output_tokens cache_read_tokens cache_write_tokens reasoning_tokens cost_usd "
            "cost_source finish_reason started_at ended_at content arguments arguments_length result result_length error_message "
            "error_message_length"
        ),
    ),
    "earlier_calls": (
        {"run_id": RUN, "step": 5, "per_call": 10, "limit": 10},
        "of_trace_id of_span_id trace_id span_id step same_arguments same_result in_streak is_error",
    ),
    "call_in_full": (
        {"run_id": RUN, "trace_id": RUN, "span_id": seed.span_id_of(RUN, 3), "longest": 100},
        (
            "step tool signature fingerprint is_error error_class started_at ended_at arguments arguments_length result "
            "result_length error_message error_message_length"
        ),
    ),
    "run_spend": (
        {"run_id": RUN, "first_step": 1, "last_step": 500, "limit": 501},
        "step tokens cost_usd without_usage unpriced",
    ),
    "run_export": ({"run_id": RUN, "longest": 100_000, "limit": 1_000}, "call calls"),
    "runs_found": (EVERYTHING | RunSearch().conditions(), "runs"),
    "runs_page": (
        EVERYTHING | RunSearch().conditions() | RunSearch().order(10),
        (
            "run_id task agent service status stop_reason flagged_reason started_at ended_at last_seen_at steps "
            "longest_flat_streak repeated_signature_rate tokens wasted_tokens cost_usd wasted_cost_usd unpriced_calls"
        ),
    ),
    "run_endings": ({"limit": 10}, "field choice runs"),
    "tool_figures": (
        EVERYTHING | {"top": 200},
        (
            "place tool choice is_rest tools calls runs failed_calls new_calls stale_calls unknown_calls transient_errors "
            "permanent_errors validation_errors other_errors known_calls flat_calls signed_calls repeated_calls retries "
            "read_calls write_calls poll_calls timed_calls seconds_median seconds_p95 seconds_max"
        ),
    ),
    "tool_over_time": (
        EVERYTHING | {"tool": "search", "zone": "Europe/Madrid"},
        "unit stretch calls failed_calls new_calls stale_calls unknown_calls",
    ),
    "tool_repeats": (
        EVERYTHING | {"tool": "search", "limit": 10},
        "signature arguments times runs flat_calls run_id run_times",
    ),
    "tool_errors": (EVERYTHING | {"tool": "fetch", "limit": 10}, "message error_class times runs last_at run_id step"),
    "tool_slowest": (
        EVERYTHING | {"tool": "search", "limit": 10},
        "run_id step agent seconds ended_at has_failed progress",
    ),
    "tool_callers": (
        EVERYTHING | {"tool": "search", "limit": 10},
        "task agent calls runs failed_calls known_calls flat_calls",
    ),
    "spend_calls": (
        EVERYTHING | {"top": 200, "top_stacked": 6, "measure": "tokens", "zone": "Europe/Madrid"},
        (
            "kind place is_rest models provider model is_root calls input_tokens output_tokens tokens cache_read_tokens "
            "cache_input_tokens calls_without_cache cost calls_without_usage unpriced_calls unpriced_tokens span_calls span_cost "
            "override_calls override_cost list_calls list_cost unit stretch"
        ),
    ),
    "spend_groups": (
        EVERYTHING | {"top": 15, "measure": "cost"},
        (
            "kind place is_rest names name runs runs_without_usage runs_without_cost model_calls input_tokens output_tokens "
            "tokens cost wasted_tokens wasted_cost unpriced_calls calls_without_usage"
        ),
    ),
    "spend_runs": (
        EVERYTHING | {"measure": "tokens", "limit": 10},
        (
            "run_id task agent started_at steps tokens wasted_tokens cost_usd wasted_cost_usd unpriced_calls stop_reason "
            "flagged_reason"
        ),
    ),
    "policies_used": (
        EVERYTHING | {"longest": 100_000, "limit": 10},
        "policy_hash runs last_used_at first_used_at fields",
    ),
    "deliveries": (
        {"limit": 10},
        (
            "delivery_id created_at kind sink state attempts next_try_at sent_at error alert_id run_id pattern severity task "
            "message held_alerts deliveries"
        ),
    ),
    "delivery_summary": (
        {"limit": 10},
        "sink waiting retrying sent suppressed held_back gave_up last_sent_at next_try_at last_error",
    ),
}


def rows(path: Path, name: str, parameters: Row) -> list[Row]:
    connection = open_read_only(path)
    try:
        asked = make_views(connection, query(name), parameters)
        answer = connection.execute(query(name), asked)
        columns = [column[0] for column in answer.description or []]
        assert columns == QUERIES[name][1].split()
        return [dict(zip(columns, row, strict=True)) for row in answer.fetchall()]
    finally:
        connection.close()


ONE_ROW = {
    "run_totals",
    "runs_ever",
    "alert_counts",
    "last_seen",
    "anything_ever",
    "open_run_signs",
    "schema_version",
    "spend_groups",
    "runs_found",
}
"""These say something of nothing, too."""


@pytest.mark.parametrize("name", QUERIES)
def test_it_runs_on_an_empty_database(empty_db: Path, name: str) -> None:
    found = rows(empty_db, name, QUERIES[name][0])
    assert len(found) == (1 if name in ONE_ROW else 0)


@pytest.mark.parametrize("name", QUERIES.keys() - {"task_change", "deliveries", "delivery_summary"})
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
        ("recent_alerts", alerts.recent_alerts),
        ("alert_counts", lambda: alerts.alert_counts(Filters())),
        ("open_runs", lambda: now.open_runs(Filters(period="1h"))),
        ("last_seen", lambda: now.last_seen(Filters())),
        ("anything_ever", now.anything_ever),
        ("open_run_signs", health.open_run_signs),
        ("schema_version", health.schema_version),
        ("run_totals", lambda: overview.run_totals(Filters())),
        ("stop_reasons", lambda: overview.stop_reasons(Filters(period="1h"))),
        ("streak_lengths", lambda: overview.streak_lengths(Filters(tasks=("research",)))),
        ("longest_streaks", lambda: overview.longest_streaks(Filters())),
        ("task_spread", lambda: overview.task_spread(Filters())),
        ("runs_ever", overview.runs_ever),
        ("filter_names", lambda: data.recent("filter_names", limit=choices.NAMES_OFFERED)),
        ("stop_reasons_over_time", lambda: overview.stop_reasons_over_time(Filters())),
        ("task_shares", lambda: overview.task_shares(Filters())),
        ("task_change", lambda: overview.task_history(Filters(period="24h"))),
        ("recent_runs", lambda: runs.recent_runs(Filters())),
        ("run_header", lambda: run.run_header(RUN)),
        ("run_calls", lambda: run.run_calls(RUN, 1, 500)),
        ("run_signatures", lambda: run.run_signatures(RUN)),
        ("run_alerts", lambda: alerts.run_alerts(RUN)),
        ("step_calls", lambda: run.step_calls(RUN, 2)),
        ("earlier_calls", lambda: run.earlier_calls(RUN, 2)),
        ("call_in_full", lambda: run.call_in_full(RUN, RUN, seed.span_id_of(RUN, 3))),
        ("run_spend", lambda: run.run_spend(RUN, 1, 500)),
        ("runs_found", lambda: runs.found(Filters(), RunSearch())),
        ("runs_page", lambda: runs.page(Filters(), RunSearch())),
        ("tool_figures", lambda: tools.figures(Filters())),
        ("tool_over_time", lambda: tools.over_time(Filters(), "search")),
        ("tool_repeats", lambda: tools.repeats(Filters(), "search")),
        ("tool_errors", lambda: tools.errors(Filters(), "fetch")),
        ("tool_slowest", lambda: tools.slowest(Filters(), "search")),
        ("tool_callers", lambda: tools.callers(Filters(), "search")),
        ("spend_calls", lambda: spend.calls(Filters(), "cost")),
        ("spend_groups", lambda: spend.groups(Filters(models=("gpt-5-mini",)), "cost")),
        ("spend_runs", lambda: spend.runs(Filters(), "tokens")),
        ("policies_used", lambda: policy.policies(Filters())),
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
    found = rows(empty_db, "task_spread", EVERYTHING | {"top": 15})
    assert len(found) == 16
    assert [row["task"] for row in found[:2]] == ["task 200", "task 199"]
    assert (found[-1]["is_rest"], found[-1]["task"], found[-1]["tasks"]) == (True, None, 185)
    assert sum(row["tokens"] for row in found) == sum(number * 100 for number in range(1, 201))


def test_runs_without_a_task_are_a_task_of_their_own(empty_db: Path) -> None:
    with Database(empty_db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, seed.HEALTHY, [seed.model(1)], task=None)
    (row,) = rows(empty_db, "task_spread", EVERYTHING | {"top": 15})
    assert (row["task"], row["is_rest"], row["tasks"], row["runs"]) == (None, False, 1, 1)


def test_a_verdict_falls_on_the_step_of_its_call(seeded_db: Path) -> None:
    (alert,) = rows(seeded_db, "run_alerts", QUERIES["run_alerts"][0])
    assert alert["step"] == 4


def chosen(path: Path, **choice: Any) -> set[str]:
    """The runs that a choice leaves."""
    connection = open_read_only(path)
    try:
        make_views(connection, "chosen_runs", Filters(**choice).parameters())
        return {row[0] for row in connection.execute("select run_id from chosen_runs").fetchall()}
    finally:
        connection.close()


def test_runs_are_chosen_by_each_kind_of_name_and_by_all_together(seeded_db: Path) -> None:
    assert chosen(seeded_db, tasks=("plan",)) == {seed.TWO_AGENTS}
    assert chosen(seeded_db, agents=("planner",)) == {seed.TWO_AGENTS}
    assert chosen(seeded_db, models=("gpt-5-mini",)) >= {seed.HEALTHY, seed.LOOPING}
    assert seed.TWO_AGENTS not in chosen(seeded_db, models=("gpt-5-mini",))
    assert chosen(seeded_db, services=("elsewhere",)) == set()
    assert chosen(seeded_db, tasks=("plan", "summarise"), agents=("planner",)) == {seed.TWO_AGENTS}
    assert chosen(seeded_db, tasks=(seed.HOSTILE_TEXT,)) == {seed.HOSTILE}


def test_runs_without_a_name_are_chosen_by_an_empty_one(seeded_db: Path) -> None:
    with Database(seeded_db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, "9" * 32, [seed.model(1)], task=None)
    assert chosen(seeded_db, tasks=("",)) == {"9" * 32}


def test_days_begin_and_end_in_the_zone_of_who_looks(empty_db: Path) -> None:
    with Database(empty_db).write(timeout_seconds=10) as connection:
        for number, hour in enumerate((14, 16)):
            start = datetime(2026, 3, 4, hour, tzinfo=UTC)
            seed.add_run(connection, f"{number:032x}", [seed.model(1)], started_at=start)
    tokyo = Filters(since=date(2026, 3, 5), until=date(2026, 3, 5)).parameters(ZoneInfo("Asia/Tokyo"))
    connection = open_read_only(empty_db)
    make_views(connection, "chosen_runs", tokyo)
    # In Tokyo the fifth begins at 15:00 UTC of the fourth.
    assert connection.execute("select run_id from chosen_runs").fetchall() == [(f"{1:032x}",)]
    connection.close()


def test_a_task_is_compared_with_its_own_earlier_healthy_runs(empty_db: Path) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=20)
    with Database(empty_db).write(timeout_seconds=10) as connection:
        for number in range(6):
            looped = "loop_detected:no_progress" if number == 5 else None
            tokens = 100_000 if looped else 1_000
            started = long_ago + timedelta(hours=number)
            seed.add_run(connection, f"{number:032x}", [seed.model(1, tokens)], started_at=started, flagged_reason=looped)
        seed.add_run(connection, f"{9:032x}", [seed.model(1, 3_000)])
    (row,) = rows(empty_db, "task_change", LATELY | {"least": 5, "limit": 10})
    assert (row["task"], row["runs"], row["runs_before"]) == ("research", 1, 5)
    assert (row["tokens_before"], row["tokens"], row["change"]) == (1_000, 3_000, 3)
    assert rows(empty_db, "task_change", LATELY | {"least": 6, "limit": 10}) == []


def test_stretches_of_time_are_as_long_as_the_chosen_time_asks_for(empty_db: Path) -> None:
    def unit() -> str:
        return str(rows(empty_db, "stop_reasons_over_time", EVERYTHING | {"zone": "UTC"})[0]["unit"])

    for number, (days, expected) in enumerate(((0, "minute"), (2, "hour"), (30, "day"), (400, "week"))):
        with Database(empty_db).write(timeout_seconds=10) as connection:
            started = datetime.now(UTC) - timedelta(days=days)
            seed.add_run(connection, f"{number:032x}", [seed.model(1)], started_at=started)
        assert unit() == expected
