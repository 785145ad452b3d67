"""Old runs go, whole, and nothing else does; what is remembered of them does no harm."""

from __future__ import annotations

import random
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest

from otel_processor.errors import StoreError
from otel_processor.recording import pruning, retaining
from otel_processor.recording.recorder import Recorder
from otel_processor.recording.retaining import Prune
from otel_processor.retention import Retention
from otel_processor.store.database import Database
from otel_processor.store.opening import open_read_only
from otel_processor.store.sizes import measure
from tests.integration.alert_receiver import alert_receiver
from tests.integration.delivering import Clock, alert, end_alerts, sender
from tests.integration.records import SECOND, START, record, tool_record
from tests.integration.stored import ALERTS, CALLS, RUNS, rows, value
from tests.integration.test_run_totals import assert_true
from tests.unit.factory import agent_span, tool_span

if TYPE_CHECKING:
    from pathlib import Path

    from otel_processor.model import SpanRecord
    from otel_processor.recording.pruning import Removed

DAY = 86_400
DAYS = 30 * DAY
NOW = START + 100 * DAY * SECOND
OLD, NEW = NOW - 40 * DAY * SECOND, NOW - 2 * DAY * SECOND
LINKS = """
    select trace_id, run_id from trace_runs
    union select trace_id, declared_run_id from call_rows where declared_run_id is not null
"""
TABLES = ("spans", "call_rows", "run_rows", "run_totals", "trace_runs", "alerts", "deliveries", "policies")


def prune(db: Path, *, days: float | None = 30, size: int | None = None, dry_run: bool = False, now_ns: int = NOW) -> Removed:
    retention = Retention(None if days is None else days * DAY, size)
    work = Prune(db, retention, idle_seconds=1_800, dry_run=dry_run, clock=lambda: now_ns)
    for _ in work.run(timeout_seconds=10):
        pass
    return work.removed


def run_of(trace: str, at: int, *, calls: int = 4, **fields: Any) -> list[SpanRecord]:
    """A run that calls one tool again and again, and ends."""
    root = record(
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"}, trace=trace, span=f"{trace}r", at=at,
        end=at + 60 * SECOND,
    )  # fmt: skip
    tools = [
        tool_record(
            "search", {"q": 1}, "none", trace=trace, span=f"{trace}{n}", parent=root.span_id, at=at + n * SECOND, **fields
        )
        for n in range(calls)
    ]
    return [*tools, root]


def write(db: Path, *spans: SpanRecord) -> None:
    recorder = Recorder(db)
    assert recorder.record(spans, timeout_seconds=10)
    recorder.close()


