"""Google ADK under guard, with a model that says what a test tells it to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

import pytest

from otel_processor import LoopGuard, LoopNudge, Policy, instrument
from tests.frameworks.desk import LOOPED, NUDGE, ORDER, Desk, needs
from tests.integration.stored import rows

if TYPE_CHECKING:
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

needs("google.adk")

from google.adk import agents as adk
from google.adk import models, runners
from google.adk.apps import App
from google.adk.telemetry import tracing
from google.genai import types

from otel_processor.adapters import google_adk as adapter

pytestmark = [pytest.mark.frameworks, pytest.mark.filterwarnings("ignore::UserWarning")]


class FakeModel(models.BaseLlm):
    """Calls tools as told, and answers `done` when nothing is left; keeps the messages that it was given last."""

    turns: list[Any]
    asked: int = 0
    messages: Any = None

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
        self.asked += 1
        self.messages = [content.model_dump(exclude_none=True, mode="json") for content in llm_request.contents]
        turn = self.turns.pop(0) if self.turns else "done"
        if isinstance(turn, str):
            part = types.Part(text=turn)
        else:
            part = types.Part(function_call=types.FunctionCall(id=f"call-{self.asked}", name=turn[0], args=turn[1]))
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=90, candidates_token_count=10)
        yield models.LlmResponse(content=types.Content(role="model", parts=[part]), usage_metadata=usage)


def fake(*turns: tuple[str, dict[str, Any]] | str) -> FakeModel:
    return FakeModel(model="fake", turns=list(turns))


def run(model: FakeModel, tools: list[Callable[..., Any]], plugins: list[Any]) -> str:
    """Run an agent and return what it said last."""
    return asyncio.run(_run(adk.LlmAgent(name="clerk", model=model, tools=tools), plugins))


async def _run(agent: Any, plugins: list[Any]) -> str:
    runner = runners.InMemoryRunner(app=App(name="desk", root_agent=agent, plugins=plugins))
    session = await runner.session_service.create_session(app_name="desk", user_id="ann")
    said = ""
    asked = types.Content(role="user", parts=[types.Part(text="find the order")])
    async for event in runner.run_async(user_id="ann", session_id=session.id, new_message=asked):
        for part in (event.content.parts if event.content else None) or []:
            said = part.text or said
    await runner.close()
    return said


LOOP = [("lookup_order", ORDER)] * 12


def test_a_loop_is_nudged_and_then_ends_with_the_report_as_the_agents_answer(desk: Desk) -> None:
    model = fake(*LOOP)
    with LoopGuard(goal="find the order", mode="enforce") as guard:
        said = run(model, [desk.lookup_order], [adapter.LoopPlugin(guard)])
    report = guard.report()
    assert desk.ran == ["lookup_order demo-001"] * 2
    assert model.asked == 5
    assert NUDGE in json.dumps(model.messages)
    assert said.startswith(f"The run was stopped: {LOOPED}.")
    assert (report.stop_reason, report.tool_calls, report.refused_calls) == (LOOPED, 2, 3)
    assert [(tried.tool, tried.made, tried.refused) for tried in report.attempts] == [("lookup_order", 2, 3)]
    assert (report.steps, report.input_tokens, report.output_tokens) == (5, 450, 50)


def test_an_agent_that_heeds_the_nudge_goes_on(desk: Desk) -> None:
    model = fake(*LOOP[:3], ("search_mail", {"query": "order"}), "found it")
    with LoopGuard(mode="enforce") as guard:
        assert run(model, [desk.lookup_order, desk.search_mail], [adapter.LoopPlugin(guard)]) == "found it"
    assert desk.ran == ["lookup_order demo-001"] * 2 + ["search_mail order"]
    assert guard.report().stop_reason == "completed"


def test_nudging_never_ends_a_run(desk: Desk) -> None:
    model = fake(*LOOP)
    with LoopGuard(mode="nudge") as guard:
        assert run(model, [desk.lookup_order], [adapter.LoopPlugin(guard)]) == "done"
    assert desk.ran == ["lookup_order demo-001"] * 2
    assert model.asked == len(LOOP) + 1


def test_a_stop_in_a_sub_agent_ends_the_agent_above_it_too(desk: Desk) -> None:
    below = adk.LlmAgent(name="clerk", model=fake(*LOOP), tools=[desk.lookup_order])
    above = fake(("transfer_to_agent", {"agent_name": "clerk"}), "never asked")
    with LoopGuard(mode="enforce") as guard:
        said = asyncio.run(_run(adk.LlmAgent(name="boss", model=above, sub_agents=[below]), [adapter.LoopPlugin(guard)]))
    assert said.startswith(f"The run was stopped: {LOOPED}.")
    assert (above.asked, guard.report().stop_reason) == (1, LOOPED)


def test_agents_of_one_run_do_not_repeat_each_other(desk: Desk) -> None:
    clerks = [adk.LlmAgent(name=f"clerk_{n}", model=fake(LOOP[0], "done"), tools=[desk.lookup_order]) for n in range(4)]
    with LoopGuard(mode="enforce") as guard:
        assert asyncio.run(_run(adk.SequentialAgent(name="office", sub_agents=clerks), [adapter.LoopPlugin(guard)])) == "done"
    assert (len(desk.ran), guard.report().flagged_reason) == (4, None)


def test_a_limit_ends_the_run_before_the_model_is_asked_again(desk: Desk) -> None:
    model = fake(*[("search_mail", {"query": f"order {n}"}) for n in range(9)])
    with LoopGuard(Policy(max_steps=3), mode="enforce") as guard:
        said = run(model, [desk.search_mail], [adapter.LoopPlugin(guard)])
    assert said.startswith("The run was stopped: max_steps_reached.")
    assert (model.asked, len(desk.ran), guard.report().stop_reason) == (3, 3, "max_steps_reached")


@pytest.mark.parametrize("turns", [LOOP, [("search_mail", {"query": "a"}), ("search_mail", {"query": "b"}), "found it"]])
def test_what_is_only_observed_or_healthy_is_as_without_a_guard(turns: list[Any]) -> None:
    plain, watched = (fake(*turns), Desk()), (fake(*turns), Desk())
    with LoopGuard(mode="observe" if turns is LOOP else "enforce") as guard:
        said = [
            run(model, [desk.lookup_order, desk.search_mail], plugins)
            for (model, desk), plugins in ((plain, []), (watched, [adapter.LoopPlugin(guard)]))
        ]
    assert said[0] == said[1]
    assert plain[1].ran == watched[1].ran
    assert plain[0].messages == watched[0].messages
    assert guard.report().flagged_reason == (LOOPED if turns is LOOP else None)
    assert guard.report().tool_calls == len(watched[1].ran)


@pytest.mark.usefixtures("bug_of_ours")
@pytest.mark.parametrize("mode", ["observe", "enforce"])
def test_a_bug_of_ours_costs_the_guard_and_not_the_run(desk: Desk, mode: str) -> None:
    with LoopGuard(mode=mode) as guard:
        assert run(fake(*LOOP), [desk.lookup_order], [adapter.LoopPlugin(guard)]) == "done"
    assert len(desk.ran) == len(LOOP)


def test_without_a_guard_of_its_own_a_runner_is_under_that_around_it(desk: Desk) -> None:
    with LoopGuard(mode="enforce") as guard:
        run(fake(*LOOP), [desk.lookup_order], [adapter.LoopPlugin()])
    assert guard.report().stop_reason == LOOPED
    assert len(desk.ran) == 2


def test_a_tool_that_raises_is_told_as_a_failure_and_its_error_goes_its_way() -> None:
    def lookup_order(order_id: str) -> str:
        raise ConnectionError("the office is closed")

    with LoopGuard(mode="observe") as guard, pytest.raises(ConnectionError):
        run(fake(LOOP[0]), [lookup_order], [adapter.LoopPlugin(guard)])
    assert [tried.outcome for tried in guard.report().attempts] == ["failed: ConnectionError: the office is closed"]


def test_a_tool_may_say_that_it_got_further(desk: Desk) -> None:
    guard = LoopGuard(mode="enforce")

    def lookup_order(order_id: str) -> str:
        """Look an order up."""
        guard.mark_progress("a page further")
        return desk.lookup_order(order_id)

    with guard:
        run(fake(*LOOP), [lookup_order], [adapter.LoopPlugin(guard)])
    assert len(desk.ran) == len(LOOP)
    assert guard.report().flagged_reason is None


def test_what_is_found_after_a_call_is_said_with_its_result(desk: Desk) -> None:
    policy = Policy(patterns=frozenset({"no_progress"}), no_progress_alert_steps=3, no_progress_stop_steps=3)
    flat = [("lookup_order", {"order_id": f"demo-00{n}"}) for n in range(4)]
    with LoopGuard(policy, mode="enforce") as guard:
        model = fake(*flat)
        assert run(model, [desk.lookup_order], [adapter.LoopPlugin(guard)]) == "done"
    assert len(desk.ran) == len(flat)
    assert "change your strategy" in json.dumps(model.messages, default=str)
    assert guard.report().stop_reason == "completed"


class TestWithItsSpans:
    """ADK writes its own; they say the arguments only when the tool has answered, and only where content is recorded."""

    @pytest.fixture(autouse=True)
    def spans(self, provider: TracerProvider, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
        monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")
        # The modules of ADK hold the one tracer, which stands for that of the provider that is set for the whole process.
        monkeypatch.setattr(tracing.tracer, "_real_tracer", provider.get_tracer("gcp.vertex.agent"))

    def test_the_run_is_stopped_by_the_guard_of_its_spans(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        model = fake(*LOOP)
        said = run(model, [desk.lookup_order], [adapter.LoopPlugin()])
        assert said.startswith(f"The run was stopped: {LOOPED}.")
        assert installed.force_flush()
        assert (len(desk.ran), model.asked) == (2, 5)
        assert rows(db, "select stop_reason from runs") == [(LOOPED,)]

    def test_without_the_plugin_the_run_ends_with_an_exception_a_call_later(
        self, provider: TracerProvider, db: Path, desk: Desk
    ) -> None:
        instrument(db, tracer_provider=provider, mode="enforce")
        with pytest.raises(LoopNudge, match=NUDGE):
            run(fake(*LOOP), [desk.lookup_order], [])
        assert len(desk.ran) == 3
