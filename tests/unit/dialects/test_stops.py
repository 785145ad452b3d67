"""Why a run ended, as exceptions and words of the frameworks tell it."""

from __future__ import annotations

import pytest

from otel_processor.dialects import names, read_span
from otel_processor.dialects.stops import declared_stop, stop_by_failure, stop_by_word
from otel_processor.errors import LoopDetected
from otel_processor.model import Action, Pattern, StopReason, Verdict
from tests.unit.factory import agent_span, exception_event, make_span

LOOP = Verdict(
    pattern=Pattern.CYCLE,
    action=Action.STOP,
    stop_reason=StopReason.CYCLE,
    severity="critical",
    message="a, b, a, b: again",
    evidence={},
)

EXCEPTIONS = [
    (
        "langgraph.errors.GraphRecursionError",
        "Recursion limit of 25 reached without hitting a stop condition.",
        "max_steps_reached",
    ),
    ("agents.exceptions.MaxTurnsExceeded", "Max turns (10) exceeded", "max_steps_reached"),
    ("google.adk.agents.invocation_context.LlmCallsLimitExceededError", "limit", "max_steps_reached"),
    ("langchain.agents.middleware.model_call_limit.ModelCallLimitExceededError", "run limit (3/3)", "max_steps_reached"),
    ("langchain.agents.middleware.tool_call_limit.ToolCallLimitExceededError", "run limit (3/3)", "max_tool_calls_reached"),
    ("smolagents.utils.AgentMaxStepsError", "Reached max steps.", "max_steps_reached"),
    ("pydantic_ai.exceptions.UsageLimitExceeded", "The next request would exceed the request_limit of 8", "max_steps_reached"),
    (
        "pydantic_ai.exceptions.UsageLimitExceeded",
        "The next tool call(s) would exceed the tool_calls_limit of 1 (tool_calls=2).",
        "max_tool_calls_reached",
    ),
    (
        "pydantic_ai.exceptions.UsageLimitExceeded",
        "Exceeded the total_tokens_limit of 90 (total_tokens=104)",
        "max_tokens_reached",
    ),
    ("pydantic_ai.exceptions.UsageLimitExceeded", "Exceeded the `cost_limit` of 2 (`usage.cost`=3)", "max_cost_reached"),
    ("workflows.errors.WorkflowRuntimeError", "Max iterations of 20 reached! Either something went wrong", "max_steps_reached"),
    ("ValueError", "Reached max iterations.", "max_steps_reached"),
    ("RuntimeError", "Agent stopped due to max iterations.", "max_steps_reached"),
    ("claude_agent_sdk.ProcessError", "the query ended with error_max_turns", "max_steps_reached"),
    ("workflows.errors.WorkflowTimeoutError", "Operation timed out after 10.0 seconds", "timeout"),
    ("TimeoutError", "", "timeout"),
    ("asyncio.exceptions.TimeoutError", "", "timeout"),
    ("asyncio.exceptions.CancelledError", "", "cancelled"),
    ("KeyboardInterrupt", "", "cancelled"),
    ("GeneratorExit", "", "cancelled"),
    ("System.Threading.Tasks.TaskCanceledException", "A task was canceled.", "cancelled"),
    ("agents.exceptions.InputGuardrailTripwireTriggered", "Guardrail triggered tripwire", "content_filter"),
    ("pydantic_ai.exceptions.ContentFilterError", "no", "content_filter"),
    ("AgentsException", "Guardrail tripwire triggered", "content_filter"),
    ("agents.exceptions.ModelRefusalError", "no", "refused"),
    ("langgraph.errors.GraphInterrupt", "approve?", "handed_to_human"),
    ("strands.types.exceptions.MaxTokensReachedException", "unrecoverable state due to max_tokens limit", "model_length"),
    ("strands.types.exceptions.ContextWindowOverflowException", "too long", "model_length"),
    ("openai.BadRequestError", "This model's maximum context length is 8192 tokens.", "model_length"),
    ("strands.types.exceptions.EventLoopException", "{'code': 'context_length_exceeded'}", "model_length"),
    ("otel_processor.errors.LoopDetected", str(LoopDetected(LOOP)), "loop_detected:cycle"),
    ("ValueError", "no such order", None),
    ("RecursionError", "maximum recursion depth exceeded", None),
    ("openai.APITimeoutError", "Request timed out.", None),
    ("ValueError", "at most 3 steps are allowed here, the maximum steps were not given", None),
]


