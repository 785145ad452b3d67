"""What becomes of agents whose tool spans do not start, where nobody asks a guard: the rows of `docs/enforcement.md`.

Each of these writers gives a tool's span its arguments when it starts.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import trace

from otel_processor import LoopGuard, instrument
from tests.frameworks.desk import LOOPED, NUDGE, ORDER, Desk, needs
from tests.integration.stored import rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

pytestmark = pytest.mark.frameworks

HEALTHY = [("lookup_order", ORDER), *(("search_mail", {"query": query}) for query in ("invoice", "May", "supplier"))]


def calls(script: str) -> Iterator[Any]:
    """The calls that a model makes, and None when it has its answer."""
    return itertools.cycle([("lookup_order", ORDER)]) if script == "stubborn" else iter([*HEALTHY, *[None] * 3])


def refused(db: Path) -> list[tuple[Any, ...]]:
    """How often each tool span of the looping run was a repeat, and whether it was refused."""
    return rows(db, "select repeats, is_error from calls where kind = 'tool' order by ended_at")


class TestAgentFramework:
    """Its own writer, with sensitive data enabled: a tool's exception is a result, three of them in a row are an end."""

    @pytest.fixture(autouse=True)
    def spans(self, provider: TracerProvider, monkeypatch: pytest.MonkeyPatch) -> None:
        needs("agent_framework")
        from agent_framework import observability

        monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
        observability.enable_instrumentation(enable_sensitive_data=True)

    def ask(self, desk: Desk, script: str, *, detailed: bool = False) -> tuple[str, list[Any]]:
        import agent_framework as af
        from agent_framework.observability import ChatTelemetryLayer

        said, given = calls(script), list[Any]()

        class Client(af.FunctionInvocationLayer, af.ChatMiddlewareLayer, ChatTelemetryLayer, af.BaseChatClient):
            def _inner_get_response(self, *, messages: Any, stream: Any, options: Any, **_: Any) -> Any:
                async def answer() -> Any:
                    given.extend(content for content in messages[-1].contents if content.type == "function_result")
                    call = next(said) if options.get("tool_choice") != "none" else None
                    contents = (
                        ["done"]
                        if call is None
                        else [af.Content.from_function_call(f"c{len(given)}", call[0], arguments=call[1])]
                    )
                    return af.ChatResponse(messages=[af.Message("assistant", contents)])

                return answer()

        client = Client(function_invocation_configuration={"include_detailed_errors": detailed})
        agent = af.Agent(client=client, name="clerk", tools=[desk.lookup_order, desk.search_mail])
        return asyncio.run(agent.run("Where is the order?")).text, given

    def test_it_gives_up_after_three_refusals(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        said, given = self.ask(desk, "stubborn")
        assert installed.force_flush()
        assert said == "done"
        assert len(desk.ran) == 2
        assert [content.result for content in given] == ["not found"] * 2 + ["Error: Function failed."] * 3
        assert refused(db) == [(1, False), (2, False), (3, True), (4, True), (5, True)]
        assert rows(db, "select stop_reason from runs") == [(LOOPED,)]

    def test_the_model_reads_why_where_errors_are_detailed(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        instrument(db, tracer_provider=provider, mode="enforce")
        _, given = self.ask(desk, "stubborn", detailed=True)
        assert NUDGE in given[2].result

    def test_a_healthy_run_is_let_be(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        assert self.ask(desk, "healthy")[0] == "done"
        assert installed.force_flush()
        assert rows(db, "select stop_reason, tool_calls from runs") == [("completed", 4)]


class TestSmolagents:
    """OpenInference's writer: what is raised is an error that the model reads; the tools stay shut until `max_steps`."""

    @pytest.fixture(autouse=True)
    def spans(self, provider: TracerProvider) -> Iterator[None]:
        needs("smolagents")
        from openinference.instrumentation.smolagents import SmolagentsInstrumentor

        SmolagentsInstrumentor().instrument(tracer_provider=provider)
        yield
        SmolagentsInstrumentor().uninstrument()

    def ask(self, desk: Desk, script: str, *, code: bool) -> tuple[str, list[Any]]:
        import smolagents
        from smolagents import models

        said = calls(script)

        class Model(models.Model):
            def generate(self, *_: Any, **__: Any) -> Any:
                name, arguments = next(said) or ("final_answer", {"answer": "done"})
                if code:
                    program = f"print({name}(**{arguments}))" if name != "final_answer" else "final_answer('done')"
                    return models.ChatMessage(role="assistant", content=f"<code>\n{program}\n</code>")
                function = models.ChatMessageToolCallFunction(name=name, arguments=arguments)
                call = models.ChatMessageToolCall(id="c", type="function", function=function)
                return models.ChatMessage(role="assistant", content=None, tool_calls=[call])

        kind = smolagents.CodeAgent if code else smolagents.ToolCallingAgent
        tools = [smolagents.tool(desk.lookup_order), smolagents.tool(desk.search_mail)]
        agent = kind(tools=tools, model=Model(model_id="fake"), max_steps=7, verbosity_level=0)
        state = agent.run("Where is the order?", return_full_result=True).state
        return state, [str(step.error) for step in agent.memory.steps if getattr(step, "error", None) is not None]

    @pytest.mark.parametrize("code", [False, True])
    def test_the_model_reads_it_and_the_run_goes_on_to_its_limit(
        self, code: bool, provider: TracerProvider, db: Path, desk: Desk
    ) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        state, errors = self.ask(desk, "stubborn", code=code)
        assert installed.force_flush()
        assert state == "max_steps_error"
        assert len(desk.ran) == 2
        assert NUDGE in errors[0]
        assert "The run is stopped" in errors[2]
        assert len(errors) == 6
        assert rows(db, "select stop_reason from runs") == [(LOOPED,)]

    @pytest.mark.parametrize("code", [False, True])
    def test_a_healthy_run_is_let_be(self, code: bool, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        assert self.ask(desk, "healthy", code=code) == ("success", [])
        assert installed.force_flush()
        assert rows(db, "select flagged_reason from runs") == [(None,)]
        assert len(desk.ran) == 4


class TestAgno:
    """OpenInference's writer: what is raised goes through the agent, which returns a failed run."""

    @pytest.fixture(autouse=True)
    def spans(self, provider: TracerProvider, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        needs("agno")
        from openinference.instrumentation import agno

        # Importing every provider's client to wrap its model takes most of a minute; the spans of models are not looked at.
        monkeypatch.setattr(agno, "find_model_subclasses", list)
        agno.AgnoInstrumentor().instrument(tracer_provider=provider)
        yield
        agno.AgnoInstrumentor().uninstrument()

    def ask(self, desk: Desk, script: str, **more: Any) -> Any:
        from agno.agent import Agent
        from agno.models.base import Model
        from agno.models.response import ModelResponse

        said = calls(script)
        self.given: list[Any] = []

        class Fake(Model):
            def invoke(_, messages: Any = (), **__: Any) -> Any:  # noqa: N805 - the test is `self` here
                self.given = [message.content for message in messages]
                call = next(said)
                if call is None:
                    return ModelResponse(role="assistant", content="done")
                function = {"name": call[0], "arguments": json.dumps(call[1])}
                return ModelResponse(role="assistant", tool_calls=[{"id": "c", "type": "function", "function": function}])

            async def ainvoke(self, *_: Any, **__: Any) -> Any:
                return self.invoke(**__)

            def invoke_stream(self, *_: Any, **__: Any) -> Any:
                yield self.invoke()

            async def ainvoke_stream(self, *_: Any, **__: Any) -> Any:
                yield self.invoke()

            def _parse_provider_response(self, response: Any, **_: Any) -> Any:
                return response

            def _parse_provider_response_delta(self, response: Any) -> Any:
                return response

        tools = [desk.lookup_order, desk.search_mail]
        agent = Agent(model=Fake(id="fake"), name="clerk", tools=tools, telemetry=False, tool_call_limit=9, **more)
        return agent.run("Where is the order?")

    def test_the_nudge_ends_the_run_as_failed(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        done = self.ask(desk, "stubborn")
        assert installed.force_flush()
        assert done.status == "ERROR"
        assert NUDGE in done.content
        assert len(desk.ran) == 2
        assert refused(db) == [(1, False), (2, False), (3, True)]
        assert rows(db, "select stop_reason from runs") == [(LOOPED,)]

    def test_a_tool_hook_that_asks_nudges_first(self, desk: Desk) -> None:
        from agno.exceptions import StopAgentRun

        def ask(function_name: str, function_call: Any, arguments: dict[str, Any]) -> Any:
            answer = guard.before_tool(function_name, arguments)
            if answer.allows_call:
                result = function_call(**arguments)
                guard.after_tool(result, call=answer)
                return result
            guard.skip_tool(answer)
            if answer.action == "stop":
                raise StopAgentRun(answer.message)
            return answer.message

        with LoopGuard(mode="enforce") as guard:
            done = self.ask(desk, "stubborn", tool_hooks=[ask])
        assert len(desk.ran) == 2
        assert NUDGE in self.given[-1]
        assert done.status == "COMPLETED"
        assert (guard.report().stop_reason, guard.report().refused_calls) == (LOOPED, 3)

    def test_a_healthy_run_is_let_be(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        assert self.ask(desk, "healthy").content == "done"
        assert installed.force_flush()
        assert rows(db, "select flagged_reason, tool_calls from runs") == [(None, 4)]


class TestDSPy:
    """OpenInference's writer: what is raised is an observation of `ReAct`, which answers after `max_iters` at the latest."""

    @pytest.fixture(autouse=True)
    def spans(self, provider: TracerProvider) -> Iterator[None]:
        needs("dspy")
        from openinference.instrumentation.dspy import DSPyInstrumentor

        DSPyInstrumentor().instrument(tracer_provider=provider)
        yield
        DSPyInstrumentor().uninstrument()

    def ask(self, desk: Desk, script: str) -> Any:
        import dspy
        from dspy.utils import DummyLM

        steps: list[Any] = [call or ("finish", {}) for call in itertools.islice(calls(script), 7)]
        if ("finish", {}) in steps:
            steps = steps[: steps.index(("finish", {})) + 1]
        turns = [{"next_thought": str(n), "next_tool_name": name, "next_tool_args": args} for n, (name, args) in enumerate(steps)]
        model = DummyLM([*turns, {"reasoning": "so", "answer": "done"}])
        with dspy.context(lm=model):
            return dspy.ReAct("question -> answer", tools=[desk.lookup_order, desk.search_mail], max_iters=7)(question="Where?")

    def test_the_model_reads_it_and_answers_at_its_limit(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        done = self.ask(desk, "stubborn")
        assert installed.force_flush()
        assert done.answer == "done"
        assert len(desk.ran) == 2
        assert NUDGE in done.trajectory["observation_2"]
        assert "The run is stopped" in done.trajectory["observation_4"]
        # What the model says again on the way is a finding too.
        assert rows(db, "select stop_reason like 'loop_detected:%' from runs") == [(True,)]

    def test_a_healthy_run_is_let_be(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        assert self.ask(desk, "healthy").answer == "done"
        assert installed.force_flush()
        assert rows(db, "select flagged_reason from runs") == [(None,)]
        assert len(desk.ran) == 4
