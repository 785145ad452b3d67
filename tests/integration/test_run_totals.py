"""What is counted of a run is what its calls say, however they came, and whoever wrote them."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from click.testing import CliRunner

from otel_processor.cli import cli
from otel_processor.policy import Policy
from otel_processor.pricing import Pricer
from otel_processor.recording.recorder import Recorder
from otel_processor.recording.replaying import Replay
from otel_processor.recording.writing import write_delta
from otel_processor.runs.records import Delta, TraceRun
from otel_processor.store.creating import SCHEMA_MINOR
from otel_processor.store.database import Database
from otel_processor.store.totals import counted
from otel_processor.store.upgrading import bring_up_to_date
from tests.integration import processes
from tests.integration.records import SECOND, START, record, tool_record
from tests.integration.stored import rows, value
from tests.integration.test_parity import SCENARIOS, run_live

if TYPE_CHECKING:
    from pathlib import Path

    from otel_processor.model import SpanRecord

SEEDS = range(60 if os.environ.get("OTEL_PROCESSOR_TEST_SOAK") else 6)
OTHER = Policy(
    hard_loop_repeats=2,
    no_progress_alert_steps=2,
    no_progress_stop_steps=2,
    progress_rule="changed",
    task_types={"research": {"max_steps": 1}},
)
ROUNDED = "* replace (round(cost_usd, 9) as cost_usd, round(wasted_cost_usd, 9) as wasted_cost_usd)"
"""The sum of costs depends on their order in its last digits."""


def stored(db: Path) -> list[tuple[Any, ...]]:
    return rows(db, f"select {ROUNDED} from run_totals order by run_id")


def recounted(db: Path) -> list[tuple[Any, ...]]:
    """What all calls say now, in the order of the table's columns."""
    names = ", ".join(row[0] for row in rows(db, "select column_name from (describe run_totals)"))
    return rows(db, f"select {ROUNDED} from (select {names} from ({counted('select * from calls')})) order by run_id")


def assert_true(db: Path) -> None:
    assert stored(db) == recounted(db)


