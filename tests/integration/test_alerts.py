"""Alerts are in the database while the agent still runs, once, and say when they are over."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from otel_processor import DuckDBSpanExporter, LoopSpanProcessor
from otel_processor.model import Action, Alert, Pattern, StopReason, Verdict
from otel_processor.recording.alert_writer import AlertWriter
from otel_processor.recording.recorder import Recorder
from tests.integration import processes
from tests.integration.agents import agent, ask_model, call_tool, tool_attributes
from tests.integration.records import record, tool_record
from tests.integration.stored import eventually, rows, value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer

QUICK = 2.0


@pytest.fixture
def exporter(provider: TracerProvider, db: Path) -> Iterator[DuckDBSpanExporter]:
    """An exporter whose batch waits for a minute."""
    made = DuckDBSpanExporter(db)
    provider.add_span_processor(LoopSpanProcessor(on_alert=made.tell, on_reading=made.remember))
    provider.add_span_processor(BatchSpanProcessor(made, schedule_delay_millis=60_000))
    yield made
    made.shutdown()


@pytest.fixture
def tracer(provider: TracerProvider, exporter: DuckDBSpanExporter) -> Tracer:
    """Where the agent's spans come from."""
    return provider.get_tracer("agent")


def stored(db: Path, condition: str) -> bool:
    return (
        db.exists()
        and bool(rows(db, "select 1 from duckdb_tables() where table_name = 'alerts'"))
        and bool(rows(db, f"select 1 from alerts where {condition}"))
    )


def test_an_alert_does_not_wait_for_its_batch(tracer: Tracer, provider: TracerProvider, db: Path) -> None:
    with agent(tracer, "looper"):
        for _ in range(3):
            told = call_tool(tracer, "search", {"q": "x"}, "nothing")
        eventually(lambda: stored(db, "pattern = 'hard_loop'"), seconds=QUICK, what="the alert's row")
        assert value(db, "select count(*) from spans") == 0
        before = rows(db, "select * from alerts")
    assert provider.force_flush()
    after = rows(db, "select * exclude (resolved_at) from alerts")
    assert after == [row[:-1] for row in before]
    assert rows(db, "select span_id, task, agent, tool from alerts") == [(told, "looper", "looper", "search")]
    assert value(db, "select count(*) from spans") == 4


def test_an_alert_that_grows_graver_stays_one(tracer: Tracer, provider: TracerProvider, db: Path) -> None:
    """Four flat steps nudge, five say stop: one row, told again in place."""
    with agent(tracer):
        for number in range(5):
            call_tool(tracer, f"search_{number % 2}", {"q": number}, "the very same answer")
            if number == 4:
                break
            assert not stored(db, "action = 'stop'")
        eventually(lambda: stored(db, "pattern = 'no_progress'"), seconds=QUICK, what="the nudge")
        first = rows(db, "select alert_id, \"at\", span_id from alerts where pattern = 'no_progress'")
        for number in range(5, 8):
            call_tool(tracer, f"search_{number % 2}", {"q": number}, "the very same answer")
        eventually(lambda: stored(db, "pattern = 'no_progress' and action = 'stop'"), seconds=QUICK, what="the stop")
        assert rows(db, "select alert_id, \"at\", span_id from alerts where pattern = 'no_progress'") == first
    assert provider.force_flush()
    assert rows(db, "select alert_id, \"at\", span_id from alerts where pattern = 'no_progress'") == first
    assert rows(db, "select action, severity, stop_reason from alerts where pattern = 'no_progress'") == [
        ("stop", "critical", "loop_detected:no_progress")
    ]


def test_progress_resolves_and_a_second_loop_is_a_second_alert(tracer: Tracer, provider: TracerProvider, db: Path) -> None:
    """Both are stored at once, although nothing of the run is in the database yet."""
    with agent(tracer):
        for round_ in range(2):
            for _ in range(3):
                call_tool(tracer, "search", {"q": round_}, "nothing" if round_ == 0 else "still not a thing to be seen")
            wanted = f"(select count(*) from alerts where pattern = 'hard_loop') = {round_ + 1}"
            eventually(partial(stored, db, wanted), seconds=QUICK, what=f"alert {round_ + 1}")
            moved = call_tool(
                tracer, "read", {"page": round_}, f"a page full of news, number {round_} alpha{round_} beta{round_}"
            )
    assert provider.force_flush()
    assert value(db, "select count(*) from alerts where pattern = 'hard_loop'") == 2
    assert rows(db, "select resolved_at from alerts where pattern = 'hard_loop' order by \"at\"") == rows(
        db, "select ended_at from calls where tool = 'read' order by ended_at"
    )
    assert moved


def test_the_end_of_the_run_resolves(tracer: Tracer, provider: TracerProvider, db: Path) -> None:
    with agent(tracer):
        for _ in range(6):
            call_tool(tracer, "search", {"q": "x"}, "nothing")
        assert provider.force_flush()
        assert value(db, "select count(*) from alerts where resolved_at is null") == 2
    assert provider.force_flush()
    assert rows(db, "select distinct resolved_at from alerts") == rows(db, "select ended_at from runs")


