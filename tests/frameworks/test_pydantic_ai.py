"""Pydantic AI's agents under guard, and what becomes of them where their spans do not start."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from otel_processor import LoopDetected, LoopGuard, LoopNudge, Policy, instrument
from tests.frameworks.desk import LOOPED, NUDGE, ORDER, Desk, needs
from tests.integration.stored import rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

needs("pydantic_ai")

from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests, ModelRetry
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.exceptions import ApprovalRequired, UsageLimitExceeded
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.usage import UsageLimits

from otel_processor.adapters.pydantic_ai import LoopGuardCapability

pytestmark = pytest.mark.frameworks


def contents(parts: Iterable[Any], kind: Any) -> list[Any]:
    """What the parts of a kind say."""
    return [part.content for part in parts if isinstance(part, kind)]


class Model:
    """Says what it is told to say, call after call, and keeps what it was given."""

    def __init__(self, says: Iterator[Any]) -> None:
        self.says = says
        self.given: list[Any] = []

    def __call__(self, messages: list[Any], info: AgentInfo) -> ModelResponse:
        self.given.extend(messages[-1].parts)
        said = next(self.says)
        if isinstance(said, str):
            return ModelResponse(parts=[TextPart(said)])
        return ModelResponse(parts=[ToolCallPart(name, arguments) for name, arguments in said])

    def told(self, kind: type) -> list[Any]:
        return contents(self.given, kind)


def stubborn() -> Model:
    """A model that always wants the same."""
    return Model([("lookup_order", ORDER)] for _ in itertools.count())


def healthy() -> Model:
    """A model that looks in several places, and then has an answer."""
    mails: Iterator[Any] = ([("search_mail", {"query": query})] for query in ("invoice", "May", "supplier"))
    return Model(itertools.chain([[("lookup_order", ORDER)]], mails, ["demo-001 was renamed"]))


def ask(model: Model, desk: Desk, *capabilities: Any, steps: int = 12, provider: Any = None, output: Any = str) -> Any:
    """Run an agent, and return its result."""
    if provider is not None:
        capabilities = (*capabilities, Instrumentation(settings=InstrumentationSettings(tracer_provider=provider)))
    agent: Any = Agent(
        FunctionModel(model),
        name="clerk",
        tools=[desk.lookup_order, desk.search_mail],
        capabilities=capabilities,
        output_type=output,
    )
    return agent.run_sync("Where is the order?", usage_limits=UsageLimits(request_limit=steps))


def test_a_model_that_repeats_itself_is_nudged_and_then_stopped(desk: Desk) -> None:
    model = stubborn()
    with LoopGuard(mode="enforce", goal="find the order") as guard:
        result = ask(model, desk, LoopGuardCapability())
    assert len(desk.ran) == 2
    told = contents((part for message in result.all_messages() for part in message.parts), ToolReturnPart)
    assert told[:2] == ["not found"] * 2
    assert len(told) == 5
    assert all(NUDGE in text and "The goal is still: find the order." in text for text in told[2:])
    assert "The run is stopped" in told[-1]
    assert model.told(ToolReturnPart) == told[:-1]
    report = guard.report()
    assert result.output.splitlines()[:3] == report.text().splitlines()[:3]
    assert (report.stop_reason, report.tool_calls, report.refused_calls) == (LOOPED, 2, 3)
    assert [(one.tool, one.made, one.refused) for one in report.attempts] == [("lookup_order", 2, 3)]
    assert report.steps == 5
    assert report.input_tokens


def test_an_agent_whose_output_is_no_text_ends_with_an_exception(desk: Desk) -> None:
    class Where(BaseModel):
        place: str

    with pytest.raises(LoopDetected, match=LOOPED), LoopGuard(mode="enforce") as guard:
        ask(stubborn(), desk, LoopGuardCapability(), output=Where)
    assert len(desk.ran) == 2
    assert guard.report().stop_reason == LOOPED


def test_watching_changes_nothing(desk: Desk) -> None:
    with LoopGuard(mode="observe") as guard, pytest.raises(UsageLimitExceeded):
        ask(stubborn(), desk, LoopGuardCapability())
    assert len(desk.ran) == 12
    report = guard.report()
    assert (report.flagged_reason, report.tool_calls, report.refused_calls) == (LOOPED, 12, 0)


def test_nudging_stops_nothing(desk: Desk) -> None:
    with LoopGuard(mode="nudge") as guard, pytest.raises(UsageLimitExceeded):
        ask(stubborn(), desk, LoopGuardCapability())
    assert len(desk.ran) == 2
    assert guard.report().refused_calls == 10


@pytest.mark.parametrize("mode", ["observe", "nudge", "enforce"])
def test_a_healthy_run_is_let_be(mode: str, desk: Desk) -> None:
    with LoopGuard(mode=mode) as guard:
        guarded = ask(healthy(), desk, LoopGuardCapability())
    bare = ask(healthy(), Desk())
    assert [_parts(message) for message in guarded.all_messages()] == [_parts(message) for message in bare.all_messages()]
    report = guard.report()
    assert (report.stop_reason, report.flagged_reason, report.tool_calls, report.steps) == ("completed", None, 4, 5)


def _parts(message: Any) -> list[Any]:
    return [(part.part_kind, getattr(part, "content", None)) for part in message.parts]


def test_a_tool_that_asks_for_another_try_is_told_as_a_failure() -> None:
    class Strict(Desk):
        def lookup_order(self, order_id: str) -> str:
            """Look an order up."""
            raise ModelRetry(f"no such order: {order_id}")

    says: Any = iter([[("lookup_order", ORDER)], "there is none"])
    with LoopGuard(mode="enforce") as guard:
        assert ask(Model(says), Strict(), LoopGuardCapability()).output == "there is none"
    (only,) = guard.report().attempts
    assert only.made == 1
    assert only.outcome.startswith("failed: ")


def test_what_concerns_no_single_call_is_told_with_the_next_request(desk: Desk) -> None:
    model = Model([("lookup_order", {"order_id": f"demo-{number:03}"})] for number in itertools.count())
    policy = Policy(no_progress_alert_steps=2, no_progress_stop_steps=3)
    with LoopGuard(policy, mode="enforce") as guard:
        result = ask(model, desk, LoopGuardCapability())
    _, *told = model.told(UserPromptPart)
    assert "brought nothing new" in told[0]
    # What was told that way is held against no call.
    assert guard.report().refused_calls == 0
    kept = [part for message in result.all_messages() if isinstance(message, ModelRequest) for part in message.parts]
    assert len([part for part in kept if isinstance(part, UserPromptPart)]) == 1
    assert guard.report().stop_reason == "loop_detected:no_progress"


def test_a_limit_ends_the_run(desk: Desk) -> None:
    with LoopGuard(Policy(max_tool_calls=2), mode="enforce") as guard:
        result = ask(healthy(), desk, LoopGuardCapability())
    assert len(desk.ran) == 2
    assert guard.report().stop_reason == "max_tool_calls_reached"
    assert result.output.startswith("The run was stopped: max_tool_calls_reached.")


def test_a_call_that_waits_for_a_person_is_not_made_yet() -> None:
    class Careful(Desk):
        def lookup_order(self, order_id: str) -> str:
            """Look an order up."""
            raise ApprovalRequired

    with LoopGuard(mode="enforce") as guard:
        result = ask(stubborn(), Careful(), LoopGuardCapability(), output=[str, DeferredToolRequests])
        assert len(result.output.approvals) == 1
        assert guard.report().attempts == ()


def test_a_bug_of_ours_breaks_nothing(bug_of_ours: None, desk: Desk) -> None:
    with LoopGuard(mode="enforce"):
        assert ask(healthy(), desk, LoopGuardCapability()).output == "demo-001 was renamed"


def test_what_the_adapter_does_not_understand_breaks_nothing(desk: Desk) -> None:
    class Odd(LoopGuardCapability):
        async def wrap_tool_execute(self, ctx: Any, *, call: Any, **named: Any) -> Any:
            return await super().wrap_tool_execute(ctx, call=object(), **named)

        async def wrap_model_request(self, ctx: Any, *, request_context: Any, handler: Any) -> Any:
            self._told(object())
            return await handler(request_context)

    with LoopGuard(mode="enforce"):
        assert ask(healthy(), desk, Odd()).output == "demo-001 was renamed"


def test_an_instrumented_run_is_stopped_by_the_guard_of_its_spans(provider: TracerProvider, db: Path, desk: Desk) -> None:
    installed = instrument(db, tracer_provider=provider, mode="enforce")
    result = ask(stubborn(), desk, LoopGuardCapability(), provider=provider)
    assert installed.force_flush()
    assert len(desk.ran) == 2
    assert result.output.startswith(f"The run was stopped: {LOOPED}.")
    assert rows(db, "select stop_reason, tool_calls from runs") == [(LOOPED, 2)]
    assert rows(db, "select count(*) from calls where kind = 'model'") == [(5,)]
    assert rows(db, "select pattern, action from alerts where stop_reason is not null") == [("hard_loop", "stop")]


def test_a_guard_of_ones_own_says_in_the_rows_why_it_stopped(provider: TracerProvider, db: Path, desk: Desk) -> None:
    installed = instrument(db, tracer_provider=provider)
    with LoopGuard(mode="enforce"):
        ask(stubborn(), desk, LoopGuardCapability(), provider=provider)
    assert installed.force_flush()
    assert rows(db, "select stop_reason, tool_calls from runs") == [(LOOPED, 2)]


def test_without_code_the_nudge_ends_the_run(provider: TracerProvider, db: Path, desk: Desk) -> None:
    """The writer gives the span its arguments when it starts; the agent lets what is raised there through."""
    installed = instrument(db, tracer_provider=provider, mode="enforce")
    with pytest.raises(LoopNudge, match=LOOPED):
        ask(stubborn(), desk, provider=provider)
    assert installed.force_flush()
    assert len(desk.ran) == 2
    assert rows(db, "select stop_reason from runs") == [(LOOPED,)]
    assert rows(db, "select repeats, is_error from calls where kind = 'tool' order by ended_at") == [
        (1, False),
        (2, False),
        (3, True),
    ]


def test_without_code_a_healthy_run_completes(provider: TracerProvider, db: Path, desk: Desk) -> None:
    installed = instrument(db, tracer_provider=provider, mode="enforce")
    assert ask(healthy(), desk, provider=provider).output == "demo-001 was renamed"
    assert installed.force_flush()
    assert rows(db, "select stop_reason, flagged_reason, tool_calls from runs") == [("completed", None, 4)]
