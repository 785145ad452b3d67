"""CrewAI under guard, with a model that says what a test tells it to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from otel_processor import LoopDetected, LoopGuard, Policy, instrument
from tests.frameworks.desk import LOOPED, NUDGE, ORDER, Desk, needs
from tests.integration.stored import rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

needs("crewai")

import crewai
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool

from otel_processor.adapters import crewai as adapter

pytestmark = pytest.mark.frameworks


@pytest.fixture(autouse=True)
def _tells_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No telemetry, no tracing, no prompt for either."""
    for name, value in {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TESTING": "true"}.items():
        monkeypatch.setenv(name, value)


class FakeModel(BaseLLM):
    """Calls tools as told, and answers `done` when nothing is left; keeps the messages that it was given last."""

    turns: list[Any]
    native: bool = True
    asked: int = 0
    messages: Any = None

    def supports_function_calling(self) -> bool:
        return self.native

    def call(self, messages: Any, *_: Any, **__: Any) -> Any:
        self.asked += 1
        self.messages = json.loads(json.dumps(messages, default=str))
        turn = self.turns.pop(0) if self.turns else "done"
        if isinstance(turn, str):
            return f"Thought: I now can give a great answer\nFinal Answer: {turn}"
        name, arguments = turn
        if not self.native:
            return f"Thought: I look\nAction: {name}\nAction Input: {json.dumps(arguments)}"
        function = {"name": name, "arguments": json.dumps(arguments)}
        return [{"id": f"call-{self.asked}", "type": "function", "function": function}]


def crew(desk: Desk, *turns: tuple[str, dict[str, Any]] | str, native: bool = True) -> tuple[crewai.Crew, FakeModel]:
    model = FakeModel(model="fake", turns=list(turns), native=native)
    # Without a cache, a call that is made again runs again.
    tools = [tool("lookup_order")(desk.lookup_order), tool("search_mail")(desk.search_mail)]
    clerk = crewai.Agent(role="clerk", goal="find orders", backstory="in the office", tools=tools, llm=model, cache=False)
    task = crewai.Task(description="find the order", expected_output="the order", agent=clerk)
    return crewai.Crew(agents=[clerk], tasks=[task], cache=False), model


LOOP = [("lookup_order", ORDER)] * 4
"""At the fifth call with the same result CrewAI gives up by itself."""
HEALTHY = [("search_mail", {"query": "a"}), ("search_mail", {"query": "b"}), "found it"]


def test_a_loop_is_nudged_and_then_kickoff_raises(desk: Desk) -> None:
    office, model = crew(desk, *LOOP, *LOOP)
    guard = LoopGuard(goal="find the order", mode="enforce")
    with pytest.raises(LoopDetected, match=LOOPED), guard, adapter.loop_hooks(guard):
        office.kickoff()
    report = guard.report()
    assert desk.ran == ["lookup_order demo-001"] * 2
    assert model.asked == 5
    assert NUDGE in json.dumps(model.messages)
    assert (report.stop_reason, report.tool_calls, report.refused_calls) == (LOOPED, 2, 3)
    assert [(tried.tool, tried.made, tried.refused) for tried in report.attempts] == [("lookup_order", 2, 3)]


def test_tools_that_are_called_in_words_are_guarded_alike(desk: Desk) -> None:
    """CrewAI does not run a call again that is the same as the last one; a call between makes it run."""
    model = [("lookup_order", ORDER), ("lookup_order", {"order_id": "demo-002"})] * 8
    office, fake = crew(desk, *model, native=False)
    with pytest.raises(LoopDetected, match="loop_detected:"), LoopGuard(mode="enforce") as guard, adapter.loop_hooks(guard):
        office.kickoff()
    assert fake.asked < len(model)
    assert NUDGE in json.dumps(fake.messages)
    assert (len(desk.ran), guard.report().refused_calls) == (guard.report().tool_calls, 3)


def test_a_crew_that_heeds_the_nudge_goes_on(desk: Desk) -> None:
    office, _ = crew(desk, *LOOP[:3], ("search_mail", {"query": "order"}), "found it")
    with LoopGuard(mode="enforce") as guard, adapter.loop_hooks(guard):
        assert "found it" in office.kickoff().raw
    assert desk.ran == ["lookup_order demo-001"] * 2 + ["search_mail order"]
    assert guard.report().stop_reason == "completed"


def test_nudging_never_ends_a_run(desk: Desk) -> None:
    office, model = crew(desk, *LOOP, *LOOP[:2])
    with LoopGuard(mode="nudge") as guard, adapter.loop_hooks(guard):
        assert "done" in office.kickoff().raw
    assert desk.ran == ["lookup_order demo-001"] * 2
    assert model.asked == len(LOOP) + 3


def test_a_limit_ends_the_run_before_the_model_is_asked_again(desk: Desk) -> None:
    office, model = crew(desk, *[("search_mail", {"query": f"order {n}"}) for n in range(9)])
    guard = LoopGuard(Policy(max_steps=3), mode="enforce")
    with pytest.raises(LoopDetected, match="max_steps_reached"), guard, adapter.loop_hooks(guard):
        office.kickoff()
    assert (model.asked, len(desk.ran), guard.report().stop_reason) == (3, 3, "max_steps_reached")


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(("turns", "mode"), [(LOOP, "observe"), (HEALTHY, "enforce")])
def test_what_is_only_observed_or_healthy_is_as_without_a_guard(turns: list[Any], mode: str, native: bool) -> None:
    plain, watched = Desk(), Desk()
    office, model = crew(plain, *turns, native=native)
    without = office.kickoff().raw
    office, watched_model = crew(watched, *turns, native=native)
    with LoopGuard(mode=mode) as guard, adapter.loop_hooks(guard):
        assert office.kickoff().raw == without
    assert plain.ran == watched.ran
    assert model.messages == watched_model.messages
    assert (guard.report().flagged_reason is None) == (mode == "enforce")
    assert guard.report().tool_calls == (len(watched.ran) if native else len([turn for turn in turns if turn != "found it"]))


@pytest.mark.usefixtures("bug_of_ours")
@pytest.mark.parametrize("mode", ["observe", "enforce"])
def test_a_bug_of_ours_costs_the_guard_and_not_the_run(desk: Desk, mode: str) -> None:
    office, _ = crew(desk, *LOOP)
    with LoopGuard(mode=mode) as guard, adapter.loop_hooks(guard):
        assert "done" in office.kickoff().raw
    assert len(desk.ran) == len(LOOP)


def test_without_a_guard_of_its_own_a_crew_is_under_that_around_it(desk: Desk) -> None:
    office, _ = crew(desk, *LOOP, *LOOP)
    with pytest.raises(LoopDetected), LoopGuard(mode="enforce") as guard, adapter.loop_hooks():
        office.kickoff()
    assert (len(desk.ran), guard.report().stop_reason) == (2, LOOPED)


def test_hooks_end_with_their_block(desk: Desk) -> None:
    with LoopGuard(mode="enforce") as guard:
        with adapter.loop_hooks(guard):
            pass
        office, _ = crew(desk, *LOOP)
        assert "done" in office.kickoff().raw
    assert len(desk.ran) == len(LOOP)


def test_a_tool_that_fails_is_told_as_a_failure(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def lookup_order(order_id: str) -> str:
        """Look an order up."""
        raise ConnectionError("the office is closed")

    monkeypatch.setattr(desk, "lookup_order", lookup_order)
    office, _ = crew(desk, LOOP[0])
    with LoopGuard(mode="observe") as guard, adapter.loop_hooks(guard):
        office.kickoff()
    assert [tried.outcome for tried in guard.report().attempts] == [
        "failed: Error executing tool: the office is closed",
    ]


def test_what_is_found_after_a_call_is_said_with_its_result(desk: Desk) -> None:
    policy = Policy(patterns=frozenset({"no_progress"}), no_progress_alert_steps=3, no_progress_stop_steps=3)
    flat = [("lookup_order", {"order_id": f"demo-00{n}"}) for n in range(4)]
    with LoopGuard(policy, mode="enforce") as guard:
        office, model = crew(desk, *flat)
        with adapter.loop_hooks(guard):
            assert "done" in office.kickoff().raw
    assert len(desk.ran) == len(flat)
    assert "change your strategy" in json.dumps(model.messages, default=str)
    assert guard.report().stop_reason == "completed"


class TestWithItsSpans:
    """OpenInference's writer says tool and arguments after a span began, so that only what came before is held against it."""

    @pytest.fixture(autouse=True)
    def spans(self, provider: TracerProvider) -> Iterator[None]:
        from openinference.instrumentation.crewai import CrewAIInstrumentor

        CrewAIInstrumentor().instrument(tracer_provider=provider)
        yield
        CrewAIInstrumentor().uninstrument()

    def test_the_run_is_stopped_by_the_guard_of_its_spans(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        office, model = crew(desk, *LOOP, *LOOP)
        with pytest.raises(LoopDetected, match=LOOPED), adapter.loop_hooks():
            office.kickoff()
        assert installed.force_flush()
        assert (len(desk.ran), model.asked) == (2, 5)
        assert rows(db, "select stop_reason from runs") == [(LOOPED,)]

    def test_without_the_hooks_a_tool_is_refused_a_call_later(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        office, model = crew(desk, *LOOP)
        assert "done" in office.kickoff().raw
        assert installed.force_flush()
        assert len(desk.ran) == 3
        assert NUDGE in json.dumps(model.messages)
