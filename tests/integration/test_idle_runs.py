"""Runs that nothing closes: open while something comes, closed once they are idle, opened again by what comes after all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from otel_processor.policy import Policy
from otel_processor.recording.recorder import Recorder
from otel_processor.store.database import Database
from tests.integration.stored import rows, value
from tests.unit.factory import SECOND, agent_span, model_span, tool_span

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from otel_processor.model import SpanRecord

IDLE = 1_800
RUNS = "select stop_reason, status, ended_at is not null, ended_at = last_seen_at from runs order by run_id"
OPEN_ALERTS = "select count(*) from alerts where resolved_at is null"
CALLS = [tool_span(str(number), parent="root", at=number) for number in range(4)]
SEEN_NS = CALLS[-1].end_ns


class Clock:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.ns = SEEN_NS

    def __call__(self) -> int:
        return self.ns

    def idle_for(self, seconds: float) -> None:
        self.ns = SEEN_NS + int(seconds * SECOND)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def write(recorder: Recorder, *spans: SpanRecord) -> None:
    assert recorder.record(spans, timeout_seconds=10)


def arrived(db: Path, at_ns: int) -> None:
    """Let all spans have arrived then."""
    with Database(db).write(timeout_seconds=5) as connection:
        connection.execute("update spans set received_at = make_timestamptz($us)", {"us": at_ns // 1_000})


def other(number: int, **fields: Any) -> SpanRecord:
    """A span of another run, to have something to write."""
    return agent_span(f"other {number}", trace=f"z{number}", **{"at": 1_000_000, **fields})


def idle_too_long(db: Path, clock: Clock) -> Recorder:
    """Record `CALLS`, and write something else once their run is idle for too long."""
    recorder = Recorder(db, clock=clock)
    write(recorder, *CALLS)
    arrived(db, SEEN_NS)
    clock.idle_for(IDLE + 1)
    write(recorder, other(1))
    return recorder


def test_a_run_is_open_while_it_is_not_idle_for_too_long(db: Path, clock: Clock) -> None:
    recorder = Recorder(db, clock=clock)
    write(recorder, *CALLS)
    arrived(db, SEEN_NS)
    clock.idle_for(IDLE - 1)
    write(recorder, other(1))
    assert rows(db, RUNS)[0] == ("running", "running", False, None)
    assert value(db, OPEN_ALERTS) == 1


def test_an_idle_run_is_closed_as_abandoned_and_its_alerts_are_over(db: Path, clock: Clock) -> None:
    idle_too_long(db, clock)
    assert rows(db, RUNS)[0] == ("abandoned", "abandoned", True, True)
    assert value(db, OPEN_ALERTS) == 0
    assert value(db, "select flagged_reason from runs where run_id = 't1'") == "loop_detected:repeated_tool_signature"
    assert value(db, "select idle_reason from run_rows where run_id = 't1'") is None


def test_what_comes_after_all_opens_it_again_and_may_close_it_well(db: Path, clock: Clock) -> None:
    recorder = idle_too_long(db, clock)
    write(recorder, tool_span("late", "search:dogs=found a lot about dogs", parent="root", at=IDLE))
    assert rows(db, RUNS)[0] == ("running", "running", False, None)
    write(recorder, agent_span("root", seconds=2 * IDLE))
    assert rows(db, RUNS)[0] == ("completed", "ok", True, True)


@pytest.mark.parametrize("is_remembered", [True, False])
def test_a_run_that_goes_on_looping_after_it_was_closed_is_looping_again(db: Path, clock: Clock, is_remembered: bool) -> None:
    recorder = idle_too_long(db, clock)
    if not is_remembered:
        recorder = Recorder(db, clock=clock)
    told = rows(db, "select alert_id from alerts")
    assert value(db, OPEN_ALERTS) == 0
    write(recorder, tool_span("again", parent="root", at=IDLE + 10))
    assert rows(db, RUNS)[0][:2] == ("running", "running")
    assert rows(db, "select alert_id from alerts where resolved_at is null and pattern = 'hard_loop'") == told[:1]
    write(recorder, tool_span("other", "search:dogs=rex and fido", parent="root", at=IDLE + 20))
    assert value(db, OPEN_ALERTS) == 0


def test_what_another_policy_told_of_a_run_that_goes_on_stays_over(db: Path, clock: Clock) -> None:
    """Under the policy of now nothing would ever end it."""
    idle_too_long(db, clock)
    told = value(db, "select count(*) from alerts where pattern = 'hard_loop'")
    lax = Policy(hard_loop_repeats=50, hard_loop_write_repeats=50, no_progress_alert_steps=40, no_progress_stop_steps=50)
    write(Recorder(db, lax, clock=clock), tool_span("late", "search:dogs=rex and fido", parent="root", at=IDLE + 10))
    assert told == 1
    assert rows(db, RUNS)[0][:2] == ("running", "running")
    assert value(db, OPEN_ALERTS) == 0


def test_a_run_whose_spans_still_arrive_is_going_on_however_old_they_are(db: Path, clock: Clock) -> None:
    recorder = Recorder(db, clock=clock)
    write(recorder, *CALLS)
    clock.idle_for(10 * IDLE)
    arrived(db, clock.ns - IDLE * SECOND // 2)
    write(recorder, other(1))
    assert rows(db, RUNS)[0][0] == "running"
    arrived(db, clock.ns - (IDLE + 1) * SECOND)
    clock.ns += 61 * SECOND
    write(recorder, other(2))
    assert rows(db, RUNS)[0][0] == "abandoned"


def test_a_writer_looks_once_a_minute(db: Path, clock: Clock) -> None:
    recorder = Recorder(db, clock=clock)
    clock.idle_for(IDLE - 30)
    write(recorder, *CALLS)
    arrived(db, SEEN_NS)
    clock.idle_for(IDLE + 20)
    write(recorder, other(1))
    assert rows(db, RUNS)[0][0] == "running"
    clock.idle_for(IDLE + 31)
    write(recorder, other(2))
    assert rows(db, RUNS)[0][0] == "abandoned"


def test_another_writer_closes_what_a_dead_one_left_open(db: Path, clock: Clock) -> None:
    write(Recorder(db, clock=clock), *CALLS)
    arrived(db, SEEN_NS)
    clock.idle_for(IDLE + 1)
    write(Recorder(db, clock=clock), other(1))
    assert rows(db, RUNS)[0][0] == "abandoned"


def test_how_long_is_too_long_is_told_by_the_policy_for_the_type_of_task(db: Path, clock: Clock) -> None:
    policy = Policy(task_types={"nightly": {"run_idle_timeout_seconds": 3 * IDLE}, "chat": {"run_idle_timeout_seconds": 60.0}})
    recorder = Recorder(db, policy, clock=clock)
    for name in ("nightly", "chat", "other"):
        write(recorder, *(replace(span, trace_id=name, attributes={**span.attributes, "loop.task.type": name}) for span in CALLS))
    arrived(db, SEEN_NS)
    found = []
    for seconds in (IDLE / 2, 2 * IDLE, 4 * IDLE):
        clock.idle_for(seconds)
        write(recorder, other(int(seconds)))
        found.append(rows(db, "select run_id from runs where status = 'abandoned' order by run_id"))
    assert found == [[("chat",)], [("chat",), ("other",)], [("chat",), ("nightly",), ("other",)]]


def test_calls_without_an_agent_above_them_end_as_their_model_says(db: Path, clock: Clock) -> None:
    recorder = Recorder(db, clock=clock)
    turns: Sequence[SpanRecord] = [
        model_span(f"m{number}", trace=f"m{number}", at=number, finish="stop", more={"gen_ai.conversation.id": "talk"})
        for number in range(3)
    ]
    write(recorder, *turns)
    arrived(db, SEEN_NS)
    assert rows(db, RUNS) == [("running", "running", False, None)]
    clock.idle_for(IDLE + 1)
    write(recorder, other(1))
    assert rows(db, RUNS)[0] == ("completed", "ok", True, True)


def test_a_run_that_an_older_version_left_open_is_closed_too(db: Path, clock: Clock) -> None:
    recorder = Recorder(db, clock=clock)
    write(recorder, *CALLS)
    arrived(db, SEEN_NS)
    with Database(db).write(timeout_seconds=5) as connection:
        connection.execute("update run_rows set idle_reason = null")
    clock.idle_for(IDLE + 1)
    write(recorder, other(1))
    assert rows(db, RUNS)[0] == ("abandoned", "abandoned", True, True)


def test_more_idle_runs_than_one_pass_takes_are_closed_by_the_next(db: Path, clock: Clock) -> None:
    recorder = Recorder(db, clock=clock)
    write(recorder, *(replace(CALLS[0], trace_id=f"t{number:03}") for number in range(250)))
    arrived(db, SEEN_NS)
    counts = []
    for minute in (1, 2):
        clock.idle_for(IDLE + 61 * minute)
        write(recorder, other(minute))
        counts.append(value(db, "select count(*) from runs where status = 'abandoned'"))
    assert counts == [200, 250]
    assert recorder.close_idle(timeout_seconds=5)


def test_a_failing_look_for_idle_runs_costs_no_spans(db: Path, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    recorder = Recorder(db, clock=clock)
    write(recorder, *CALLS)
    with Database(db).write(timeout_seconds=5) as connection:
        connection.execute("update run_rows set idle_reason = 'no reason that there is'")
    arrived(db, SEEN_NS)
    clock.idle_for(IDLE + 1)
    write(recorder, other(1))
    assert value(db, "select count(*) from spans") == 5
    assert recorder.counters.dropped == 0
    assert "idle runs could not be closed" in caplog.text
