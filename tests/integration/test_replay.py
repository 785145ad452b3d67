"""Rows made anew from the stored spans: the same under the same policy, those of another policy under that one."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from otel_processor.detection.run_state import RunState
from otel_processor.policy import Policy
from otel_processor.recording import replaying
from otel_processor.recording.recorder import Recorder
from otel_processor.recording.replaying import Replay, Replayed
from tests.integration import processes
from tests.integration.stored import ALERTS, CALLS, RUNS, rows, value
from tests.integration.test_parity import NAMES, SCENARIOS, run_live
from tests.unit.factory import agent_span, model_span, tool_span

if TYPE_CHECKING:
    from pathlib import Path

    from otel_processor.model import SpanRecord

TABLES = ("call_rows", "run_rows", "trace_runs", "alerts", "spans")
PATIENT = Policy(hard_loop_repeats=50, hard_loop_write_repeats=50, no_progress_alert_steps=40, no_progress_stop_steps=50)
STRICT = Policy(hard_loop_repeats=2, no_progress_alert_steps=2, no_progress_stop_steps=3)
OTHERS = {
    "patient": PATIENT,
    "strict": STRICT,
    "short of breath": Policy(run_idle_timeout_seconds=0.000_001),
    "by type": Policy(task_types={"research": {"hard_loop_repeats": 2}}, volatile_keys=frozenset({"q"})),
}


def everything(db: Path) -> dict[str, list[tuple[Any, ...]]]:
    return {table: rows(db, f"select * from {table} order by all") for table in TABLES}


def decided(db: Path) -> list[list[tuple[Any, ...]]]:
    return [rows(db, CALLS), rows(db, RUNS), rows(db, "select run_id, policy_hash from runs order by all")]


def replay(db: Path, policy: Policy | None = None, **options: Any) -> Replayed:
    work = Replay(db, policy or Policy(), **options)
    for _ in work.run(timeout_seconds=10):
        pass
    return work.outcome


def record(db: Path, spans: list[SpanRecord], policy: Policy | None = None) -> None:
    assert Recorder(db, policy).record(spans, timeout_seconds=10)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, list[SpanRecord]]]:
    """Each scenario run once through processor and exporter."""
    made = {}
    for scenario in SCENARIOS:
        db = tmp_path_factory.mktemp("live") / "agents.duckdb"
        made[scenario.__name__] = db, run_live(scenario, db)
    return made


@pytest.mark.parametrize("name", NAMES)
def test_what_was_recorded_live_stays_as_it_is(name: str, live: dict[str, tuple[Path, list[SpanRecord]]]) -> None:
    db, _ = live[name]
    before = everything(db)
    outcome = replay(db)
    assert everything(db) == before
    assert (outcome.runs, outcome.calls, outcome.spans) == (
        len(before["run_rows"]),
        len(before["call_rows"]),
        len(before["spans"]),
    )
    assert (outcome.resolved, outcome.alerts_after, outcome.changes) == (0, len(before["alerts"]), {})


@pytest.mark.parametrize("at_once", [1, 1_000])
def test_what_was_recorded_from_files_stays_as_it_is(
    at_once: int, live: dict[str, tuple[Path, list[SpanRecord]]], db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaying, "SPANS_AT_ONCE", at_once)
    monkeypatch.setattr(replaying, "_TRACES_AT_ONCE", 3)
    for _, spans in live.values():
        record(db, spans)
    before = everything(db)
    outcome = replay(db)
    assert everything(db) == before
    assert (outcome.runs, outcome.calls) == (len(before["run_rows"]), len(before["call_rows"]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("other", OTHERS)
def test_under_another_policy_rows_are_as_if_recorded_under_it(
    name: str, other: str, live: dict[str, tuple[Path, list[SpanRecord]]], db: Path
) -> None:
    _, spans = live[name]
    record(db, spans)
    fresh = db.with_name("fresh.duckdb")
    record(fresh, spans, OTHERS[other])
    replay(db, OTHERS[other])
    assert decided(db) == decided(fresh)
    replay(db)
    back = db.with_name("back.duckdb")
    record(back, spans)
    assert decided(db) == decided(back)


def test_conversations_are_cut_and_joined_as_the_policy_says(db: Path) -> None:
    spans = [
        model_span(f"m{number}", trace=f"m{number}", at=100 * number, finish="stop", more={"gen_ai.conversation.id": "talk"})
        for number in (0, 1, 2, 9, 10, 30)
    ]
    record(db, spans)
    counts = {}
    for seconds in (1.0, 150.0, 5_000.0, 1_000.0, 1.0):
        replay(db, Policy(run_idle_timeout_seconds=seconds))
        counts[seconds] = rows(db, "select steps from runs order by started_at")
        assert value(db, "select count(*) from trace_runs") == 6
    assert counts == {1.0: [(1,)] * 6, 150.0: [(3,), (2,), (1,)], 5_000.0: [(6,)], 1_000.0: [(5,), (1,)]}


LOOP = [tool_span(str(number), parent="root", at=number) for number in range(6)]


def test_an_alert_that_would_not_be_told_is_kept_and_resolved(db: Path) -> None:
    now = LOOP[-1].end_ns
    record(db, LOOP)
    assert value(db, "select count(*) from alerts where resolved_at is null") == 2
    outcome = replay(db, PATIENT, clock=lambda: now)
    assert outcome.resolved == 2
    assert rows(db, "select pattern, resolved_at is not null from alerts order by pattern") == [
        ("hard_loop", True),
        ("no_progress", True),
    ]
    assert rows(db, "select stop_reason, flagged_reason from runs") == [("running", None)]
    assert outcome.changes == {
        (("running", "loop_detected:repeated_tool_signature"), ("running", None)): 1,
    }


def test_an_alert_that_is_told_under_it_is_told_once(db: Path) -> None:
    record(db, [*LOOP, agent_span("root", seconds=9)], PATIENT)
    assert rows(db, ALERTS) == []
    assert replay(db, STRICT).alerts_after == 2
    assert rows(db, ALERTS) == [("t1", "hard_loop", 1), ("t1", "no_progress", 1)]
    assert value(db, "select count(*) from alerts where resolved_at is null") == 0
    replay(db, Policy())
    replay(db, STRICT)
    assert rows(db, ALERTS) == [("t1", "hard_loop", 1), ("t1", "no_progress", 1)]


def test_an_alert_that_is_ahead_of_its_span_stays_open(db: Path) -> None:
    now = LOOP[-1].end_ns
    alerts_of = db.with_name("other.duckdb")
    record(alerts_of, LOOP)
    record(db, LOOP[:2])
    with Recorder(db).database.write(timeout_seconds=5) as connection:
        connection.execute(
            "insert into alerts values ('a', 't1', 't1', '2', now(), null, null, null, 'hard_loop', 'critical', "
            "'stop', null, 'm', '{}', null)"
        )
    replay(db, clock=lambda: now)
    assert value(db, "select count(*) from alerts where resolved_at is null") == 1


def test_content_that_was_cut_is_compared_as_it_was(db: Path) -> None:
    """Arguments that differ behind what is kept of them are different, also when they are made anew."""
    asked = [json.dumps({"q": "word " * 20_000 + ("cats", "dogs")[number // 2]}) for number in range(4)]
    spans = [
        tool_span(str(number), "search=x", parent="root", at=number, more={"gen_ai.tool.call.arguments": asked[number]})
        for number in range(4)
    ]
    record(db, [*spans, agent_span("root", seconds=9)])
    before = everything(db)
    assert rows(db, "select repeats from calls order by ended_at") == [(1,), (2,), (1,), (2,)]
    replay(db)
    assert everything(db) == before
    replay(db, STRICT)
    replay(db)
    assert rows(db, "select repeats from calls order by ended_at") == [(1,), (2,), (1,), (2,)]


def test_an_open_run_that_is_idle_is_closed_by_it(db: Path) -> None:
    record(db, LOOP)
    replay(db)
    assert rows(db, "select status, stop_reason from runs") == [("abandoned", "abandoned")]
    before = everything(db)
    replay(db)
    assert everything(db) == before


def test_a_dry_run_changes_nothing_and_says_the_same(
    live: dict[str, tuple[Path, list[SpanRecord]]], db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaying, "SPANS_AT_ONCE", 10)
    for _, spans in live.values():
        record(db, spans)
    before = everything(db)
    said = replay(db, PATIENT, dry_run=True)
    assert everything(db) == before
    assert replay(db, PATIENT) == said
    assert everything(db) != before


_KILLED = """
from otel_processor.policy_file import load_policy
from otel_processor.recording import replaying
replaying.SPANS_AT_ONCE = 1
work = replaying.Replay(sys.argv[1], load_policy(sys.argv[2]))
for number, _ in enumerate(work.run(timeout_seconds=10), 1):
    if number == int(sys.argv[3]):
        os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("transactions", [1, 4, 7])
