"""Strands Agents under guard, with a model that says what a test tells it to."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest

from otel_processor import LoopGuard, Policy, instrument
from tests.frameworks.desk import LOOPED, NUDGE, ORDER, Desk, needs
from tests.integration.stored import rows

if TYPE_CHECKING:
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

needs("strands")

import strands
from opentelemetry import trace
from strands.models import model as models

from otel_processor.adapters import strands as adapter

pytestmark = pytest.mark.frameworks


class FakeModel(models.Model):
    """Calls tools as told, and answers `done` when nothing is left; keeps the messages that it was given last."""

    def __init__(self, *turns: tuple[str, dict[str, Any]] | str) -> None:
        self.turns = list(turns)
        self.asked = 0
        self.messages: list[Any] = []

    def update_config(self, **_: Any) -> None: ...

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        self.asked += 1
        self.messages = json.loads(json.dumps(messages))
        turn = self.turns.pop(0) if self.turns else "done"
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(turn, str):
            yield {"contentBlockDelta": {"delta": {"text": turn}}}
        else:
            name, arguments = turn
            yield {"contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": f"call-{self.asked}"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(arguments)}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(turn, str) else "tool_use"}}
        yield {"metadata": {"usage": {"inputTokens": 90, "outputTokens": 10, "totalTokens": 100}, "metrics": {"latencyMs": 1}}}


def run(desk: Desk, model: FakeModel, guard: LoopGuard | None) -> str:
    tools = [strands.tool(desk.lookup_order), strands.tool(desk.search_mail)]
    hooks = [adapter.LoopHooks(guard)] if guard is not None else []
    agent = strands.Agent(model=model, tools=tools, hooks=hooks, callback_handler=None)
    return str(agent("find the order")).strip()


LOOP = [("lookup_order", ORDER)] * 12


def test_a_loop_is_nudged_and_then_ends_with_the_report_as_the_agents_answer(desk: Desk) -> None:
    model = FakeModel(*LOOP)
    with LoopGuard(goal="find the order", mode="enforce") as guard:
        said = run(desk, model, guard)
    report = guard.report()
    assert desk.ran == ["lookup_order demo-001"] * 2
    assert model.asked == 5
    assert NUDGE in json.dumps(model.messages)
    assert said.startswith(f"The run was stopped: {LOOPED}.")
    assert (report.stop_reason, report.tool_calls, report.refused_calls) == (LOOPED, 2, 3)
    assert [(tried.tool, tried.made, tried.refused) for tried in report.attempts] == [("lookup_order", 2, 3)]
    assert (report.steps, report.input_tokens, report.output_tokens) == (5, 450, 50)


def test_an_agent_that_heeds_the_nudge_goes_on(desk: Desk) -> None:
    model = FakeModel(*LOOP[:3], ("search_mail", {"query": "order"}), "found it")
    with LoopGuard(mode="enforce") as guard:
        assert run(desk, model, guard) == "found it"
    assert desk.ran == ["lookup_order demo-001"] * 2 + ["search_mail order"]
    assert guard.report().stop_reason == "completed"


def test_nudging_never_ends_a_run(desk: Desk) -> None:
    model = FakeModel(*LOOP)
    with LoopGuard(mode="nudge") as guard:
        assert run(desk, model, guard) == "done"
    assert desk.ran == ["lookup_order demo-001"] * 2
    assert model.asked == len(LOOP) + 1


def test_a_limit_ends_the_run_before_the_model_is_asked_again(desk: Desk) -> None:
    model = FakeModel(*[("search_mail", {"query": f"order {n}"}) for n in range(9)])
    with LoopGuard(Policy(max_steps=3), mode="enforce") as guard:
        said = run(desk, model, guard)
    assert said.startswith("The run was stopped: max_steps_reached.")
    assert (model.asked, len(desk.ran), guard.report().stop_reason) == (3, 3, "max_steps_reached")


@pytest.mark.parametrize("turns", [LOOP, [("search_mail", {"query": "a"}), ("search_mail", {"query": "b"}), "found it"]])
def test_what_is_only_observed_or_healthy_is_as_without_a_guard(turns: list[Any]) -> None:
    mode = "observe" if turns is LOOP else "enforce"
    plain, watched = (FakeModel(*turns), Desk()), (FakeModel(*turns), Desk())
    with LoopGuard(mode=mode) as guard:
        said = [run(plain[1], plain[0], None), run(watched[1], watched[0], guard)]
    assert said[0] == said[1]
    assert plain[1].ran == watched[1].ran
    assert conversation(plain[0]) == conversation(watched[0])
    assert guard.report().flagged_reason == (LOOPED if turns is LOOP else None)
    assert guard.report().tool_calls == len(watched[1].ran)


def conversation(model: FakeModel) -> list[Any]:
    return [(message["role"], message["content"]) for message in model.messages]


@pytest.mark.usefixtures("bug_of_ours")
@pytest.mark.parametrize("mode", ["observe", "enforce"])
def test_a_bug_of_ours_costs_the_guard_and_not_the_run(desk: Desk, mode: str) -> None:
    with LoopGuard(mode=mode) as guard:
        assert run(desk, FakeModel(*LOOP), guard) == "done"
    assert len(desk.ran) == len(LOOP)


def test_without_a_guard_of_its_own_an_agent_is_under_that_around_it(desk: Desk) -> None:
    tools = [strands.tool(desk.lookup_order)]
    agent = strands.Agent(model=FakeModel(*LOOP), tools=tools, hooks=[adapter.LoopHooks()], callback_handler=None)
    with LoopGuard(mode="enforce") as guard:
        agent("find the order")
    assert guard.report().stop_reason == LOOPED
    assert len(desk.ran) == 2


def test_a_tool_that_fails_is_told_as_a_failure() -> None:
    @strands.tool
    def lookup_order(order_id: str) -> str:
        """Look an order up."""
        raise ConnectionError("the office is closed")

    agent = strands.Agent(model=FakeModel(LOOP[0]), tools=[lookup_order], callback_handler=None)
    with LoopGuard(mode="observe") as guard:
        agent.hooks.add_hook(adapter.LoopHooks(guard))
        agent("find the order")
    assert [tried.outcome for tried in guard.report().attempts] == ["failed: ConnectionError: the office is closed"]


def test_a_tool_may_say_that_it_got_further(desk: Desk) -> None:
    guard = LoopGuard(mode="enforce")

    def lookup_order(order_id: str) -> str:
        """Look an order up."""
        guard.mark_progress("a page further")
        return desk.lookup_order(order_id)

    with guard:
        tools = [strands.tool(lookup_order)]
        strands.Agent(model=FakeModel(*LOOP), tools=tools, hooks=[adapter.LoopHooks(guard)], callback_handler=None)("find")
    assert len(desk.ran) == len(LOOP)
    assert guard.report().flagged_reason is None


def test_what_is_found_after_a_call_is_said_with_its_result(desk: Desk) -> None:
    policy = Policy(patterns=frozenset({"no_progress"}), no_progress_alert_steps=3, no_progress_stop_steps=3)
    flat = [("lookup_order", {"order_id": f"demo-00{n}"}) for n in range(4)]
    with LoopGuard(policy, mode="enforce") as guard:
        model = FakeModel(*flat)
        assert run(desk, model, guard) == "done"
    assert len(desk.ran) == len(flat)
    assert "change your strategy" in json.dumps(model.messages, default=str)
    assert guard.report().stop_reason == "completed"


class TestWithItsSpans:
    """Strands writes its own; they say the tool only after they began, so that nothing is refused without the hooks."""

    @pytest.fixture(autouse=True)
    def spans(self, provider: TracerProvider, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("strands.telemetry.tracer._tracer_instance", None)
        monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)

    def test_the_run_is_stopped_by_the_guard_of_its_spans(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        tools = [strands.tool(desk.lookup_order)]
        model = FakeModel(*LOOP)
        agent = strands.Agent(model=model, tools=tools, hooks=[adapter.LoopHooks()], callback_handler=None)
        assert str(agent("find the order")).startswith(f"The run was stopped: {LOOPED}.")
        assert installed.force_flush()
        assert (len(desk.ran), model.asked) == (2, 5)
        assert rows(db, "select stop_reason, tool_calls from runs") == [(LOOPED, 2)]

    def test_without_the_hooks_nothing_is_refused(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        assert run(desk, FakeModel(*LOOP), None) == "done"
        assert installed.force_flush()
        assert len(desk.ran) == len(LOOP)
        assert rows(db, "select flagged_reason from runs") == [(LOOPED,)]
