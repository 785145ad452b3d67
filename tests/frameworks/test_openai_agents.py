"""Agents of the OpenAI Agents SDK under guard."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from otel_processor import LoopDetected, LoopGuard, Policy, instrument
from tests.frameworks.desk import LOOPED, NUDGE, ORDER, Desk, needs
from tests.integration.stored import rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

needs("agents.testing")

from agents import Agent, MaxTurnsExceeded, Runner, Usage, function_tool, set_trace_processors
from agents.exceptions import UserError
from agents.testing import ScriptedModel, assistant_message, function_call

from otel_processor.adapters.openai_agents import LoopGuardHooks

pytestmark = pytest.mark.frameworks

USAGE = Usage(requests=1, input_tokens=100, output_tokens=10, total_tokens=110)


@pytest.fixture(autouse=True)
def untraced() -> None:
    """Let the SDK send its traces nowhere."""
    set_trace_processors([])


def model(*says: Any) -> ScriptedModel:
    """A model that says what it is told to say, call after call."""
    steps = [[function_call(*said, call_id=f"c{n}") if isinstance(said, tuple) else said] for n, said in enumerate(says)]
    return ScriptedModel(steps, default_usage=USAGE)


def stubborn() -> ScriptedModel:
    """A model that always wants the same."""
    return model(*[("lookup_order", ORDER)] * 40)


def healthy() -> ScriptedModel:
    """A model that looks in several places, and then has an answer."""
    mails = [("search_mail", {"query": query}) for query in ("invoice", "May", "supplier")]
    return model(("lookup_order", ORDER), *mails, assistant_message("demo-001 was renamed"))


def ask(model: ScriptedModel, desk: Desk, hooks: Any = None, *, turns: int = 12, streamed: bool = False) -> Any:
    """Run an agent, and return its result."""
    tools: Any = [function_tool(desk.lookup_order), function_tool(desk.search_mail)]
    agent = Agent(name="clerk", model=model, tools=hooks.guard_tools(tools) if hooks is not None else tools)
    if not streamed:
        return Runner.run_sync(agent, "Where is the order?", hooks=hooks, max_turns=turns)

    async def stream() -> Any:
        result = Runner.run_streamed(agent, "Where is the order?", hooks=hooks, max_turns=turns)
        async for _ in result.stream_events():
            pass
        return result

    return asyncio.run(stream())


def told(model: ScriptedModel) -> list[str]:
    """What the model was given as the results of its calls."""
    return [item["output"] for item in model.calls[-1].input if item.get("type") == "function_call_output"]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_model_that_repeats_itself_is_nudged_and_then_stopped(streamed: bool, desk: Desk) -> None:
    asked = stubborn()
    with pytest.raises(LoopDetected, match=LOOPED), LoopGuard(mode="enforce", goal="find the order") as guard:
        ask(asked, desk, LoopGuardHooks(), streamed=streamed)
    assert len(desk.ran) == 2
    assert told(asked)[:2] == ["not found"] * 2
    assert len(told(asked)) == 4
    assert all(NUDGE in text and "The goal is still: find the order." in text for text in told(asked)[2:])
    report = guard.report()
    assert (report.stop_reason, report.tool_calls, report.refused_calls) == (LOOPED, 2, 3)
    assert [(one.tool, one.made, one.refused) for one in report.attempts] == [("lookup_order", 2, 3)]
    assert (report.steps, report.input_tokens, report.output_tokens) == (5, 500, 50)


def test_watching_changes_nothing(desk: Desk) -> None:
    with LoopGuard(mode="observe") as guard, pytest.raises(MaxTurnsExceeded):
        ask(stubborn(), desk, LoopGuardHooks())
    assert len(desk.ran) == 12
    report = guard.report()
    assert (report.flagged_reason, report.tool_calls, report.refused_calls) == (LOOPED, 12, 0)


def test_nudging_stops_nothing(desk: Desk) -> None:
    with LoopGuard(mode="nudge") as guard, pytest.raises(MaxTurnsExceeded):
        ask(stubborn(), desk, LoopGuardHooks())
    assert len(desk.ran) == 2
    assert guard.report().refused_calls == 10


@pytest.mark.parametrize("mode", ["observe", "nudge", "enforce"])
def test_a_healthy_run_is_let_be(mode: str, desk: Desk) -> None:
    guarded, bare = healthy(), healthy()
    with LoopGuard(mode=mode) as guard:
        assert ask(guarded, desk, LoopGuardHooks()).final_output == "demo-001 was renamed"
    ask(bare, Desk())
    assert told(guarded) == told(bare)
    report = guard.report()
    assert (report.stop_reason, report.flagged_reason, report.tool_calls, report.steps) == ("completed", None, 4, 5)


def test_the_tools_themselves_stay_as_they_were(desk: Desk) -> None:
    tool = function_tool(desk.lookup_order)
    (guarded,) = LoopGuardHooks().guard_tools([tool])
    assert not tool.tool_input_guardrails
    assert len(guarded.tool_input_guardrails) == 1


def test_a_tool_that_fails_is_told_as_one() -> None:
    class Broken(Desk):
        def lookup_order(self, order_id: str) -> str:
            """Look an order up."""
            raise ValueError("no such order")

    with LoopGuard(mode="enforce") as guard:
        ask(model(("lookup_order", ORDER), assistant_message("there is none")), Broken(), LoopGuardHooks())
    (only,) = guard.report().attempts
    assert only.made == 1
    assert only.outcome.startswith("failed: ")


def test_a_tool_without_the_guardrail_runs_until_the_run_is_stopped(desk: Desk) -> None:
    agent = Agent(name="clerk", model=stubborn(), tools=[function_tool(desk.lookup_order)])
    with pytest.raises(UserError) as raised, LoopGuard(mode="enforce") as guard:
        Runner.run_sync(agent, "Where is the order?", hooks=LoopGuardHooks(), max_turns=12)
    assert isinstance(raised.value.__cause__, LoopDetected)
    assert 2 < len(desk.ran) < 6
    assert guard.report().stop_reason == LOOPED


def test_a_limit_ends_the_run(desk: Desk) -> None:
    with pytest.raises(LoopDetected, match="max_tool_calls_reached"), LoopGuard(Policy(max_tool_calls=2), mode="enforce"):
        ask(healthy(), desk, LoopGuardHooks())
    assert len(desk.ran) == 2


def test_a_step_too_many_does_not_ask_the_model(desk: Desk) -> None:
    model = healthy()
    with pytest.raises(LoopDetected, match="max_steps_reached"), LoopGuard(Policy(max_steps=2), mode="enforce"):
        ask(model, desk, LoopGuardHooks())
    assert len(model.calls) == 2


def test_a_bug_of_ours_breaks_nothing(bug_of_ours: None, desk: Desk) -> None:
    with LoopGuard(mode="enforce"):
        assert ask(healthy(), desk, LoopGuardHooks()).final_output == "demo-001 was renamed"


def test_what_the_adapter_does_not_understand_breaks_nothing(desk: Desk) -> None:
    class Odd(LoopGuardHooks):
        async def on_llm_end(self, *_: Any) -> None:
            await super().on_llm_end(None, None, None)

        async def on_tool_end(self, *_: Any) -> None:
            await super().on_tool_end(None, None, None, None)

        def _before_function(self, data: Any) -> Any:
            data.context = None
            return super()._before_function(data)

    with LoopGuard(mode="enforce"):
        assert ask(healthy(), desk, Odd()).final_output == "demo-001 was renamed"


class TestWithSpans:
    @pytest.fixture(autouse=True)
    def spans(self, untraced: None, provider: TracerProvider) -> Iterator[None]:
        from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

        OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
        yield
        OpenAIAgentsInstrumentor().uninstrument()

    def test_the_run_is_stopped_by_the_guard_of_its_spans(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        with pytest.raises(LoopDetected, match=LOOPED):
            ask(stubborn(), desk, LoopGuardHooks())
        assert installed.force_flush()
        assert len(desk.ran) == 2
        assert rows(db, "select stop_reason from runs") == [(LOOPED,)]
        calls = rows(db, "select repeats, error_class is null from calls where kind = 'tool' order by ended_at")
        assert calls == [(1, True), (2, True), (3, False), (4, False), (5, False)]

    def test_a_guard_of_ones_own_says_in_the_rows_why_it_stopped(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider)
        with pytest.raises(LoopDetected), LoopGuard(mode="enforce"):
            ask(stubborn(), desk, LoopGuardHooks())
        assert installed.force_flush()
        assert rows(db, "select stop_reason from runs") == [(LOOPED,)]

    def test_a_healthy_run_is_let_be(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        assert ask(healthy(), desk, LoopGuardHooks()).final_output == "demo-001 was renamed"
        assert installed.force_flush()
        assert rows(db, "select stop_reason, flagged_reason, tool_calls from runs") == [("completed", None, 4)]

    @pytest.mark.parametrize("policy", [None, Policy(max_tool_calls=2)])
    def test_without_code_nothing_keeps_the_tool_from_running(
        self, policy: Policy | None, provider: TracerProvider, db: Path, desk: Desk
    ) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce", policy=policy)
        with pytest.raises(MaxTurnsExceeded):
            ask(stubborn(), desk)
        assert installed.force_flush()
        assert len(desk.ran) == 12
        if policy is None:
            assert rows(db, "select flagged_reason from runs") == [(LOOPED,)]
