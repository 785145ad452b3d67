"""What other exporters of the process see of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import baggage, context, trace
from opentelemetry.sdk.trace import (
    ConcurrentMultiSpanProcessor,
    ReadableSpan,
    SpanLimits,
    SynchronousMultiSpanProcessor,
    TracerProvider,
)
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Decision, ParentBased, Sampler, SamplingResult, TraceIdRatioBased

from otel_processor import DuckDBSpanExporter, LoopSpanProcessor
from otel_processor.model import Action, Alert
from tests.integration.agents import agent, ask_model, call_tool, loop, tool_attributes, trace_id
from tests.integration.stored import rows, value

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIGNATURE = "dd462808b3957b77476e9a1cd85071179ef86b06fc21dfda5a5ad099e4fc8bcf"


class Watched:
    """A provider with our processor and an exporter on either side of it."""

    def __init__(self, **settings: Any) -> None:
        self.provider = TracerProvider(shutdown_on_exit=False, **settings)
        self.before, self.after = InMemorySpanExporter(), InMemorySpanExporter()
        self.alerts: list[Alert] = []
        self.processor = LoopSpanProcessor(on_alert=self.alerts.append)
        self.provider.add_span_processor(SimpleSpanProcessor(self.before))
        self.provider.add_span_processor(self.processor)
        self.provider.add_span_processor(SimpleSpanProcessor(self.after))
        self.tracer = self.provider.get_tracer("agent")

    def spans(self) -> list[ReadableSpan]:
        return list(self.after.get_finished_spans())

    def tools(self) -> list[dict[str, Any]]:
        return [tags(span) for span in self.spans() if tags(span).get("gen_ai.operation.name") == "execute_tool"]

    def root(self) -> dict[str, Any]:
        (only,) = [tags(span) for span in self.spans() if span.parent is None]
        return only


def tags(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


@pytest.mark.parametrize("multi", [SynchronousMultiSpanProcessor, ConcurrentMultiSpanProcessor])
def test_exporters_on_either_side_see_tags_and_alerts(multi: Callable[[], Any]) -> None:
    watched = Watched(active_span_processor=multi())
    loop(watched.tracer, 3)
    for exporter in (watched.before, watched.after):
        calls = [span for span in exporter.get_finished_spans() if span.name.startswith("execute_tool")]
        assert [tags(span)["loop.repeats"] for span in calls] == [1, 2, 3]
        assert [tags(span)["loop.flat_steps"] for span in calls] == [0, 1, 2]
        assert [tags(span)["loop.progress"] for span in calls] == [True, False, False]
        assert [tags(span)["loop.step"] for span in calls] == [1, 2, 3]
        assert {tags(span)["loop.signature"] for span in calls} == {SIGNATURE}
        assert len({tags(span)["loop.fingerprint"] for span in calls}) == 1
        assert {tags(span)["loop.run.id"] for span in calls} == {f"{calls[0].context.trace_id:032x}"}
        assert "loop.pattern" not in tags(calls[1])
        assert tags(calls[2])["loop.pattern"] == "hard_loop"
        assert tags(calls[2])["loop.verdict"] in set(Action) - {"continue"}
        assert [[event.name for event in span.events] for span in calls] == [[], [], ["loop.alert"]]
        told = dict(calls[2].events[0].attributes or {})
        assert told["alert_id"] == watched.alerts[0].alert_id
        assert told["pattern"] == "hard_loop"
        assert told["message"]
    watched.provider.shutdown()


def test_the_root_says_how_the_run_ended() -> None:
    watched = Watched()
    loop(watched.tracer, 1, name="support")
    assert watched.root()["loop.stop_reason"] == "completed"
    assert watched.root()["loop.task"] == "support"


def test_the_root_of_a_failed_run_says_error() -> None:
    watched = Watched()
    with pytest.raises(ValueError, match="gave up"), agent(watched.tracer):  # noqa: PT012 - the run is the point
        call_tool(watched.tracer, "search", {"q": "x"}, "nothing")
        raise ValueError("gave up")
    assert watched.root()["loop.stop_reason"] == "error"


def test_a_model_that_ran_out_of_tokens_ends_the_run_for_that_reason() -> None:
    watched = Watched()
    with agent(watched.tracer):
        ask_model(watched.tracer, finish="length")
    assert watched.root()["loop.stop_reason"] == "model_length"


def test_tools_of_one_model_answer_share_a_step() -> None:
    watched = Watched()
    with agent(watched.tracer):
        for turn in range(2):
            ask_model(watched.tracer, finish="tool_calls")
            call_tool(watched.tracer, "search", {"q": turn}, f"hits {turn}")
            call_tool(watched.tracer, "read", {"page": turn}, f"text {turn}")
    assert [call["loop.step"] for call in watched.tools()] == [1, 1, 2, 2]


def test_a_full_span_keeps_its_oldest_attribute_and_gets_the_tags() -> None:
    watched = Watched(span_limits=SpanLimits(max_span_attributes=128))
    with watched.tracer.start_as_current_span("call", attributes=tool_attributes("search", {"q": "x"}, "hit")) as span:
        for number in range(124):
            span.set_attribute(f"filler.{number}", number)
    (call,) = watched.tools()
    assert call["gen_ai.operation.name"] == "execute_tool"
    assert call["filler.123"] == 123
    assert call["loop.repeats"] == 1
    assert call["loop.progress"] is True


@pytest.mark.parametrize("by_environment", [True, False])
def test_a_result_that_the_sdk_cut_is_unknown(by_environment: bool, monkeypatch: pytest.MonkeyPatch, db: Path) -> None:
    limits = {}
    if by_environment:
        monkeypatch.setenv("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "40")
    else:
        limits["span_limits"] = SpanLimits(max_span_attribute_length=40)
    watched = Watched(**limits)
    watched.provider.add_span_processor(SimpleSpanProcessor(DuckDBSpanExporter(db)))
    with agent(watched.tracer):
        for number in range(5):
            call_tool(watched.tracer, "read", {"page": "p"}, f"{'the same beginning ' * 5} and another end {number}")
        call_tool(watched.tracer, "read", {"page": "p"}, "short")
    assert ["loop.progress" in call for call in watched.tools()] == [False] * 5 + [True]
    assert "loop.fingerprint" not in watched.tools()[0]
    watched.provider.shutdown()
    assert [row[0] for row in rows(db, "select progress from calls where kind = 'tool' order by ended_at")] == [None] * 5 + [True]


def test_a_call_without_a_recorded_result_is_neither_flat_nor_progress() -> None:
    watched = Watched()
    with agent(watched.tracer):
        call_tool(watched.tracer, "search", {"q": "x"})
    (call,) = watched.tools()
    assert "loop.progress" not in call
    assert "loop.fingerprint" not in call
    assert call["loop.signature"]


def test_what_baggage_declares_is_written_on_every_span(db: Path) -> None:
    watched = Watched()
    watched.provider.add_span_processor(SimpleSpanProcessor(DuckDBSpanExporter(db)))
    carried = baggage.set_baggage("loop.run.id", "order-7")
    carried = baggage.set_baggage("loop.task", "refund", carried)
    carried = baggage.set_baggage("loop.task.type", "research", carried)
    token = context.attach(carried)
    try:
        loop(watched.tracer, 2)
    finally:
        context.detach(token)
    for span in watched.spans():
        assert tags(span)["loop.run.id"] == "order-7"
        assert tags(span)["loop.task"] == "refund"
        assert tags(span)["loop.task.type"] == "research"
    watched.provider.shutdown()
    assert rows(db, "select run_id, task, task_type, steps from runs") == [("order-7", "refund", "research", 2)]


def test_a_declared_run_goes_on_in_the_next_trace(db: Path) -> None:
    watched = Watched()
    watched.provider.add_span_processor(SimpleSpanProcessor(DuckDBSpanExporter(db)))
    for _ in range(3):
        with agent(watched.tracer, "turns", more={"loop.run.id": "chat-1"}):
            call_tool(watched.tracer, "search", {"q": "x"}, "nothing found")
    assert [call["loop.repeats"] for call in watched.tools()] == [1, 2, 3]
    assert [alert.run_id for alert in watched.alerts] == ["chat-1"]
    watched.provider.shutdown()
    assert rows(db, "select repeats, flat_steps from calls order by ended_at") == [(1, 0), (2, 1), (3, 2)]
    assert value(db, "select count(*) from runs") == 1


def test_an_unsampled_trace_costs_nothing_and_breaks_nothing(db: Path) -> None:
    watched = Watched(sampler=ParentBased(TraceIdRatioBased(0)))
    watched.provider.add_span_processor(SimpleSpanProcessor(DuckDBSpanExporter(db)))
    loop(watched.tracer, 4)
    watched.provider.shutdown()
    assert watched.spans() == []
    assert watched.alerts == []
    assert not db.exists()


class RecordOnly(Sampler):
    """Records every span and samples none."""

    def should_sample(
        self, parent_context: Any, trace_id: int, name: str, kind: Any = None, attributes: Any = None, *rest: Any, **more: Any
    ) -> SamplingResult:
        return SamplingResult(Decision.RECORD_ONLY, attributes)

    def get_description(self) -> str:
        return "RecordOnly"


def test_recorded_but_unsampled_spans_are_judged() -> None:
    watched = Watched(sampler=RecordOnly())
    loop(watched.tracer, 3)
    assert watched.spans() == []
    assert [alert.verdict.pattern for alert in watched.alerts] == ["hard_loop"]


def test_a_span_that_began_before_the_processor_was_there_is_tagged() -> None:
    provider = TracerProvider(shutdown_on_exit=False, sampler=ALWAYS_ON)
    seen = InMemorySpanExporter()
    tracer = provider.get_tracer("agent")
    root = tracer.start_span(
        "invoke_agent early", attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "early"}
    )
    with trace.use_span(root, end_on_exit=True):
        call = tracer.start_span("execute_tool search", attributes=tool_attributes("search", {"q": "x"}, "hit"))
        provider.add_span_processor(LoopSpanProcessor())
        provider.add_span_processor(SimpleSpanProcessor(seen))
        call.end()
    by_name = {span.name: tags(span) for span in seen.get_finished_spans()}
    assert by_name["execute_tool search"]["loop.repeats"] == 1
    assert by_name["invoke_agent early"]["loop.stop_reason"] == "completed"


def test_a_child_that_ends_after_its_parent_is_tagged_and_stored(db: Path) -> None:
    watched = Watched()
    watched.provider.add_span_processor(SimpleSpanProcessor(DuckDBSpanExporter(db)))
    with agent(watched.tracer, "parent") as root:
        late = watched.tracer.start_span("execute_tool slow", attributes=tool_attributes("slow", {"q": "x"}, "hit"))
    late.end()
    assert watched.tools()[0]["loop.run.id"] == trace_id(root)
    watched.provider.shutdown()
    assert rows(db, "select agent, step, progress from calls") == [("parent", 1, True)]
    assert rows(db, "select status, stop_reason from runs") == [("ok", "completed")]


def test_a_failure_noted_after_a_child_ended_counts(db: Path) -> None:
    """The call's span was read while it was open; its status changes without a new attribute."""
    watched = Watched()
    exporter = DuckDBSpanExporter(db)
    watched.provider.add_span_processor(LoopSpanProcessor(on_reading=exporter.remember))
    watched.provider.add_span_processor(SimpleSpanProcessor(exporter))
    attributes = tool_attributes("delegate", {"q": "x"}, "pending")
    with (  # noqa: PT012 - the spans end inside
        agent(watched.tracer),
        pytest.raises(TimeoutError),
        watched.tracer.start_as_current_span("execute_tool delegate", attributes=attributes) as span,
    ):
        call_tool(watched.tracer, "search", {"q": "y"}, "hit")
        span.set_attribute("gen_ai.tool.call.result", "changed in place")
        raise TimeoutError("too slow")
    watched.provider.shutdown()
    assert rows(db, "select is_error, result from calls where tool = 'delegate'") == [(True, "changed in place")]