@pytest.mark.parametrize(("kind", "message", "reason"), EXCEPTIONS)
def test_an_exception_event_tells_why_the_run_ended(kind: str, message: str, reason: str | None) -> None:
    span = agent_span("a", status="ERROR", events=[exception_event(kind, message)])
    assert stop_by_failure(span) == reason


@pytest.mark.parametrize(("kind", "message", "reason"), EXCEPTIONS)
def test_without_an_event_its_type_and_the_status_message_tell_it(kind: str, message: str, reason: str | None) -> None:
    span = agent_span("a", status="ERROR", status_message=message, more={"error.type": kind})
    assert stop_by_failure(span) == reason


@pytest.mark.parametrize(("kind", "message", "reason"), EXCEPTIONS)
def test_the_status_message_as_python_prints_it_is_enough(kind: str, message: str, reason: str | None) -> None:
    assert stop_by_failure(make_span("a", status="ERROR", status_message=f"{kind.rpartition('.')[2]}: {message}")) == reason


def test_an_exception_that_was_overcome_ended_nothing() -> None:
    event = exception_event("agents.exceptions.MaxTurnsExceeded", "Max turns (10) exceeded")
    assert stop_by_failure(agent_span("a", status="OK", events=[event])) is None
    assert stop_by_failure(agent_span("a", status_message="CancelledError: ")) is None


def test_odd_values_tell_nothing() -> None:
    odds: list[object] = [7, [], b"CancelledError", "", " ", "a b c", "x" * 100_000, "."]
    for odd in odds:
        assert stop_by_failure(make_span("a", {"error.type": odd}, status="ERROR")) is None


@pytest.mark.parametrize("reason", sorted(set(StopReason) - {StopReason.RUNNING, StopReason.UNKNOWN}))
def test_a_declared_stop_reason_is_read_from_any_span(reason: StopReason) -> None:
    assert read_span(make_span("a", {names.LOOP_STOP_REASON_DECLARED: str(reason)})).stop_declared is reason


@pytest.mark.parametrize("odd", ["because", "running", "unknown", "", 3, None, ["completed"]])
def test_what_is_no_stop_reason_is_ignored(odd: object) -> None:
    assert declared_stop(odd) is None


def test_the_tag_that_we_write_ourselves_is_no_declaration() -> None:
    assert read_span(make_span("a", {names.LOOP_STOP_REASON: "cancelled"})).stop_declared is None


def test_words_of_models_and_agents() -> None:
    said = {
        word: stop_by_word(word)
        for word in ("stop", "length", "content_filter", "refusal", "error_max_turns", "error_max_budget_usd", "tool_calls", "hm")
    }
    assert said == {
        "stop": StopReason.COMPLETED,
        "length": StopReason.MODEL_LENGTH,
        "content_filter": StopReason.CONTENT_FILTER,
        "refusal": StopReason.REFUSED,
        "error_max_turns": StopReason.MAX_STEPS,
        "error_max_budget_usd": StopReason.MAX_COST,
        "tool_calls": None,
        "hm": None,
    }
    assert stop_by_word(None) is None


def test_a_guard_says_which_loop_it_saw_first() -> None:
    cycle = str(StopReason.CYCLE)
    said = [
        read_span(make_span("a", {names.LOOP_FLAGGED_REASON_DECLARED: word})).flag_declared for word in (cycle, "error", "x", 3)
    ]
    assert said == [StopReason.CYCLE, None, None, None]