def test_the_second_alert_is_stored_though_it_comes_without_the_live_path(db: Path) -> None:
    """Batch by batch, from another process: the alert of the second loop is not taken for the first."""
    writer = Recorder(db)
    for round_ in range(3):
        loop = [tool_record("search", {"q": round_}, f"nothing{round_}") for _ in range(3)]
        moved = tool_record("read", {"page": round_}, f"a page full of news gamma{round_} delta{round_} eps{round_}")
        assert writer.record([*loop, moved], timeout_seconds=5)
    assert value(db, "select count(*) from alerts where pattern = 'hard_loop'") == 3
    assert value(db, "select count(*) from alerts where resolved_at is null") == 0


def test_two_processes_that_see_one_loop_tell_it_once(db: Path) -> None:
    """The live path of each sees only its half and would open the alert at another span than the store does."""
    agent_span = record({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}, span="1" * 16, at=1, end=1 << 62)
    spans = [tool_record("search", {"q": 1}, "nothing", parent="1" * 16) for _ in range(8)]
    first, second = Recorder(db), Recorder(db)
    assert first.record(spans[0:8:2], timeout_seconds=5)
    assert second.tell([made_alert(spans[7], Pattern.HARD_LOOP)], timeout_seconds=5)
    assert second.record(spans[1:8:2], timeout_seconds=5)
    assert value(db, "select count(*) from alerts where pattern = 'hard_loop'") == 1
    assert first.record([agent_span], timeout_seconds=5)
    assert value(db, "select count(*) from alerts where pattern = 'hard_loop'") == 1
    assert value(db, "select count(*) from alerts where resolved_at is null") == 0


def test_an_alert_that_only_the_live_path_saw_is_over_with_its_run(db: Path) -> None:
    span = tool_record("search", {"q": 1}, "hit", parent="1" * 16)
    writer = Recorder(db)
    assert writer.tell([made_alert(span, Pattern.NO_PROGRESS)], timeout_seconds=5)
    root = record({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}, span="1" * 16)
    assert writer.record([span, root], timeout_seconds=5)
    assert value(db, "select count(*) from alerts where resolved_at is null") == 0


def test_an_alert_told_while_the_file_is_held_is_spooled(tracer: Tracer, provider: TracerProvider, db: Path) -> None:
    with processes.held(db):
        with agent(tracer):
            for _ in range(3):
                call_tool(tracer, "search", {"q": "x"}, "nothing")
        assert provider.force_flush()
    assert Recorder(db).record([], timeout_seconds=5)
    assert rows(db, "select pattern, count(*) from alerts group by all") == [("hard_loop", 1)]


def test_a_model_between_the_calls_changes_nothing(tracer: Tracer, provider: TracerProvider, db: Path) -> None:
    with agent(tracer):
        for _ in range(3):
            ask_model(tracer)
            call_tool(tracer, "search", {"q": "x"}, "nothing")
        eventually(lambda: stored(db, "pattern = 'hard_loop'"), seconds=QUICK, what="the alert's row")
    assert provider.force_flush()
    assert value(db, "select count(*) from alerts where pattern = 'hard_loop'") == 1


def test_an_alert_on_a_span_of_another_tracer_reaches_the_same_run(tracer: Tracer, provider: TracerProvider, db: Path) -> None:
    other = provider.get_tracer("tools")
    with agent(tracer):
        for number in range(3):
            with (other if number % 2 else tracer).start_as_current_span(
                "c", attributes=tool_attributes("search", {"q": 1}, "no")
            ):
                pass
    assert provider.force_flush()
    assert value(db, "select count(*) from alerts where pattern = 'hard_loop'") == 1


def test_the_writer_never_blocks_and_ends_in_time() -> None:
    """A store that hangs: what is beyond the bound is left to the batch, and closing gives up in time."""
    hang = threading.Event()
    got: list[Any] = []

    def write(alerts: Any) -> None:
        got.extend(alerts)
        hang.wait(30)

    writer = AlertWriter(write)
    alert = made_alert(tool_record("search"), Pattern.HARD_LOOP)
    started = time.monotonic()
    for _ in range(3_000):
        writer.put(alert)
    assert time.monotonic() - started < 2
    assert not writer.flush(0.05)
    writer.close(0.2)
    assert time.monotonic() - started < 5
    writer.put(alert)
    hang.set()
    eventually(lambda: len(got) >= 1_000, seconds=5, what="the queue's rest")


def made_alert(span: Any, pattern: Pattern) -> Alert:
    return Alert(
        alert_id=f"live-{span.span_id}",
        run_id=span.trace_id,
        trace_id=span.trace_id,
        span_id=span.span_id,
        at_ns=span.end_ns,
        task=None,
        agent=None,
        tool="search",
        verdict=Verdict(
            pattern=pattern,
            action=Action.NUDGE,
            stop_reason=StopReason.REPEATED_SIGNATURE,
            severity="warning",
            message="again",
            evidence={},
        ),
    )
