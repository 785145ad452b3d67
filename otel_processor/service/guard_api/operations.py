"""What can be asked of a guard and told to it over HTTP: one operation an address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from otel_processor.guard.feeding import NOT_RECORDED
from otel_processor.model import StopReason
from otel_processor.service.guard_api.messages import (
    AfterTool,
    BeforeTool,
    Begun,
    End,
    GuardAnswer,
    OfRun,
    Progress,
    RunReport,
    SkipTool,
    Start,
    Step,
    Told,
    Turn,
    report_of,
    was_given,
)
from otel_processor.service.refused import Refused

if TYPE_CHECKING:
    from otel_processor.guard.answer import Answer
    from otel_processor.service.guard_api.hosted_guard import HostedGuard


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One of them."""

    name: str
    """The last part of its address."""
    request: type[OfRun]
    answer: type[Any]
    summary: str
    act: Callable[[HostedGuard, Any], Any]
    """Does it, and returns what is answered: a message, or the guard's answer."""
    tells: bool = True
    """It says what happened, which nobody can of a run that has ended; what only asks is answered all the same."""


def _before(guard: HostedGuard, said: BeforeTool) -> Answer:
    return guard.before_tool(said.tool, said.arguments, call_id=said.call_id, agent=said.agent)


def _call(guard: HostedGuard, said: BeforeTool) -> Answer:
    return guard.on_tool_call(said.tool, said.arguments, call_id=said.call_id, agent=said.agent)


def _after(guard: HostedGuard, said: AfterTool) -> Answer:
    call_id = guard.waiting_call(said.call_id, said.agent, said.tool)
    if call_id is None:
        if said.call_id is not None and guard.is_settled(said.call_id):
            return guard.told_late(said.call_id, said.agent, said.progress)
        if said.tool is None:
            raise _not_asked(said.call_id)
        call_id = guard.before_tool(said.tool, said.arguments, call_id=said.call_id, agent=said.agent).call_id
    result = said.result if was_given(said.result) else NOT_RECORDED
    return guard.made(str(call_id), result, said.error, said.progress, by_id=said.call_id is not None)


def _skip(guard: HostedGuard, said: SkipTool) -> Answer:
    call_id = guard.waiting_call(said.call_id, said.agent)
    if call_id is None:
        if said.call_id is not None and guard.is_settled(said.call_id):
            return guard.told_late(said.call_id, said.agent)
        raise _not_asked(said.call_id)
    return guard.skipped(call_id)


def _turn(guard: HostedGuard, said: Turn) -> Answer:
    return guard.on_turn(
        said.text,
        reasoning=said.reasoning,
        input_tokens=_whole(said.input_tokens),
        output_tokens=_whole(said.output_tokens),
        cost_usd=said.cost_usd,
        finish_reason=said.finish_reason,
        model=said.model,
        agent=said.agent,
    )


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def _progress(guard: HostedGuard, said: Progress) -> Answer:
    guard.mark_progress(said.what)
    return guard.now(said.agent)


def _end(guard: HostedGuard, said: End) -> RunReport:
    if said.partial and not guard.has_ended:
        guard.partial(said.partial)
    reason = StopReason(said.reason) if said.reason is not None else None
    if said.note or reason is StopReason.HANDED_TO_HUMAN:
        guard.note(said.note)
    guard.finish(reason)
    return report_of(guard.report())


def _not_asked(call_id: str | None) -> Refused:
    what = "no call waits" if call_id is None else f"no call {call_id[:100]!r} waits"
    return Refused.out_of_turn(f"{what} to be told of: ask `before_tool` first, or say `tool` and `arguments` as well")


OPERATIONS = (
    Operation(
        name="start",
        request=Start,
        answer=Begun,
        summary="Begin a run. Not needed, but the place for its goal and task, and the way to use the id of an ended run again",
        act=lambda *_: None,
        tells=False,
    ),
    Operation(
        name="step",
        request=Step,
        answer=GuardAnswer,
        summary="An iteration of the agent's loop begins",
        act=lambda guard, said: guard.on_step(agent=said.agent),
    ),
    Operation(
        name="before_tool",
        request=BeforeTool,
        answer=GuardAnswer,
        summary="Ask whether a tool may be called. Changes nothing, however often it is asked",
        act=_before,
        tells=False,
    ),
    Operation(
        name="tool_call",
        request=BeforeTool,
        answer=GuardAnswer,
        summary="Ask, and say that the call is made where it may be: one request a call, for agents that tell no results",
        act=_call,
    ),
    Operation(
        name="after_tool",
        request=AfterTool,
        answer=GuardAnswer,
        summary="Say what came back from a tool. With the same `call_id` it counts once: sent again, or after it has counted",
        act=_after,
    ),
    Operation(
        name="skip_tool",
        request=SkipTool,
        answer=GuardAnswer,
        summary="Say that a call was not made because of the answer, and that the model was given its message",
        act=_skip,
    ),
    Operation(
        name="turn",
        request=Turn,
        answer=GuardAnswer,
        summary="Say what the model answered, and what it cost",
        act=_turn,
    ),
    Operation(
        name="told",
        request=Told,
        answer=GuardAnswer,
        summary="Say that the model was given the message of an answer to `step`, `after_tool` or `turn`",
        act=lambda guard, said: guard.heard(said.pattern, said.agent),
    ),
    Operation(
        name="progress",
        request=Progress,
        answer=GuardAnswer,
        summary="Say that the agent got further, by what only it knows",
        act=_progress,
    ),
    Operation(
        name="end",
        request=End,
        answer=RunReport,
        summary="The run is over: what happened, for its user. Said again it changes nothing",
        act=_end,
        tells=False,
    ),
)
