"""What the processor remembers has a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from opentelemetry import trace

from otel_processor import LoopSpanProcessor
from otel_processor.processor import live_runs
from tests.integration.agents import agent, call_tool, tool_attributes

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider


@pytest.fixture
def processor(provider: TracerProvider, monkeypatch: pytest.MonkeyPatch) -> LoopSpanProcessor:
    """A processor that remembers little."""
    monkeypatch.setattr(live_runs, "OPEN_SPANS", 50)
    monkeypatch.setattr(live_runs, "LIVE_RUNS", 20)
    monkeypatch.setattr(live_runs, "_CALL_IDS", 5)
    made = LoopSpanProcessor()
    provider.add_span_processor(made)
    return made


def test_spans_that_never_end_are_forgotten(provider: TracerProvider, processor: LoopSpanProcessor) -> None:
    tracer = provider.get_tracer("agent")
    never_ended = [tracer.start_span("call", attributes=tool_attributes("search")) for _ in range(300)]
    assert len(processor._live._spans) == 50
    for span in never_ended:
        span.end()
    assert len(processor._live._spans) == 0
    assert len(processor._live._runs) <= 20


def test_calls_without_a_root_do_not_pile_up(provider: TracerProvider, processor: LoopSpanProcessor) -> None:
    tracer = provider.get_tracer("agent")
    for _ in range(100):
        call_tool(tracer, "search", {"q": "x"}, "hit", context=trace.set_span_in_context(trace.INVALID_SPAN))
    assert len(processor._live._runs) <= 20


def test_finished_runs_are_let_go(provider: TracerProvider, processor: LoopSpanProcessor) -> None:
    tracer = provider.get_tracer("agent")
    for _ in range(5):
        with agent(tracer):
            call_tool(tracer, "search", {"q": "x"}, "hit")
    assert len(processor._live._runs) == 0


def test_a_long_conversation_keeps_few_call_ids(provider: TracerProvider, processor: LoopSpanProcessor) -> None:
    tracer = provider.get_tracer("agent")
    for number in range(40):
        more = {"gen_ai.conversation.id": "c-1", "gen_ai.tool.call.id": f"call-{number}"}
        call_tool(tracer, "search", {"q": number}, f"hit {number}", more=more)
    (run,) = processor._live._runs.values()
    assert 0 < len(run.by_call_id) <= 5


def test_a_span_with_many_calls_inside_remembers_few(provider: TracerProvider, processor: LoopSpanProcessor) -> None:
    tracer = provider.get_tracer("agent")
    with tracer.start_as_current_span("execute_tool outer", attributes=tool_attributes("outer")) as outer:
        for number in range(100):
            call_tool(tracer, "search", {"q": number}, f"hit {number}")
        inside = processor._live._spans.get(outer.get_span_context().span_id)
        assert inside is not None
        assert inside.inside is not None
        assert len(inside.inside) <= 16