def test_a_replay_that_is_killed_leaves_whole_runs_and_is_completed_by_the_next(
    transactions: int, live: dict[str, tuple[Path, list[SpanRecord]]], db: Path, tmp_path: Path
) -> None:
    for _, spans in live.values():
        record(db, spans)
    whole = db.with_name("whole.duckdb")
    for _, spans in live.values():
        record(whole, spans)
    policy_file = tmp_path / "policy.toml"
    policy_file.write_text("hard_loop_repeats = 2\nno_progress_alert_steps = 2\nno_progress_stop_steps = 3\n")
    replay(whole, STRICT)
    before = everything(db)
    process = processes.start(_KILLED, db, policy_file, transactions)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    between = everything(db)
    assert between["spans"] == before["spans"]
    assert set(rows(db, "select alert_id from alerts")) >= {(alert[0],) for alert in before["alerts"]}
    hashes = dict(rows(db, "select run_id, policy_hash from runs"))
    assert set(hashes.values()) == {STRICT.hash, Policy().hash}
    calls_of = "select run_id, list((span_id, repeats, flat_steps, progress)::VARCHAR order by span_id) from calls group by 1"
    done, old, now = (dict(rows(path, calls_of)) for path in (whole, db, db))
    assert {run_id: now[run_id] for run_id in hashes if run_id in now} == {
        run_id: (done if policy_hash == STRICT.hash else old)[run_id] for run_id, policy_hash in hashes.items() if run_id in now
    }
    replay(db, STRICT)
    assert decided(db) == decided(whole)
    assert rows(db, ALERTS) == rows(whole, ALERTS)


