"""smolagents under guard, with a model that says what a test tells it to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from otel_processor import ConfigError, LoopDetected, LoopGuard, Policy, instrument
from tests.frameworks.desk import LOOPED, NUDGE, ORDER, Desk, needs
from tests.integration.stored import rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

needs("smolagents")

import smolagents
from smolagents import models

from otel_processor.adapters import smolagents as adapter

pytestmark = pytest.mark.frameworks


class FakeModel(models.Model):
    """Calls tools, or writes programs, as told, and answers `done` when nothing is left; keeps what it was given last."""

    def __init__(self, *turns: tuple[str, dict[str, Any]] | str) -> None:
        super().__init__(model_id="fake")
        self.turns = list(turns)
        self.asked = 0
        self.messages: list[Any] = []

    def generate(self, messages: Any, *_: Any, **__: Any) -> Any:
        self.asked += 1
        self.messages = [models.get_dict_from_nested_dataclasses(message) for message in messages]
        turn = self.turns.pop(0) if self.turns else ("final_answer", {"answer": "done"})
        usage = smolagents.TokenUsage(input_tokens=90, output_tokens=10)
        if isinstance(turn, str):
            return models.ChatMessage(role="assistant", content=f"<code>\n{turn}\n</code>", token_usage=usage)
        function = models.ChatMessageToolCallFunction(name=turn[0], arguments=turn[1])
        call = models.ChatMessageToolCall(id=f"call-{self.asked}", type="function", function=function)
        return models.ChatMessage(role="assistant", content=None, tool_calls=[call], token_usage=usage)


def tool_agent(desk: Desk, model: FakeModel, **more: Any) -> Any:
    tools = [smolagents.tool(desk.lookup_order), smolagents.tool(desk.search_mail)]
    return smolagents.ToolCallingAgent(tools=tools, model=model, max_steps=20, verbosity_level=0, **more)


def code_agent(desk: Desk, model: FakeModel, **more: Any) -> Any:
    tools = [smolagents.tool(desk.lookup_order), smolagents.tool(desk.search_mail)]
    return smolagents.CodeAgent(tools=tools, model=model, max_steps=20, verbosity_level=0, **more)


LOOP = [("lookup_order", ORDER)] * 12
HEALTHY = [("search_mail", {"query": "a"}), ("search_mail", {"query": "b"}), ("final_answer", {"answer": "found it"})]
PROGRAM_DONE = "final_answer('done')"
REWRITTEN = [f"attempt = {n}\nprint(lookup_order('demo-001'))" for n in range(12)]
"""Programs that differ, and call the same tool alike."""
FAILING = [f"total = {n}\nprint(total + 'x')" for n in range(12)]
"""Programs that differ, call no tool, and fail alike."""
HEALTHY_PROGRAMS = ["print(search_mail('a'))", "print(search_mail(query='b'))", "final_answer('found it')"]


def test_a_loop_is_nudged_and_then_ends_with_the_report_as_the_final_answer(desk: Desk) -> None:
    model = FakeModel(*LOOP)
    with LoopGuard(goal="find the order", mode="enforce") as guard:
        said = adapter.guard_agent(tool_agent(desk, model), guard).run("find the order")
    report = guard.report()
    assert desk.ran == ["lookup_order demo-001"] * 2
    assert model.asked == 5
    assert NUDGE in json.dumps(model.messages, default=str)
    assert said.startswith(f"The run was stopped: {LOOPED}.")
    assert (report.stop_reason, report.tool_calls, report.refused_calls) == (LOOPED, 2, 3)
    assert [(tried.tool, tried.made, tried.refused) for tried in report.attempts] == [("lookup_order", 2, 3)]
    assert (report.steps, report.input_tokens, report.output_tokens) == (5, 450, 50)


def test_a_tool_that_programs_call_alike_is_nudged_and_then_stopped(desk: Desk) -> None:
    model = FakeModel(*REWRITTEN)
    with LoopGuard(mode="enforce") as guard:
        said = adapter.guard_agent(code_agent(desk, model), guard).run("find the order")
    assert len(desk.ran) <= 3
    assert NUDGE in json.dumps(model.messages, default=str)
    assert said.startswith("The run was stopped: loop_detected:")
    assert str(guard.report().stop_reason).startswith("loop_detected:")
    assert model.asked < len(REWRITTEN)


def test_programs_that_fail_alike_are_nudged_and_then_stopped(desk: Desk) -> None:
    model = FakeModel(*FAILING)
    with LoopGuard(mode="enforce") as guard:
        said = adapter.guard_agent(code_agent(desk, model), guard).run("find the order")
    assert said.startswith("The run was stopped: loop_detected:")
    assert {tried.tool for tried in guard.report().attempts} == {"python_interpreter"}
    assert model.asked < len(FAILING)


def test_an_agent_that_heeds_the_nudge_goes_on(desk: Desk) -> None:
    model = FakeModel(*LOOP[:3], ("search_mail", {"query": "order"}), HEALTHY[-1])
    with LoopGuard(mode="enforce") as guard:
        assert adapter.guard_agent(tool_agent(desk, model), guard).run("find the order") == "found it"
    assert desk.ran == ["lookup_order demo-001"] * 2 + ["search_mail order"]
    assert guard.report().stop_reason == "completed"


def test_nudging_never_ends_a_run(desk: Desk) -> None:
    model = FakeModel(*LOOP)
    with LoopGuard(mode="nudge") as guard:
        assert adapter.guard_agent(tool_agent(desk, model), guard).run("find the order") == "done"
    assert desk.ran == ["lookup_order demo-001"] * 2
    assert model.asked == len(LOOP) + 1


def test_where_answers_are_checked_a_stopped_run_raises(desk: Desk) -> None:
    agent = tool_agent(desk, FakeModel(*LOOP), final_answer_checks=[lambda answer, memory, agent: answer == "42"])
    with pytest.raises(LoopDetected, match=LOOPED), LoopGuard(mode="enforce") as guard:
        adapter.guard_agent(agent, guard).run("find the order")
    assert guard.report().stop_reason == LOOPED


def test_a_stop_in_a_managed_agent_ends_the_agent_above_it_too(desk: Desk) -> None:
    below = tool_agent(desk, FakeModel(*LOOP), name="clerk", description="looks orders up")
    above = FakeModel(("clerk", {"task": "find the order"}))
    boss = smolagents.ToolCallingAgent(tools=[], model=above, managed_agents=[below], verbosity_level=0)
    with LoopGuard(mode="enforce") as guard:
        said = adapter.guard_agent(boss, guard).run("find the order")
    assert said.startswith(f"The run was stopped: {LOOPED}.")
    assert (above.asked, len(desk.ran)) == (1, 2)


def test_a_limit_ends_the_run_before_the_model_is_asked_again(desk: Desk) -> None:
    model = FakeModel(*[("search_mail", {"query": f"order {n}"}) for n in range(9)])
    with LoopGuard(Policy(max_steps=3), mode="enforce") as guard:
        said = adapter.guard_agent(tool_agent(desk, model), guard).run("find the order")
    assert said.startswith("The run was stopped: max_steps_reached.")
    assert (model.asked, len(desk.ran), guard.report().stop_reason) == (3, 3, "max_steps_reached")


@pytest.mark.parametrize(
    ("make", "turns", "mode"),
    [
        (tool_agent, LOOP, "observe"),
        (tool_agent, HEALTHY, "enforce"),
        (code_agent, [*REWRITTEN, PROGRAM_DONE], "observe"),
        (code_agent, [*FAILING, PROGRAM_DONE], "observe"),
        (code_agent, HEALTHY_PROGRAMS, "enforce"),
    ],
)
def test_what_is_only_observed_or_healthy_is_as_without_a_guard(make: Any, turns: list[Any], mode: str) -> None:
    plain, watched = (FakeModel(*turns), Desk()), (FakeModel(*turns), Desk())
    without = make(plain[1], plain[0]).run("find the order")
    with LoopGuard(mode=mode) as guard:
        assert adapter.guard_agent(make(watched[1], watched[0]), guard).run("find the order") == without
    assert plain[1].ran == watched[1].ran
    assert plain[0].messages == watched[0].messages
    assert (guard.report().flagged_reason is None) == (mode == "enforce")


@pytest.mark.usefixtures("bug_of_ours")
@pytest.mark.parametrize("mode", ["observe", "enforce"])
def test_a_bug_of_ours_costs_the_guard_and_not_the_run(desk: Desk, mode: str) -> None:
    with LoopGuard(mode=mode) as guard:
        assert adapter.guard_agent(tool_agent(desk, FakeModel(*LOOP)), guard).run("find the order") == "done"
        assert len(desk.ran) == len(LOOP)
        assert adapter.guard_agent(code_agent(desk, FakeModel(*REWRITTEN, PROGRAM_DONE)), guard).run("find") == "done"
        assert len(desk.ran) == len(LOOP) + len(REWRITTEN)


@pytest.mark.parametrize(("make", "turns"), [(tool_agent, LOOP), (code_agent, [REWRITTEN[0]] * 12)])
def test_without_a_guard_of_its_own_an_agent_is_under_that_around_each_run(desk: Desk, make: Any, turns: list[Any]) -> None:
    agent = adapter.guard_agent(make(desk, FakeModel(*turns, *turns)))
    for _ in range(2):
        with LoopGuard(mode="enforce") as guard:
            assert agent.run("find the order").startswith("The run was stopped")
        assert guard.report().stop_reason == LOOPED
    assert len(desk.ran) == 4


def closed_office(order_id: str) -> str:
    """Look an order up.

    Args:
        order_id: of the order.
    """
    raise ConnectionError("the office is closed")


@pytest.mark.parametrize(
    ("kind", "turn"),
    [(smolagents.ToolCallingAgent, ("closed_office", ORDER)), (smolagents.CodeAgent, "closed_office(order_id='demo-001')")],
)
def test_a_tool_that_fails_is_told_as_a_failure(kind: Any, turn: Any) -> None:
    agent = kind(tools=[smolagents.tool(closed_office)], model=FakeModel(turn), max_steps=1, verbosity_level=0)
    with LoopGuard(mode="observe") as guard:
        adapter.guard_agent(agent, guard).run("find the order")
    outcomes = {tried.tool: (tried.arguments, tried.outcome) for tried in guard.report().attempts}
    assert outcomes["closed_office"] == ('{"order_id":"demo-001"}', "failed: ConnectionError: the office is closed")
    assert not any("failed" in outcome for tool, (_, outcome) in outcomes.items() if tool != "closed_office")


def test_an_agent_is_put_under_guard_once(desk: Desk) -> None:
    agent = adapter.guard_agent(tool_agent(desk, FakeModel()))
    with pytest.raises(ConfigError, match="under guard already"):
        adapter.guard_agent(agent)


def test_what_is_found_after_a_call_is_said_with_its_result(desk: Desk) -> None:
    policy = Policy(patterns=frozenset({"no_progress"}), no_progress_alert_steps=3, no_progress_stop_steps=3)
    flat = [("lookup_order", {"order_id": f"demo-00{n}"}) for n in range(4)]
    with LoopGuard(policy, mode="enforce") as guard:
        model = FakeModel(*flat)
        assert adapter.guard_agent(tool_agent(desk, model), guard).run("find the order") == "done"
    assert len(desk.ran) == len(flat)
    assert "change your strategy" in json.dumps(model.messages, default=str)
    assert guard.report().stop_reason == "completed"


class TestWithItsSpans:
    """OpenInference's writer says tool and arguments when a span begins."""

    @pytest.fixture(autouse=True)
    def spans(self, provider: TracerProvider) -> Iterator[None]:
        from openinference.instrumentation.smolagents import SmolagentsInstrumentor

        SmolagentsInstrumentor().instrument(tracer_provider=provider)
        yield
        SmolagentsInstrumentor().uninstrument()

    @pytest.mark.parametrize(("make", "turns"), [(tool_agent, LOOP), (code_agent, REWRITTEN)])
    def test_the_run_is_stopped_by_the_guard_of_its_spans(
        self, provider: TracerProvider, db: Path, desk: Desk, make: Any, turns: list[Any]
    ) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        model = FakeModel(*turns)
        said = adapter.guard_agent(make(desk, model)).run("find the order")
        assert said.startswith("The run was stopped: loop_detected:")
        assert installed.force_flush()
        assert (len(desk.ran), model.asked) == (2, 5)
        assert [reason.split(":")[0] for (reason,) in rows(db, "select stop_reason from runs")] == ["loop_detected"]
