"""Without a line of code: a tool's span that is held against the run does not start."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Status, StatusCode

from otel_processor import ConfigError, LoopDetected, LoopNudge, LoopSpanProcessor, Policy, bug_reports, instrument
from otel_processor.detection.run_state import RunState
from tests.integration.agents import agent, ask_model, call_tool, tool_attributes
from tests.integration.stored import rows, value

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.trace import Tracer

ORDER = {"order_id": "demo-001"}


@pytest.fixture
def seen(provider: TracerProvider) -> InMemorySpanExporter:
    """What an exporter sees that was added before the span processor."""
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter


def looks_up(tracer: Tracer, ran: list[str], **arguments: Any) -> None:
    """A tool whose span has its arguments from the start, as some writers give them."""
    with tracer.start_as_current_span("execute_tool lookup", attributes=tool_attributes("lookup", arguments)) as span:
        ran.append(str(arguments))
        span.set_attribute("gen_ai.tool.call.result", "not found")


def keeps_looking(tracer: Tracer, ran: list[str], times: int = 9) -> None:
    """An agent that makes the same call again and again and catches nothing."""
    with agent(tracer, "clerk"):
        for _ in range(times):
            looks_up(tracer, ran, **ORDER)


def keeps_looking_inside(tracer: Tracer) -> None:
    """What such an agent does."""
    for _ in range(3):
        looks_up(tracer, [], **ORDER)


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_the_third_equal_call_does_not_run_and_the_run_ends_where_nobody_catches(
    provider: TracerProvider, seen: InMemorySpanExporter
) -> None:
    processor = LoopSpanProcessor(mode="enforce")
    provider.add_span_processor(processor)
    tracer, ran = provider.get_tracer("agent"), list[str]()
    with pytest.raises(LoopNudge, match="loop_detected:repeated_tool_signature: lookup was called"):
        keeps_looking(tracer, ran)
    assert len(ran) == 2
    *calls, root = seen.get_finished_spans()
    assert [span.status.status_code.name for span in calls] == ["UNSET", "UNSET", "ERROR"]
    (refused,) = [event for event in calls[-1].events if event.name == "loop.refused"]
    assert dict(refused.attributes or {})["pattern"] == "hard_loop"
    assert dict(refused.attributes or {})["action"] == "nudge"
    assert attributes(calls[-1])["error.type"] == "LoopNudge"
    assert attributes(calls[-1])["loop.repeats"] == 3
    assert attributes(root)["loop.stop_reason"] == "loop_detected:repeated_tool_signature"
    assert attributes(root)["loop.stop_reason.declared"] == "loop_detected:repeated_tool_signature"
    assert len(processor._live._spans) == 0


@pytest.mark.parametrize(("goes_on", "reason"), [(False, "loop_detected:repeated_tool_signature"), (True, "error")])
def test_a_root_that_fails_right_after_a_refusal_was_ended_by_it(
    goes_on: bool, reason: str, provider: TracerProvider, seen: InMemorySpanExporter
) -> None:
    """Some writers say that a run failed and not by what."""
    provider.add_span_processor(LoopSpanProcessor(mode="enforce"))
    tracer = provider.get_tracer("agent")
    with agent(tracer, "clerk") as root:
        with pytest.raises(LoopNudge):
            keeps_looking_inside(tracer)
        if goes_on:
            ask_model(tracer)
        root.set_status(Status(StatusCode.ERROR, "run status: error"))
    assert attributes(seen.get_finished_spans()[-1])["loop.stop_reason"] == reason


def test_a_framework_that_hands_the_exception_to_the_model_is_nudged_and_then_stopped(
    provider: TracerProvider, seen: InMemorySpanExporter
) -> None:
    told = []
    provider.add_span_processor(LoopSpanProcessor(mode="enforce", on_alert=lambda alert: told.append(alert.verdict.message)))
    tracer, ran, said = provider.get_tracer("agent"), list[str](), list[type]()
    with agent(tracer, "clerk"):
        for _ in range(6):
            ask_model(tracer)
            try:
                looks_up(tracer, ran, **ORDER)
            except LoopDetected as error:
                said.append(type(error))
    assert said == [LoopNudge, LoopNudge, LoopDetected, LoopDetected]
    assert len(ran) == 2
    assert [message for message in told if message.startswith("the guard stopped the run")]
    root = seen.get_finished_spans()[-1]
    assert attributes(root)["loop.stop_reason"] == "loop_detected:repeated_tool_signature"


def test_a_run_that_takes_the_hint_completes(provider: TracerProvider, seen: InMemorySpanExporter) -> None:
    provider.add_span_processor(LoopSpanProcessor(mode="enforce"))
    tracer, ran = provider.get_tracer("agent"), list[str]()
    with agent(tracer, "clerk"):
        for _ in range(2):
            looks_up(tracer, ran, **ORDER)
        with pytest.raises(LoopNudge):
            looks_up(tracer, ran, **ORDER)
        call_tool(tracer, "search_mail", {"q": "order"}, "the order was renamed to demo-002 last Monday")
        looks_up(tracer, ran, order_id="demo-002")
    root = seen.get_finished_spans()[-1]
    assert attributes(root)["loop.stop_reason"] == "completed"
    assert len(ran) == 3


def test_a_limit_stops_also_where_arguments_are_not_visible(provider: TracerProvider, seen: InMemorySpanExporter) -> None:
    provider.add_span_processor(LoopSpanProcessor(Policy(max_tool_calls=2), mode="enforce"))
    tracer = provider.get_tracer("agent")

    def looks_at_orders() -> None:
        with agent(tracer, "clerk"):
            for number in range(5):
                call_tool(tracer, "lookup", None, f"order {number}")

    with pytest.raises(LoopDetected, match="max_tool_calls_reached") as raised:
        looks_at_orders()
    assert not isinstance(raised.value, LoopNudge)
    assert attributes(seen.get_finished_spans()[-1])["loop.stop_reason"] == "max_tool_calls_reached"


def test_runs_side_by_side_are_judged_each_by_itself(provider: TracerProvider, seen: InMemorySpanExporter) -> None:
    provider.add_span_processor(LoopSpanProcessor(mode="enforce"))
    tracer = provider.get_tracer("agent")

    async def run(name: str, times: int) -> str:
        ran: list[str] = []
        try:
            with agent(tracer, name):
                for _ in range(times):
                    looks_up(tracer, ran, **ORDER)
                    await asyncio.sleep(0)
        except LoopDetected:
            return f"{name} stopped after {len(ran)}"
        return f"{name} made {len(ran)}"

    async def all_of_them() -> list[str]:
        return list(await asyncio.gather(run("ann", 2), run("bob", 5), run("cid", 2)))

    assert asyncio.run(all_of_them()) == ["ann made 2", "bob stopped after 2", "cid made 2"]


@pytest.mark.parametrize("mode", [None, "observe", "nudge"])
def test_nothing_is_raised_in_the_other_modes(mode: str | None, provider: TracerProvider, seen: InMemorySpanExporter) -> None:
    provider.add_span_processor(LoopSpanProcessor(Policy(max_tool_calls=3), mode=mode))
    tracer, ran = provider.get_tracer("agent"), list[str]()
    with agent(tracer, "clerk"):
        for _ in range(9):
            looks_up(tracer, ran, **ORDER)
    assert len(ran) == 9
    assert "completed" in attributes(seen.get_finished_spans()[-1])["loop.stop_reason"]


def test_what_was_refused_is_stored_as_a_call_that_failed(provider: TracerProvider, db: Path) -> None:
    installed = instrument(db, tracer_provider=provider, mode="enforce")
    tracer, ran = provider.get_tracer("agent"), list[str]()
    with pytest.raises(LoopNudge):
        keeps_looking(tracer, ran)
    assert installed.force_flush()
    assert rows(db, "select repeats, is_error from calls where kind = 'tool' order by ended_at") == [
        (1, False),
        (2, False),
        (3, True),
    ]
    assert value(db, "select flagged_reason from runs") == "loop_detected:repeated_tool_signature"
    # The live path and the recorder tell the same alert; what was refused did not fail each time.
    assert rows(db, "select message from alerts where pattern = 'hard_loop'") == [
        (f"{value(db, 'select min(tool) from calls')} was called 3 times with the same arguments and nothing new came back",)
    ]


def fail(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError("a bug of ours")


@pytest.mark.parametrize("broken", ["ask", "observe"])
def test_a_bug_of_ours_stops_no_tool(
    broken: str,
    provider: TracerProvider,
    seen: InMemorySpanExporter,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bug_reports, "_reported", {})
    monkeypatch.setattr(RunState, broken, fail)
    provider.add_span_processor(LoopSpanProcessor(mode="enforce"))
    tracer, ran = provider.get_tracer("agent"), list[str]()
    with caplog.at_level(logging.ERROR), agent(tracer, "clerk"):
        for _ in range(5):
            looks_up(tracer, ran, **ORDER)
    assert len(ran) == 5
    assert len(seen.get_finished_spans()) == 6
    places = [record.getMessage() for record in caplog.records]
    assert len(places) == len(set(places)) > 0


def test_an_exporter_that_fails_does_not_let_the_call_through(provider: TracerProvider) -> None:
    class Broken(InMemorySpanExporter):
        def export(self, spans: Any) -> NoReturn:
            raise RuntimeError("somebody else's bug")

    provider.add_span_processor(LoopSpanProcessor(Policy(max_tool_calls=1), mode="enforce"))
    provider.add_span_processor(SimpleSpanProcessor(Broken()))
    tracer, ran = provider.get_tracer("agent"), list[str]()
    with pytest.raises(LoopDetected):
        keeps_looking(tracer, ran)
    assert len(ran) == 1


def test_a_wrong_mode_is_said_at_once(monkeypatch: pytest.MonkeyPatch, provider: TracerProvider, db: Path) -> None:
    with pytest.raises(ConfigError, match="use one of observe, nudge, enforce"):
        LoopSpanProcessor(mode="block")
    with pytest.raises(ConfigError, match="use one of observe, nudge, enforce"):
        instrument(db, tracer_provider=provider, mode="block")
    monkeypatch.setenv("OTEL_PROCESSOR_MODE", "block")
    with pytest.raises(ConfigError, match="OTEL_PROCESSOR_MODE"):
        LoopSpanProcessor()