def test_writers_go_on_between(live: dict[str, tuple[Path, list[SpanRecord]]], db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent writes on while its run is made anew: nothing is lost, nothing counts twice."""
    monkeypatch.setattr(replaying, "SPANS_AT_ONCE", 1)
    recorder = Recorder(db)
    spans = [replace(span, trace_id=f"t{number}") for number in range(4) for span in LOOP]
    for span in spans[::2]:
        assert recorder.record([span], timeout_seconds=10)
    rest = spans[1::2]
    for _ in Replay(db, Policy(), clock=lambda: LOOP[-1].end_ns).run(timeout_seconds=10):
        for span in rest[:3]:
            assert recorder.record([span], timeout_seconds=10)
        del rest[:3]
    for span in rest:
        assert recorder.record([span], timeout_seconds=10)
    whole = db.with_name("whole.duckdb")
    record(whole, spans)
    assert decided(db) == decided(whole)


def test_a_trace_that_cannot_be_judged_is_left_as_it_was(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it keep those that come before and after it from being made anew."""
    observe = RunState.observe

    def fail_for_one(state: RunState, call: Any) -> Any:
        if call.trace_id.startswith("2"):
            raise RuntimeError("a bug of ours")
        return observe(state, call)

    traces = [f"{number}" * 32 for number in (1, 2, 3, 4)]
    record(db, [tool_span(f"{at}", trace=trace, at=at) for trace in traces for at in range(1, 3)], PATIENT)
    monkeypatch.setattr(RunState, "observe", fail_for_one)
    outcome = replay(db, STRICT)
    assert (outcome.left, outcome.runs) == (1, 3)
    judged_by = dict(rows(db, "select run_id, policy_hash from runs"))
    assert judged_by == {trace: (PATIENT if trace.startswith("2") else STRICT).hash for trace in traces}
    assert value(db, "select count(*) from calls") == 8
