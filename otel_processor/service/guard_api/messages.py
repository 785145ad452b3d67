"""What the guard is asked and told over HTTP, and what it answers. `openapi.py` makes the document of these."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from otel_processor.guard.answer import Answer
from otel_processor.guard.report import Report
from otel_processor.model import Action, Mode, Pattern, StopReason

_Name = Annotated[str, Meta(max_length=1_024)]
_Id = Annotated[str, Meta(min_length=1, max_length=256)]
_Words = Annotated[str, Meta(max_length=10_000)]
# To JSON 5.0 is as whole as 5.
_Tokens = Annotated[float, Meta(ge=0, le=float(1 << 53), multiple_of=1.0)]
_Dollars = Annotated[float, Meta(ge=0, le=1e9)]
_Reason = Annotated[
    Literal[
        "abandoned",
        "cancelled",
        "completed",
        "content_filter",
        "error",
        "handed_to_human",
        "loop_detected:cycle",
        "loop_detected:near_repeat",
        "loop_detected:no_progress",
        "loop_detected:repeated_tool_signature",
        "loop_detected:retry_storm",
        "loop_detected:semantic",
        "max_cost_reached",
        "max_steps_reached",
        "max_tokens_reached",
        "max_tool_calls_reached",
        "model_length",
        "refused",
        "timeout",
    ],
    Meta(description="Why: told from what happened when left out; `handed_to_human` where a person has to go on."),
]
_CallId = Annotated[
    _Id | None,
    Meta(
        description="The call's id: your own, or the one in the answer to `before_tool`. Tells calls apart that run side by side."
    ),
]
_Tool = Annotated[str, Meta(min_length=1, max_length=1_024, description="The tool's name.")]
_Arguments = Annotated[
    Any, Meta(description="What the tool is called with: any JSON value, or JSON as a text. Left out: it takes nothing.")
]


class OfRun(Struct, kw_only=True):
    """Says which run is meant. The fields but `run_id` and `agent` count with the first request of a run."""

    run_id: Annotated[
        _Id | None,
        Meta(
            description="The run: the `loop.run.id` of your spans, where you send any. Left out: the `loop.run.id` of the header "
            "`baggage`, else the trace id of the header `traceparent`."
        ),
    ] = None
    agent: Annotated[_Name | None, Meta(description="Whose call, step or turn it is, where a run has several agents.")] = None
    goal: Annotated[_Words | None, Meta(description="What the run is for, in words: the model is reminded of it.")] = None
    task: Annotated[_Name | None, Meta(description="The name under which runs are compared, and that alerts carry.")] = None
    task_type: Annotated[_Name | None, Meta(description="Picks the service's thresholds for this type of task.")] = None


class Start(OfRun, kw_only=True):
    """Begins a run, also under the id of one that has ended."""


class Step(OfRun, kw_only=True):
    """An iteration of the agent's loop begins."""


class BeforeTool(OfRun, kw_only=True):
    """May this tool be called?"""

    tool: _Tool
    arguments: _Arguments = None
    call_id: _CallId = None


class AfterTool(OfRun, kw_only=True):
    """What came back from a tool: `result`, or `error`, or neither where it is not known."""

    call_id: _CallId = None
    result: Annotated[Any, Meta(description="What it returned: any JSON value. Left out: not known.")] = UNSET
    error: Annotated[str | None, Meta(description="What it failed with, in words.")] = None
    progress: Annotated[
        bool | None, Meta(description="Whether it brought the agent further; goes before what the guard would think.")
    ] = None
    tool: Annotated[_Tool | None, Meta(description="The tool, for a call that was not asked about.")] = None
    arguments: _Arguments = None


class SkipTool(OfRun, kw_only=True):
    """A call was not made because of the answer, and the model was given its message."""

    call_id: _CallId = None


class Turn(OfRun, kw_only=True):
    """What the model answered; begins a step where none was begun."""

    text: Annotated[str | None, Meta(description="What it said.")] = None
    reasoning: Annotated[str | None, Meta(description="What it thought.")] = None
    input_tokens: Annotated[_Tokens | None, Meta(description="Cached ones included.")] = None
    output_tokens: Annotated[_Tokens | None, Meta(description="Reasoning included.")] = None
    cost_usd: Annotated[_Dollars | None, Meta(description="US dollars.")] = None
    finish_reason: Annotated[_Name | None, Meta(description="As the model gives it: `stop`, `length`, `tool_calls`, …")] = None
    model: Annotated[_Name | None, Meta(description="Its name.")] = None