@pytest.fixture(scope="module")
def spans(tmp_path_factory: pytest.TempPathFactory) -> list[SpanRecord]:
    """What agents of all kinds do, one after the other."""
    found = []
    for scenario in SCENARIOS:
        found += run_live(scenario, tmp_path_factory.mktemp("live") / "agents.duckdb")
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_totals_are_true_after_each_delivery(seed: int, spans: list[SpanRecord], db: Path) -> None:
    """Late, twice, in any order, by two writers that restart, judged again under another policy in between."""
    chance = random.Random(seed)
    # Seed 0 keeps the order; the others mix parts of it of some length.
    waiting = list(spans) if seed == 0 else chance.sample(spans, len(spans))
    waiting += chance.sample(spans, len(spans) // 5)
    writers = [Recorder(db), Recorder(db)]
    changed = 0
    while waiting:
        size = chance.randint(1, 40)
        batch, waiting = waiting[:size], waiting[size:]
        number = chance.randrange(len(writers))
        before = stored(db) if db.exists() else []
        assert writers[number].record(batch, timeout_seconds=10)
        changed += stored(db) != before
        assert_true(db)
        if chance.random() < 0.15:
            writers[number] = Recorder(db)
        if chance.random() < 0.1:
            for _ in Replay(db, chance.choice([OTHER, Policy()])).run(timeout_seconds=10):
                assert_true(db)
        if chance.random() < 0.1:
            assert writers[number].close_idle(timeout_seconds=10)
            assert_true(db)
    assert changed > 5
    assert value(db, "select count(*) from run_totals") == value(db, "select count(distinct run_id) from calls") > 20


def test_the_definition_says_what_python_counts(spans: list[SpanRecord], db: Path) -> None:
    """Counted by other means, from the same calls."""
    assert Recorder(db).record(spans, timeout_seconds=10)
    columns = (
        "run_id step kind tool signature progress flat_steps is_error model input_tokens output_tokens end_unix_nano span_id"
    ).split()
    calls: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows(db, f"select {', '.join(columns)} from calls order by end_unix_nano, span_id"):
        calls[row[0]].append(dict(zip(columns, row, strict=True)))
    expected = []
    for run_id, of_run in calls.items():
        tools = [call for call in of_run if call["kind"] == "tool"]
        models = [call for call in of_run if call["kind"] == "model"]
        signatures = [call["signature"] for call in tools if call["signature"]]
        steps: dict[int, list[bool | None]] = defaultdict(list)
        for call in of_run:
            steps[call["step"]].append(call["progress"])
        told = [call["input_tokens"] for call in models if call["input_tokens"] is not None]
        expected.append(
            (
                run_id,
                len([step for step in steps if step > 0]),
                max(steps),
                len(tools),
                len([call for call in models if call["step"] > 0]),
                len([call for call in tools if call["is_error"]]),
                len(signatures),
                len(signatures) - len(set(signatures)),
                len([known for known in steps.values() if False in known and True not in known]),
                max(call["flat_steps"] for call in of_run),
                tools[-1]["flat_steps"] if tools else 0,
                sum(told) if told else None,
                sorted({call["model"] for call in models if call["model"]}),
                tools[-1]["tool"] if tools else None,
                min(call["end_unix_nano"] for call in of_run),
            )
        )
    found = rows(
        db,
        "select run_id, steps, last_step, tool_calls, model_calls, failed_tool_calls, signed_tool_calls, repeated_tool_calls, "
        "flat_steps, longest_flat_streak, open_flat_streak, input_tokens, models, last_tool, first_end_unix_nano "
        "from run_totals order by run_id",
    )
    assert found == sorted(expected)
    assert any(row[12] for row in found)
    assert any(row[10] for row in found)


def test_a_trace_that_moves_to_another_run_takes_its_calls_along(db: Path) -> None:
    """Whoever says so names the new run only."""
    for trace in ("a", "b"):
        assert Recorder(db).record([tool_record("search", {"q": 1}, "hit", trace=trace * 32)], timeout_seconds=5)
    with Database(db).write(timeout_seconds=5) as connection:
        write_delta(connection, Delta(traces=[TraceRun("b" * 32, "a" * 32, "declared")]), Pricer(Policy()))
    assert rows(db, "select run_id, tool_calls, repeated_tool_calls from run_totals") == [("a" * 32, 2, 1)]
    assert_true(db)


def test_a_call_that_ended_before_all_others_is_counted_when_it_comes(db: Path) -> None:
    """Its span says that it began after it ended: the run's beginning says nothing of it."""
    recorder = Recorder(db)
    assert recorder.record([tool_record("search", {"q": 1}, "hit", at=START)], timeout_seconds=5)
    early = tool_record("search", {"q": 2}, "hit", at=START + SECOND, end=START - 86_400 * SECOND)
    assert recorder.record([early], timeout_seconds=5)
    assert recorder.record([tool_record("search", {"q": 3}, "hit", at=START + 3 * SECOND)], timeout_seconds=5)
    assert rows(db, "select tool_calls from runs") == [(3,)]


@pytest.mark.parametrize("end", [-5, 0, (1 << 63) + 7])
def test_times_beyond_all_clocks_are_counted_too(end: int, db: Path) -> None:
    for number in range(2):
        assert Recorder(db).record([tool_record("search", {"q": number}, "hit", at=0, end=end)], timeout_seconds=5)
    assert_true(db)


# Older files and older writers.

AS_OLD = (
    "create or replace view runs as select * from run_rows",
    "drop view repeated_tool_signature_rate",
    "drop table run_totals",
    "drop table policies",
    "alter table meta drop column counted_by",
    "update meta set schema_minor = 3",
)


@pytest.fixture
def older(spans: list[SpanRecord], db: Path) -> Path:
    """A database as a version without totals left it."""
    recorder = Recorder(db)
    assert recorder.record(spans, timeout_seconds=10)
    recorder.close()
    with duckdb.connect(str(db)) as connection:
        for statement in AS_OLD:
            connection.execute(statement)
    return db


def test_the_first_write_counts_what_is_in_an_older_file(older: Path) -> None:
    assert Recorder(older).record([record()], timeout_seconds=10)
    assert value(older, "select schema_minor from meta") == SCHEMA_MINOR
    assert value(older, "select count(*) from run_totals") > 20
    assert_true(older)


def test_an_older_file_is_brought_up_to_date_for_readers(older: Path) -> None:
    assert bring_up_to_date(older)
    assert value(older, "select schema_minor from meta") == SCHEMA_MINOR
    assert value(older, "select sum(steps) from runs") > 20
    assert_true(older)
    assert not bring_up_to_date(older)


def test_the_dashboard_brings_a_file_up_to_date_before_it_starts(older: Path) -> None:
    """It cannot start at this address, so it ends at once."""
    result = CliRunner().invoke(cli, ["dashboard", "--db", str(older), "--host", "203.0.113.7"])
    assert result.exit_code == 2
    assert value(older, "select schema_minor from meta") == SCHEMA_MINOR


def test_a_busy_file_is_left_as_it_is(older: Path) -> None:
    with processes.held(older):
        assert not bring_up_to_date(older, timeout_seconds=0.1)
    assert value(older, "select schema_minor from meta") == 3


def test_what_is_not_ours_is_left_as_it_is(db: Path) -> None:
    assert not bring_up_to_date(db)
    assert not db.exists()
    with duckdb.connect(str(db)) as connection:
        connection.execute("create table mine as select 1 as one")
    assert not bring_up_to_date(db)
    assert rows(db, "select table_name from duckdb_tables()") == [("mine",)]


def test_a_newer_major_schema_is_left_as_it_is(older: Path) -> None:
    with duckdb.connect(str(older)) as connection:
        connection.execute("update meta set schema_major = 2")
    assert not bring_up_to_date(older)
    assert rows(older, "select schema_major, schema_minor from meta") == [(2, 3)]


def write_as_an_older_version(db: Path) -> None:
    """A call and a commit, and no word of totals."""
    with Database(db).write(timeout_seconds=5) as connection:
        connection.execute("insert into call_rows select * replace ('0123456789abcdef' as span_id) from call_rows limit 1")
        connection.execute("update meta set last_writer = 'older:1'")


def test_what_an_older_version_wrote_in_between_is_counted_within_a_minute(db: Path) -> None:
    now = START + 1_000 * SECOND
    recorder = Recorder(db, clock=lambda: now)
    assert recorder.record([tool_record("search", {"q": 1}, "hit")], timeout_seconds=5)
    write_as_an_older_version(db)
    assert stored(db) != recounted(db)
    # Another trace: the run is not counted for its own sake.
    assert recorder.record([tool_record("search", {"q": 1}, "hit", trace="b" * 32)], timeout_seconds=5)
    assert stored(db) != recounted(db)
    now += 61 * SECOND
    assert recorder.record([tool_record("search", {"q": 2}, "hit", trace="b" * 32)], timeout_seconds=5)
    assert_true(db)
    assert not bring_up_to_date(db)


def test_what_an_older_version_wrote_last_is_counted_for_readers(db: Path) -> None:
    assert Recorder(db).record([tool_record("search", {"q": 1}, "hit")], timeout_seconds=5)
    assert not bring_up_to_date(db)
    write_as_an_older_version(db)
    assert bring_up_to_date(db)
    assert_true(db)


# The thresholds that runs were judged by.


def test_every_policy_that_judged_a_run_is_written_down_once(spans: list[SpanRecord], db: Path) -> None:
    policy = Policy(task_types={"research": {"max_steps": 7}}, volatile_keys=frozenset({"b", "a"}), effects={"x": "read"})
    for at in (0, len(spans) // 2):
        assert Recorder(db, policy).record(spans[at : at + len(spans) // 2 + 1], timeout_seconds=10)
    stored_policies = dict(rows(db, "select policy_hash, fields::VARCHAR from policies"))
    assert stored_policies == {known.hash: known.as_json for known in (policy, policy.for_task_type("research"))}
    assert set(stored_policies) == {row[0] for row in rows(db, "select policy_hash from runs")}
    assert value(db, "select count(*) from policies where policy_hash <> left(sha256(fields::VARCHAR), 16)") == 0
    assert rows(db, "select distinct fields ->> '$.volatile_keys' from policies") == [('["a","b"]',)]
    used = "select policy_hash, first_used_at from policies"
    before = dict(rows(db, used))
    for _ in Replay(db, Policy()).run(timeout_seconds=10):
        pass
    after = dict(rows(db, used))
    assert after.keys() - before.keys() == {Policy().hash}
    assert {known: after[known] for known in before} == before


def test_a_replay_that_only_looks_writes_no_policy(db: Path) -> None:
    assert Recorder(db).record([tool_record("search", {"q": 1}, "hit")], timeout_seconds=5)
    for _ in Replay(db, OTHER, dry_run=True).run(timeout_seconds=10):
        pass
    assert rows(db, "select policy_hash from policies") == [(Policy().hash,)]
