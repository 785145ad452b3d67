"""The demo's tasks leave the traces that they promise, told by pydantic-ai's own instrumentation."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import baggage
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

pytest.importorskip("pydantic_ai")

from otel_processor.demo.agent import run_task
from otel_processor.demo.tasks import TASKS, Task
from otel_processor.demo.tour import endless_mix

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import Span

BY_NAME = {task.name: task for task in TASKS}


class Declared(SpanProcessor):
    """Remembers what each span finds in baggage."""

    def __init__(self) -> None:
        self.found: list[dict[str, object]] = []

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        self.found.append(dict(baggage.get_all(parent_context)))


@dataclass
class Played:
    """A run as its spans tell it."""

    spans: tuple[ReadableSpan, ...]
    declared: list[dict[str, object]]
    answer: str | None

    def tools(self) -> list[tuple[str, dict[str, Any], str | None]]:
        """The tool calls in order: name, arguments, result."""
        found = []
        for span in self.spans:
            attributes = span.attributes or {}
            if attributes.get("gen_ai.operation.name") == "execute_tool":
                arguments = json.loads(str(attributes["gen_ai.tool.call.arguments"]))
                result = attributes.get("gen_ai.tool.call.result")
                found.append((str(attributes["gen_ai.tool.name"]), arguments, None if result is None else str(result)))
        return found

    def input_tokens(self) -> list[int]:
        """The input tokens of each model call in order."""
        return [
            int(str((span.attributes or {})["gen_ai.usage.input_tokens"]))
            for span in self.spans
            if (span.attributes or {}).get("gen_ai.operation.name") == "chat"
        ]

    @property
    def root(self) -> ReadableSpan:
        """The agent's span."""
        (root,) = [span for span in self.spans if span.parent is None]
        return root


def play(task: Task) -> Played:
    exporter, declared = InMemorySpanExporter(), Declared()
    provider = TracerProvider()
    provider.add_span_processor(declared)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    answer = None
    try:
        answer = asyncio.run(run_task(task, run_id="r1", random=Random(1), tracer_provider=provider, pace=0))
    except Exception:
        if not task.fails:
            raise
    provider.shutdown()
    return Played(exporter.get_finished_spans(), declared.found, answer)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_task_declares_itself(task: Task) -> None:
    """Run, task and type travel in baggage to every span of the run, which has the agent at its root."""
    played = play(task)
    expected = {"loop.run.id": "r1", "loop.task": task.name, "loop.task.type": task.task_type}
    assert all(found.items() >= expected.items() for found in played.declared)
    assert (played.root.attributes or {})["gen_ai.operation.name"] == "invoke_agent"
    assert (played.root.attributes or {})["gen_ai.agent.name"] == task.agent


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_task_ends_as_promised(task: Task) -> None:
    """With an answer, or with an exception that its span shows."""
    played = play(task)
    assert (played.answer is None) is task.fails
    assert played.root.status.is_ok is not task.fails


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_each_turn_costs_more_than_the_one_before(task: Task) -> None:
    """Input tokens grow with the history."""
    tokens = play(task).input_tokens()
    assert len(tokens) >= 3
    assert tokens == sorted(set(tokens))


def test_research_finds_new_things() -> None:
    """No call is repeated, and no result either."""
    tools = play(BY_NAME["compare-engines"]).tools()
    assert len({json.dumps(arguments) for _, arguments, _ in tools}) == len(tools) == 6
    assert len({result for _, _, result in tools}) == 6


def test_polling_asks_the_same_and_hears_something_else() -> None:
    """One call again and again; its answer moves, but for one honest pause."""
    tools = play(BY_NAME["watch-export"]).tools()
    assert {(name, json.dumps(arguments)) for name, arguments, _ in tools} == {("check_job_status", '{"job_id": "export-77"}')}
    assert len(tools) == 8
    assert len({result for _, _, result in tools}) == 7


def test_tests_are_run_after_every_edit() -> None:
    """Edit and test alternate until the tests pass."""
    tools = play(BY_NAME["fix-tests"]).tools()
    assert [name for name, _, _ in tools] == ["run_tests", *["edit_file", "run_tests"] * 3]
    assert len({json.dumps(arguments) for name, arguments, _ in tools if name == "edit_file"}) == 3
    assert "44 passed" in str(tools[-1][2])


def test_paging_goes_on_to_the_end() -> None:
    """Each page has another cursor and other orders."""
    tools = play(BY_NAME["export-orders"]).tools()
    assert [arguments["cursor"] for _, arguments, _ in tools] == [0, 5, 10, 15, 20, 25]
    assert len({result for _, _, result in tools}) == 6
    assert json.loads(str(tools[-1][2]))["next_cursor"] is None


def test_the_search_loops_until_the_limit() -> None:
    """The same question, the same nothing, as often as the limit allows."""
    tools = play(BY_NAME["find-churn-report"]).tools()
    assert len(tools) == 12
    assert len({(json.dumps(arguments), result) for _, arguments, result in tools}) == 1


def test_reading_in_circles_brings_nothing() -> None:
    """Always another page, always the same text: no call is repeated, and nothing is new."""
    tools = play(BY_NAME["read-article"]).tools()
    assert len({arguments["url"] for _, arguments, _ in tools}) == len(tools) == 10
    assert len({result for _, _, result in tools}) == 1


def test_publishing_fails() -> None:
    """The last tool raises, and has no result."""
    tools = play(BY_NAME["publish-report"]).tools()
    assert tools[-1][0] == "publish_report"
    assert tools[-1][2] is None


def test_the_invoice_is_found_after_a_loop() -> None:
    """Four times the same question, then a better one."""
    tools = play(BY_NAME["find-invoice"]).tools()
    assert len({json.dumps(arguments) for _, arguments, _ in tools[:4]}) == 1
    assert len({json.dumps(arguments) for _, arguments, _ in tools[3:]}) == 3


def test_the_mix_is_fair_and_the_same_each_time() -> None:
    """Every task comes once before any comes twice."""
    first, again = endless_mix(Random(3)), endless_mix(Random(3))
    names = [next(first).name for _ in range(2 * len(TASKS))]
    assert names == [next(again).name for _ in range(2 * len(TASKS))]
    assert set(names[: len(TASKS)]) == set(names[len(TASKS) :]) == set(BY_NAME)