def test_our_tags_on_an_arriving_span_are_no_evidence() -> None:
    watched = Watched()
    forged = {"loop.progress": True, "loop.repeats": 9, "loop.flat_steps": 7, "loop.signature": "00"}
    with agent(watched.tracer):
        for _ in range(2):
            call_tool(watched.tracer, "search", {"q": "x"}, "nothing", more=forged)
    assert [call["loop.repeats"] for call in watched.tools()] == [1, 2]
    assert [call["loop.progress"] for call in watched.tools()] == [True, False]
    assert len(watched.tools()[0]["loop.signature"]) == 64


def test_a_call_told_by_a_client_and_a_server_span_counts_once() -> None:
    watched = Watched()
    with agent(watched.tracer):
        for _ in range(2):
            client = tool_attributes("search", {"q": "cats"})
            with (
                watched.tracer.start_as_current_span("tools/call search", attributes=client) as outer,
                watched.tracer.start_as_current_span("transport"),
            ):
                call_tool(watched.tracer, "search", {"q": "cats"}, "nothing")
                outer.set_attribute("gen_ai.tool.call.result", "nothing")
    assert watched.alerts == []
    assert [call["loop.repeats"] for call in watched.tools() if "loop.repeats" in call] == [1, 2]


def test_a_call_told_by_two_spans_side_by_side_counts_once_when_its_id_says_so() -> None:
    watched = Watched()
    with agent(watched.tracer):
        for number in range(2):
            more = {"gen_ai.tool.call.id": f"call-{number}"}
            other = watched.tracer.start_span("search", attributes=tool_attributes("search", {"q": "cats"}, "nothing", more))
            call_tool(watched.tracer, "search", {"q": "cats"}, "nothing", more=more)
            other.end()
    assert watched.alerts == []
    assert [call["loop.repeats"] for call in watched.tools() if "loop.repeats" in call] == [1, 2]


def test_a_tool_that_calls_itself_through_a_sub_agent_is_not_told_twice() -> None:
    watched = Watched()
    with agent(watched.tracer):
        attributes = tool_attributes("delegate", {"to": "helper"})
        with (
            watched.tracer.start_as_current_span("execute_tool delegate", attributes=attributes),
            agent(watched.tracer, "helper"),
        ):
            call_tool(watched.tracer, "delegate", {"to": "nobody"}, "refused")
    assert sum("loop.signature" in call for call in watched.tools()) == 2