def arrived(db: Path, at_ns: int) -> None:
    with Database(db).write(timeout_seconds=5) as connection:
        connection.execute("update spans set received_at = make_timestamptz($us)", {"us": at_ns // 1_000})


def everything(db: Path) -> dict[str, list[tuple[Any, ...]]]:
    return {table: rows(db, f"from {table} order by all") for table in TABLES}


def traces(db: Path) -> list[str]:
    return [trace for (trace,) in rows(db, "select distinct trace_id from spans order by 1")]


def test_old_runs_go_with_all_that_is_theirs_and_the_others_stay_as_they_are(db: Path, tmp_path: Path) -> None:
    write(db, *run_of("new", NEW))
    kept = everything(db)
    write(db, *run_of("old", OLD), *run_of("older", OLD - DAY * SECOND))
    removed = prune(db)
    assert (removed.runs, removed.spans, removed.calls, removed.plain_traces) == (2, 10, 8, 0)
    assert removed.alerts > 0
    assert everything(db) == kept
    assert prune(db).runs == 0


def test_a_dry_run_says_the_same_and_removes_nothing(db: Path) -> None:
    write(db, *run_of("new", NEW), *run_of("old", OLD))
    before = everything(db)
    told = prune(db, dry_run=True)
    assert everything(db) == before
    assert told == prune(db)
    assert traces(db) == ["new"]


def test_runs_that_share_a_trace_go_together_or_stay_together(db: Path) -> None:
    """A trace whose agent declared parts of it to be other runs, one of which goes on in a new trace."""
    declared = {"loop.run.id": "mission"}
    write(
        db,
        *run_of("a", OLD),
        tool_record("search", {"q": 2}, "none", trace="a", parent="ar", at=OLD + 10 * SECOND, span="a9"),
        record(declared, trace="a", span="am", parent="ar", at=OLD + 11 * SECOND),
        tool_record("search", {"q": 3}, "none", trace="a", parent="am", at=OLD + 11 * SECOND, span="am1"),
        record(declared, trace="b", span="bm", at=NEW),
        tool_record("search", {"q": 3}, "none", trace="b", parent="bm", at=NEW + SECOND, span="bm1"),
        *run_of("c", OLD),
    )
    assert {run for (run,) in rows(db, "select run_id from runs")} >= {"a", "mission", "c"}
    kept = rows(db, "select * from call_rows where trace_id in ('a', 'b') order by all")
    assert prune(db).runs == 1
    assert traces(db) == ["a", "b"]
    assert rows(db, "select * from call_rows order by all") == kept
    assert prune(db, now_ns=NOW + 40 * DAY * SECOND).runs >= 2
    assert all(not found for found in everything(db).values())


def test_an_open_run_stays_while_spans_of_it_arrive(db: Path) -> None:
    write(db, *run_of("a", OLD)[:-1])
    arrived(db, NOW - 60 * SECOND)
    assert prune(db).runs == 0
    arrived(db, NOW - DAY * SECOND)
    assert prune(db).runs == 1
    assert traces(db) == []


def test_traces_without_a_run_go_by_their_spans(db: Path) -> None:
    write(
        db,
        record(trace="old", at=OLD),
        record(trace="mixed", at=OLD, span="m1"),
        record(trace="mixed", at=NEW, span="m2"),
        *run_of("a", NEW),
    )
    removed = prune(db)
    assert (removed.runs, removed.plain_traces, removed.spans) == (0, 1, 1)
    assert traces(db) == ["a", "mixed"]


def test_messages_go_with_their_alerts_and_when_they_are_done_with(db: Path) -> None:
    clock = Clock(now_ns=NEW)
    with alert_receiver() as received:
        one = sender(db, clock, received.url)
        one.tell(alert("lonely", at=NEW))
        one.look()
    write(db, *run_of("old", OLD))
    with Database(db).write(timeout_seconds=5) as connection:
        (gone,) = connection.execute("select min(alert_id) from alerts where run_id = 'old'").fetchall()[0]
        connection.execute(
            "insert into deliveries by name select * replace ('x' as delivery_id, $gone as alert_id, 'pending' as state) "
            "from deliveries",
            {"gone": gone},
        )
    assert prune(db).deliveries == 1
    assert rows(db, "select state, awaits_end from deliveries") == [("sent", True)]
    later = NOW + 60 * DAY * SECOND
    assert prune(db, now_ns=later).alerts == 1
    assert rows(db, "from alerts") == rows(db, "from deliveries") == []


def test_a_message_that_is_done_with_goes_though_its_alert_stays(db: Path) -> None:
    clock = Clock(now_ns=OLD)
    with alert_receiver() as received:
        one = sender(db, clock, received.url)
        one.tell(alert("a", at=OLD))
        one.look()
        end_alerts(db, OLD + SECOND)
        one.look()
    write(db, *run_of("a", NEW))
    assert rows(db, "select kind, state, awaits_end from deliveries order by all") == [
        ("alert", "sent", False), ("recovery", "sent", False),
    ]  # fmt: skip
    before = value(db, "select count(*) from alerts")
    assert prune(db).deliveries == 2
    assert value(db, "select count(*) from alerts") == before


def test_by_size_the_oldest_go_until_the_rest_is_small_enough(db: Path) -> None:
    random.seed(3)
    noise = {"note": random.randbytes(400).hex()}
    runs = [run_of(f"t{number:02}", NEW + number * 1_000 * SECOND, calls=20) for number in range(40)]
    write(db, *chain(*runs), *(record(noise, trace=f"p{number:02}", at=OLD) for number in range(40)))
    arrived(db, NEW)
    with open_read_only(db) as connection:
        size = measure(connection)
    removed = prune(db, days=None, size=size.live_bytes // 2)
    with open_read_only(db) as connection:
        after = measure(connection)
    assert size.live_bytes // 4 < after.live_bytes <= size.live_bytes // 2
    left = traces(db)
    assert left == [f"t{number:02}" for number in range(40 - len(left), 40)]
    assert removed.plain_traces == 40
    assert_true(db)


def test_by_size_nothing_goes_that_goes_on(db: Path) -> None:
    write(db, *run_of("open", NEW)[:-1], *run_of("done", NEW + DAY * SECOND), record(trace="plain", at=NOW - 60 * SECOND))
    arrived(db, NOW - 60 * SECOND)
    work = Prune(db, Retention(max_bytes=1), idle_seconds=1_800, clock=lambda: NOW)
    for _ in work.run(timeout_seconds=5):
        pass
    assert traces(db) == ["open", "plain"]
    assert work.is_too_large


def test_portions_are_bounded_and_writers_get_in_between(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "SPANS_AT_ONCE", 11)
    monkeypatch.setattr(retaining, "_PAGE", 3)
    # A run that can not go lies before them, and what shares nothing with it goes all the same.
    blocked = run_of("blocked", OLD - SECOND)[:-1]
    write(db, *blocked, *chain(*(run_of(f"t{number}", OLD + number * SECOND) for number in range(10))))
    arrived(db, OLD)
    with Database(db).write(timeout_seconds=5) as connection:
        connection.execute(
            "update spans set received_at = make_timestamptz($us) where trace_id = 'blocked'", {"us": NOW // 1_000}
        )
    other = Recorder(db)
    work = Prune(db, Retention(DAYS), idle_seconds=1_800, clock=lambda: NOW)
    done: list[int] = []
    for step, spans in enumerate(work.run(timeout_seconds=5)):
        done.append(spans)
        assert other.record(run_of(f"n{step}", NEW), timeout_seconds=0.5)
        assert_true(db)
    assert [later - earlier for earlier, later in zip([0, *done], done, strict=False)][:-1] == [10] * 5
    assert traces(db) == sorted(["blocked", *(f"n{step}" for step in range(len(done)))])


def test_a_late_span_of_a_run_that_another_process_pruned_does_no_harm(db: Path, tmp_path: Path) -> None:
    """What a writer remembers of a run counts no more once its rows are gone."""
    recorder = Recorder(db)
    assert recorder.record(run_of("a", OLD), timeout_seconds=5)
    assert recorder.record(run_of("b", NEW), timeout_seconds=5)
    assert prune(db).runs == 1
    late = [tool_record("search", {"q": 1}, "none", trace="a", span="late", parent="ar", at=OLD + 30 * SECOND)]
    assert recorder.record(late, timeout_seconds=5)
    alone = tmp_path / "alone.duckdb"
    write(alone, *run_of("b", NEW))
    write(alone, *late)
    for asked in (CALLS, RUNS, ALERTS):
        assert rows(db, asked) == rows(alone, asked)
    assert_true(db)
    assert prune(db, now_ns=NOW + DAY * SECOND).runs == 0, "it is open, and arrived just now"


def test_a_declared_run_that_goes_on_after_its_first_traces_were_pruned_counts_from_there(db: Path, tmp_path: Path) -> None:
    mission = {"loop.run.id": "mission"}

    def part(trace: str, at: int) -> list[SpanRecord]:
        calls = [
            tool_record("search", {"q": 1}, "none", trace=trace, span=f"{trace}{n}", parent=f"{trace}m", at=at + n * SECOND)
            for n in range(3)
        ]
        return [*calls, record(mission, trace=trace, span=f"{trace}m", at=at, end=at + 60 * SECOND)]

    recorder = Recorder(db)
    assert recorder.record(part("a", OLD), timeout_seconds=5)
    assert value(db, "select steps from runs where run_id = 'mission'") == 3
    arrived(db, OLD)
    assert prune(db).runs == 1
    assert recorder.record(part("b", NEW), timeout_seconds=5)
    alone = tmp_path / "alone.duckdb"
    write(alone, *part("b", NEW))
    for asked in (CALLS, RUNS, ALERTS):
        assert rows(db, asked) == rows(alone, asked)
    assert_true(db)


def test_a_recorder_removes_old_runs_by_itself_where_it_is_told_to(db: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    clock = Clock(now_ns=OLD + DAY * SECOND)
    recorder = Recorder(db, retention=Retention(DAYS), clock=clock)
    assert recorder.record(run_of("a", OLD), timeout_seconds=5)
    assert recorder.record(run_of("b", NEW), timeout_seconds=5)
    assert traces(db) == ["a", "b"]
    clock.forward(60)
    arrived(db, OLD)
    clock.now_ns = NOW
    assert recorder.record([], timeout_seconds=5)
    # A clock that jumps may be wrong.
    assert traces(db) == ["a", "b"]
    clock.forward(601)
    assert not caplog.records
    assert recorder.record([], timeout_seconds=5)
    assert traces(db) == ["b"]
    (line,) = caplog.messages
    assert line.startswith(f"removed from {db} 1 run: ")
    assert line.endswith(" messages, older than 30 days")
    clock.forward(61)
    assert recorder.record([], timeout_seconds=5)
    assert len(caplog.records) == 1
    # What it remembered of the run is gone with it.
    late = [tool_record("search", {"q": 1}, "none", trace="a", span="late", parent="ar", at=OLD + 30 * SECOND)]
    assert recorder.record(late, timeout_seconds=5)
    assert rows(db, "select steps, tool_calls from runs where run_id = 'a'") == [(1, 1)]
    assert_true(db)


@pytest.mark.parametrize("seconds", [10 * 365 * 86_400, -10 * 365 * 86_400])
def test_a_clock_that_is_wrong_for_a_moment_removes_nothing(db: Path, seconds: int) -> None:
    clock = Clock(now_ns=NEW)
    recorder = Recorder(db, retention=Retention(DAYS), clock=clock)
    assert recorder.record(run_of("a", NEW), timeout_seconds=5)
    for step in (61, seconds, 1, 61, -seconds, 61, 500):
        clock.forward(step)
        assert recorder.record([], timeout_seconds=5)
        assert traces(db) == ["a"]


def test_a_recorder_says_that_runs_went_for_room(db: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    write(db, *run_of("a", OLD))
    arrived(db, OLD)
    recorder = Recorder(db, retention=Retention(max_bytes=1_000), clock=Clock(now_ns=NOW))
    assert recorder.record([], timeout_seconds=5)
    (line,) = caplog.messages
    assert line.startswith(f"removed from {db} 1 run: ")
    assert line.endswith(" messages, so that no more than 1 kB are taken")


def test_a_recorder_that_is_not_told_to_removes_nothing(db: Path) -> None:
    clock = Clock(now_ns=NOW)
    recorder = Recorder(db, clock=clock)
    assert recorder.record(run_of("a", OLD), timeout_seconds=5)
    clock.forward(600)
    assert recorder.record([], timeout_seconds=5)
    assert traces(db) == ["a"]


def test_a_recorder_goes_on_soon_while_there_are_more(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "SPANS_AT_ONCE", 5)
    monkeypatch.setattr("otel_processor.recording.housekeeping._REMOVING_SECONDS", 0.0)
    write(db, *chain(*(run_of(f"t{number}", OLD + number * SECOND) for number in range(4))))
    clock = Clock(now_ns=NOW)
    recorder = Recorder(db, retention=Retention(DAYS), clock=clock)
    left = []
    for _ in range(6):
        assert recorder.record([], timeout_seconds=5)
        left.append(len(traces(db)))
        clock.forward(1)
    assert left == [3, 2, 1, 0, 0, 0]


def test_what_came_from_another_writer_is_looked_at_again_after_a_prune_of_our_own(db: Path) -> None:
    """To sign a prune must not hide that somebody else wrote in between."""
    clock = Clock(now_ns=NOW)
    recorder = Recorder(db, retention=Retention(DAYS), clock=clock)
    first, second, third, root = run_of("a", NEW, calls=3)
    assert recorder.record([first], timeout_seconds=5)
    write(db, second)
    clock.forward(61)
    recorder._house.remove_old_now_and_then()
    assert recorder.record([third, root], timeout_seconds=5)
    assert rows(db, "select steps, tool_calls, longest_flat_streak from runs where run_id = 'a'") == [(3, 3, 2)]
    assert_true(db)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_shares_what_each_run_and_trace_is_whole_or_gone(db: Path, seed: int) -> None:
    chance = random.Random(seed)
    spans: list[SpanRecord] = []
    for number in range(12):
        trace, at = f"t{number}", NOW - chance.randrange(60) * DAY * SECOND
        root = agent_span(f"{trace}r", trace=trace, at=at / SECOND - 60, seconds=50)
        for call in range(chance.randrange(4)):
            declared = {"loop.run.id": f"mission {chance.randrange(4)}"} if chance.random() < 0.3 else {}
            spans.append(tool_span(f"{trace}{call}", more=declared, trace=trace, parent=f"{trace}r", at=at / SECOND - 60 + call))
        spans += [root] if chance.random() < 0.8 else [tool_span(f"{trace}x", trace=trace, at=at / SECOND)]
    write(db, *spans)
    arrived(db, NOW - DAY * SECOND)
    before = {
        "trace": dict(rows(db, "select trace_id, count(*) from spans group by 1")),
        "run": dict(rows(db, "select run_id, count(*) from calls group by 1")),
    }
    tied = rows(db, LINKS)
    recent = {
        run
        for (run,) in rows(
            db, f"select run_id from run_rows where last_seen_at >= make_timestamptz({(NOW - DAYS * SECOND) // 1000})"
        )
    }
    prune(db)
    assert before["trace"].items() >= dict(rows(db, "select trace_id, count(*) from spans group by 1")).items()
    assert before["run"].items() >= dict(rows(db, "select run_id, count(*) from calls group by 1")).items()
    # A run stays where it is recent, or shares a trace, over any number of others, with one that is.
    stays = set(recent)
    while more := {run for trace, run in tied if any(t == trace and r in stays for t, r in tied)} - stays:
        stays |= more
    assert {run for (run,) in rows(db, "select run_id from run_rows")} == stays
    assert_true(db)


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no database"):
        prune(tmp_path / "none.duckdb")
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_was_idle_for_long_removes_old_runs_at_once(db: Path) -> None:
    """Time went by, and nobody set the clock."""
    clock = Clock(now_ns=OLD + DAY * SECOND)
    recorder = Recorder(db, retention=Retention(DAYS), clock=clock)
    recorder._house._steady = lambda: clock.now_ns - OLD
    assert recorder.record(run_of("a", OLD), timeout_seconds=5)
    arrived(db, OLD)
    assert recorder.record([], timeout_seconds=5)
    assert traces(db) == ["a"]
    clock.now_ns = NOW
    assert recorder.record([], timeout_seconds=5)
    assert traces(db) == []
