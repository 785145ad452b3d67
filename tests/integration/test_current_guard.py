"""The guard of the run that the current span belongs to, and guards of one's own inside an instrumented process."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_processor import LoopGuard, LoopSpanProcessor, Policy, current_guard, instrument
from tests.integration.agents import agent, ask_model, call_tool, tool_attributes, trace_id
from tests.integration.stored import rows

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

ORDER = {"order_id": "demo-001"}
GO, NUDGE, STOP = "continue", "nudge", "stop"


@pytest.fixture
def seen(provider: TracerProvider) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter


def root_of(seen: InMemorySpanExporter) -> dict[str, Any]:
    return dict(seen.get_finished_spans()[-1].attributes or {})


def test_without_a_run_there_is_a_guard_that_lets_everything_be(provider: TracerProvider) -> None:
    guard = current_guard()
    for _ in range(9):
        assert guard.on_step().action == GO
        assert guard.before_tool("lookup", ORDER).advised == GO
        assert guard.after_tool("nothing").advised == GO
        assert guard.run_tool("lookup", ORDER, lambda order_id: order_id) == "demo-001"
    guard.mark_progress("x")
    guard.hand_over()
    guard.raise_if_stopped()
    with provider.get_tracer("agent").start_as_current_span("nobody watches"):
        assert current_guard().before_tool("lookup", ORDER).advised == GO


@pytest.mark.parametrize(
    ("mode", "said"),
    [("enforce", [GO, GO, NUDGE, NUDGE, STOP, STOP]), ("nudge", [GO, GO] + [NUDGE] * 4), ("observe", [GO] * 6)],
)
def test_calls_are_counted_by_their_spans_and_asked_about_here(
    mode: str, said: list[str], provider: TracerProvider, seen: InMemorySpanExporter
) -> None:
    """Where a tool's span says nothing when it starts, the agent's code asks; what it tells is not counted again."""
    provider.add_span_processor(LoopSpanProcessor(mode=mode))
    tracer, answers = provider.get_tracer("agent"), []
    with agent(tracer, "clerk"):
        for _ in range(6):
            ask_model(tracer)
            guard = current_guard()
            guard.on_step()
            answer = guard.before_tool("lookup", ORDER)
            answers.append(str(answer.action))
            if answer.allows_call:
                with tracer.start_as_current_span("execute_tool lookup") as span:
                    span.set_attributes(tool_attributes("lookup", ORDER, "nothing"))
                guard.after_tool("nothing")
        report = current_guard().report()
    assert answers == said
    assert report.tool_calls == said.count(GO)
    assert root_of(seen)["loop.stop_reason"] == ("completed" if mode != "enforce" else "loop_detected:repeated_tool_signature")


def test_a_run_that_a_guard_of_its_own_stopped_is_flagged_though_its_spans_show_no_loop(
    provider: TracerProvider, db: Path
) -> None:
    installed = instrument(db, tracer_provider=provider)
    tracer = provider.get_tracer("agent")
    with agent(tracer, "clerk"), LoopGuard(mode="enforce") as guard:
        while not guard.stopped:
            guard.on_step()
            answer = guard.before_tool("lookup", ORDER)
            if answer.allows_call:
                call_tool(tracer, "lookup", ORDER, "nothing")
                guard.after_tool("nothing")
    assert installed.force_flush()
    looped = "loop_detected:repeated_tool_signature"
    assert rows(db, "select tool_calls, stop_reason, flagged_reason from runs") == [(2, looped, looped)]


def test_threads_of_a_run_share_its_guard(provider: TracerProvider) -> None:
    from opentelemetry import context

    provider.add_span_processor(LoopSpanProcessor(mode="nudge"))
    tracer, answers = provider.get_tracer("agent"), []

    def work(parent: Any) -> None:
        token = context.attach(parent)
        answers.append(str(current_guard().before_tool("lookup", ORDER).action))
        context.detach(token)

    with agent(tracer, "clerk"):
        for _ in range(2):
            call_tool(tracer, "lookup", ORDER, "nothing")
        thread = threading.Thread(target=work, args=(context.get_current(),))
        thread.start()
        thread.join()
    assert answers == [NUDGE]


def test_what_the_agent_declares_goes_on_the_span(provider: TracerProvider, seen: InMemorySpanExporter) -> None:
    provider.add_span_processor(LoopSpanProcessor(mode="enforce"))
    tracer = provider.get_tracer("agent")
    with agent(tracer, "clerk"):
        for number in range(6):
            with tracer.start_as_current_span(
                "execute_tool run_tests",
                attributes={
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "run_tests",
                    "gen_ai.tool.call.arguments": "{}",
                    "gen_ai.tool.call.result": "2 failed",
                },
            ):
                current_guard().mark_progress(f"tests passed: {number}")
        current_guard().hand_over("needs approval")
    *calls, root = [dict(span.attributes or {}) for span in seen.get_finished_spans()]
    assert [call["loop.progress"] for call in calls] == [True] * 6
    assert root["loop.stop_reason"] == "handed_to_human"


def test_a_guard_of_ones_own_says_on_the_root_why_it_stopped(provider: TracerProvider, seen: InMemorySpanExporter) -> None:
    provider.add_span_processor(LoopSpanProcessor())
    tracer = provider.get_tracer("agent")
    with agent(tracer, "clerk") as root, tracer.start_as_current_span("plan"):
        guard = LoopGuard(Policy.preset("bounded_calls"), mode="enforce")
        assert guard.run_id == trace_id(root)
        with guard:
            assert current_guard() is guard
            for number in range(9):
                if not guard.before_tool("lookup", {"order_id": number}).allows_call:
                    break
                call_tool(tracer, "lookup", {"order_id": number}, f"order {number} is on its way")
                guard.after_tool(f"order {number} is on its way")
        assert current_guard() is not guard
    assert root_of(seen)["loop.stop_reason"] == "max_steps_reached"
    assert guard.report().tool_calls == 8


def test_alerts_of_a_watched_run_go_where_its_processor_tells_them(provider: TracerProvider, db: Path) -> None:
    installed = instrument(db, tracer_provider=provider, mode="enforce")
    tracer = provider.get_tracer("agent")
    with agent(tracer, "clerk"):
        for _ in range(2):
            call_tool(tracer, "lookup", ORDER, "nothing")
        for _ in range(3):
            current_guard().skip_tool(current_guard().before_tool("lookup", ORDER))
        assert installed.force_flush()
        assert rows(db, "select pattern, action, resolved_at is null from alerts") == [("hard_loop", "stop", True)]
    assert installed.force_flush()
    assert rows(db, "select pattern, action from alerts") == [("hard_loop", "stop")]


@pytest.mark.parametrize("says_it_is_a_tool", ["at its start", "before it ends", "never"])
def test_a_call_that_is_refused_inside_its_own_span_is_one_failure(
    says_it_is_a_tool: str, provider: TracerProvider, seen: InMemorySpanExporter
) -> None:
    """Hooks of some frameworks run inside the tool's span, which then ends with what the hook answered."""
    provider.add_span_processor(LoopSpanProcessor(mode="nudge"))
    tracer, answers = provider.get_tracer("agent"), []
    with agent(tracer, "clerk"):
        for _ in range(2):
            call_tool(tracer, "lookup", ORDER, "nothing")
        for _ in range(4):
            at_start = tool_attributes("lookup") if says_it_is_a_tool == "at its start" else {}
            with tracer.start_as_current_span("running tool lookup", attributes=at_start) as span:
                answer = current_guard().before_tool("lookup", ORDER)
                answers.append(str(answer.advised))
                current_guard().skip_tool(answer)
                if says_it_is_a_tool != "never":
                    span.set_attributes(tool_attributes("lookup", ORDER, answer.message))
        report = current_guard().report()
    assert answers == [NUDGE, NUDGE, STOP, STOP]
    assert (report.tool_calls, report.refused_calls) == (2, 4)
