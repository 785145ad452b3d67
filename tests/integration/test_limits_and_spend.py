"""What a run uses, held against its limits and against what its task usually takes: live and in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.trace import TracerProvider

from otel_processor import Policy, instrument
from otel_processor.recording.recorder import Recorder
from tests.integration.agents import agent, ask_model, call_tool
from tests.integration.records import SECOND, record, tool_record
from tests.integration.stored import rows, value

if TYPE_CHECKING:
    from pathlib import Path

    from otel_processor.model import SpanRecord

PRICES = {"m-1": {"input": 1_000.0, "output": 10_000.0}}
"""US dollars for a million tokens: a turn of `ask_model` costs $0.2."""

DAY = 86_400 * SECOND
BEGIN = 1_760_000_000 * SECOND


def task_run(number: int, turns: int, *, at: int, task: str = "report", loops: bool = False) -> list[SpanRecord]:
    """A run of the task: so many model turns with a search each."""
    trace = f"{number:032x}"
    spans = []
    for turn in range(turns):
        begin = at + turn * SECOND
        where: dict[str, Any] = {"trace": trace, "parent": "f" * 16, "at": begin, "end": begin + SECOND // 2}
        model: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}
        model |= {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 1}
        spans.append(record(model, span=f"{turn:08x}{number:08x}", **where))
        asked = {"q": "same" if loops else f"{turn} {number}"}
        where |= {"at": where["end"], "end": where["end"] + SECOND // 4}
        answer = "none" if loops else f"fact {turn} of {number}"
        spans.append(tool_record("search", asked, answer, span=f"{turn:08x}a{number:07x}", **where))
    root = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": task}
    spans.append(record(root, trace=trace, span="f" * 16, at=at, end=at + (turns + 1) * SECOND))
    return spans


def test_a_run_far_above_the_healthy_history_of_its_task_is_told(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    recorder = Recorder(db)
    for number in range(1, 25):
        assert recorder.record(task_run(number, 3 + number % 2, at=BEGIN + number * 60 * SECOND), timeout_seconds=20)
    # One that looped for long is no measure of what the task takes; nor is another task.
    assert recorder.record(task_run(30, 200, at=BEGIN + 40 * 60 * SECOND, loops=True), timeout_seconds=20)
    assert recorder.record(task_run(31, 90, at=BEGIN, task="other"), timeout_seconds=20)
    assert rows(db, "select run_id from alerts where pattern = 'spend_spike'") == [(f"{30:032x}",)]
    assert recorder.record(task_run(40, 20, at=BEGIN + DAY), timeout_seconds=20)
    ((severity, action, reason, message, step),) = rows(
        db,
        "select a.severity, a.action, a.stop_reason, a.message, c.step from alerts a join calls c using (trace_id, span_id)"
        f" where pattern = 'spend_spike' and a.run_id = '{40:032x}'",
    )
    assert (severity, action, reason, step) == ("warning", "nudge", None, 13)
    assert message == "the run took 13 steps so far, 3.2 times what 95 of 100 runs of its task take at most"
    assert value(db, f"select flagged_reason from runs where run_id = '{40:032x}'") is None


def test_runs_of_which_no_step_is_stored_say_nothing_of_how_many_a_task_takes(tmp_path: Path) -> None:
    """Those of agents that only asked the guard: with 0 steps as the usual, each run with spans would be far above it."""
    db = tmp_path / "a.duckdb"
    recorder = Recorder(db)
    said = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "report", "gen_ai.usage.input_tokens": 300}
    asked = [
        record(said, trace=f"{number:032x}", service="otel_processor.guard", at=BEGIN + number * SECOND)
        for number in range(1, 31)
    ]
    assert recorder.record(asked, timeout_seconds=20)
    for number in (31, 32):
        assert recorder.record(task_run(number, 3, at=BEGIN), timeout_seconds=20)
    assert recorder.record(task_run(40, 5, at=BEGIN + DAY), timeout_seconds=20)
    assert rows(db, "select pattern, message from alerts") == []
    assert rows(db, "select runs, median_steps, max_steps from steps_per_task") == [(33, 3.0, 5)]


def test_too_few_runs_are_no_history(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    recorder = Recorder(db)
    for number in range(1, 19):
        recorder.record(task_run(number, 3, at=BEGIN + number * 60 * SECOND), timeout_seconds=20)
    recorder.record(task_run(40, 60, at=BEGIN + DAY), timeout_seconds=20)
    assert value(db, "select count(*) from alerts where pattern = 'spend_spike'") == 0


def test_a_run_that_spends_more_than_it_may_is_told_live_and_stored_once(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    provider = TracerProvider()
    made = instrument(db, policy=Policy(max_cost_usd=0.5, prices=PRICES), tracer_provider=provider)
    tracer = provider.get_tracer("t")
    with agent(tracer, "spender"):
        for number in range(4):
            ask_model(tracer)
            call_tool(tracer, "search", {"q": number}, f"fact {number}")
    assert made.force_flush()
    assert rows(db, "select pattern, stop_reason, message from alerts") == [
        ("limit", "max_cost_reached", "the run took $0.6; it may take 0.5")
    ]
    made.shutdown()


def test_imported_spans_are_held_against_the_same_limits(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    Recorder(db, Policy(max_cost_usd=0.25, max_tool_calls=4, prices=PRICES)).record(task_run(1, 6, at=BEGIN), timeout_seconds=20)
    assert rows(db, "select pattern, stop_reason from alerts") == [("limit", "max_cost_reached")]