class Told(OfRun, kw_only=True):
    """The model was given the message of an answer that came after a call, a step or a turn: no call is refused for it."""

    pattern: Annotated[Pattern, Meta(description="The answer's.")]


class Progress(OfRun, kw_only=True):
    """The agent got further, by what only it knows."""

    what: Annotated[_Words, Meta(description="For the report: `tests passed: 12`.")] = ""


class End(OfRun, kw_only=True):
    """The run is over."""

    reason: _Reason | None = None
    note: Annotated[_Words, Meta(description="More about that, for the report.")] = ""
    partial: Annotated[_Words, Meta(description="What there is of a result, for the report.")] = ""


class Begun(Struct, kw_only=True):
    """A run that is under guard."""

    run_id: str
    mode: Annotated[Mode, Meta(description="How far the guard goes; the service's.")]
    is_new: Annotated[bool, Meta(description="False: it was under guard already, and goes on.")]


class Advised(Struct, kw_only=True):
    """What would be answered in the mode `enforce`. To look at: not for the model, and no reason to stop."""

    action: Action
    pattern: Pattern | None
    stop_reason: StopReason | None
    message: str


class GuardAnswer(Struct, kw_only=True, omit_defaults=True):
    """What to do. `message` is a text for the model, empty where there is nothing to say."""

    run_id: str
    action: Annotated[
        Action,
        Meta(
            description="`continue`: make the call. `compress`: make it, and shorten the context before the next turn. "
            "`nudge`: do not make it; give the model `message` as its result. `stop`: do not make it, and end the run."
        ),
    ]
    allowed: Annotated[bool, Meta(description="Whether the call may be made: `action` is `continue` or `compress`.")]
    advised: Advised
    pattern: Annotated[Pattern | None, Meta(description="What is held against the run; null: nothing.")]
    stop_reason: Annotated[StopReason | None, Meta(description="Why the run is stopped, or will be; null with `continue`.")]
    severity: Annotated[str, Meta(description="`warning`, `critical` or empty.")]
    message: Annotated[str, Meta(description="For the model: with `nudge` the call's result. Empty with `continue`.")]
    finding: Annotated[str, Meta(description="What is held against the run, in a sentence for a person.")]
    evidence: dict[str, Any]
    call_id: Annotated[str | None, Meta(description="Of the call that was asked about, for `after_tool` and `skip_tool`.")]
    counted_before: Annotated[
        bool,
        Meta(
            description="The call of which this was said had counted already, and does not count again: it was said before, or "
            "so late that the call had counted without a result. Left out: no."
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport(Report):
    """The guard's account of a run. Null: not known."""

    in_words: str
    """The report as a text for a person."""


class Problem(Struct, kw_only=True):
    """Why a request was not taken (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: Annotated[str, Meta(description="What is wrong, and the remedy.")]


def answer_of(answer: Answer, run_id: str) -> GuardAnswer:
    """Return a guard's answer as it is sent."""
    return GuardAnswer(
        run_id=run_id,
        action=answer.action,
        allowed=answer.allows_call,
        advised=_advised(answer),
        pattern=answer.pattern,
        stop_reason=answer.stop_reason,
        severity=answer.severity,
        message=answer.message,
        finding=answer.finding.message if answer.finding is not None else "",
        evidence=dict(answer.evidence),
        call_id=answer.call_id,
        counted_before=answer.counted_before,
    )


def _advised(answer: Answer) -> Advised:
    finding = answer.finding if answer.advised is not Action.CONTINUE else None
    return Advised(
        action=answer.advised,
        pattern=finding.pattern if finding is not None else None,
        stop_reason=finding.stop_reason if finding is not None else None,
        message=answer.advised_message,
    )


def report_of(report: Report) -> RunReport:
    """Return a report as it is sent."""
    return RunReport(**{field.name: getattr(report, field.name) for field in fields(report)}, in_words=report.text())


_encoder = msgspec.json.Encoder(enc_hook=str)


def encoded(message: Any) -> bytes:
    """Return a message as JSON."""
    return _encoder.encode(message)


def was_given(value: Any) -> bool:
    """Return whether a field was in the request."""
    return not isinstance(value, UnsetType)
