"""Why a run ended, as the frameworks tell it: by the exception that left an agent, by the word on its span."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.failures import find_exception, is_pause
from otel_processor.dialects.finish import CONTENT_FILTER, LENGTH, STOP
from otel_processor.dialects.values import word
from otel_processor.model import StopReason

if TYPE_CHECKING:
    from otel_processor.model import SpanFacts

_MESSAGE_CHARS: Final = 2_000

_BY_TYPE: Final = {
    # Limits of the frameworks: LangGraph, OpenAI Agents, LangChain, Google ADK, smolagents.
    "GraphRecursionError": StopReason.MAX_STEPS,
    "MaxTurnsExceeded": StopReason.MAX_STEPS,
    "MaxTurnsExceededError": StopReason.MAX_STEPS,
    "ModelCallLimitExceededError": StopReason.MAX_STEPS,
    "LlmCallsLimitExceededError": StopReason.MAX_STEPS,
    "AgentMaxStepsError": StopReason.MAX_STEPS,
    "MaxIterationsError": StopReason.MAX_STEPS,
    "MaxIterationsExceededError": StopReason.MAX_STEPS,
    "MaxStepsExceededError": StopReason.MAX_STEPS,
    "ToolCallLimitExceededError": StopReason.MAX_TOOL_CALLS,
    "BudgetExceededError": StopReason.MAX_COST,
    "CostLimitExceededError": StopReason.MAX_COST,
    # Time that the whole run was given. A request to a provider that timed out is an error like others.
    "TimeoutError": StopReason.TIMEOUT,
    "RunTimedOut": StopReason.TIMEOUT,
    "AgentTimeoutError": StopReason.TIMEOUT,
    "WorkflowTimeoutError": StopReason.TIMEOUT,
    "DeadlineExceeded": StopReason.TIMEOUT,
    # Somebody outside ended it: asyncio, Trio, Ctrl-C, a stream that nobody reads on, .NET, JavaScript, LlamaIndex, Pydantic AI.
    "CancelledError": StopReason.CANCELLED,
    "Cancelled": StopReason.CANCELLED,
    "KeyboardInterrupt": StopReason.CANCELLED,
    "GeneratorExit": StopReason.CANCELLED,
    "TaskCanceledException": StopReason.CANCELLED,
    "OperationCanceledException": StopReason.CANCELLED,
    "CancellationException": StopReason.CANCELLED,
    "AbortError": StopReason.CANCELLED,
    "WorkflowCancelledByUser": StopReason.CANCELLED,
    "RunCancelled": StopReason.CANCELLED,
    # A guardrail is a check of the input or the output, like a provider's filter; the model did not refuse anything.
    "InputGuardrailTripwireTriggered": StopReason.CONTENT_FILTER,
    "OutputGuardrailTripwireTriggered": StopReason.CONTENT_FILTER,
    "ToolInputGuardrailTripwireTriggered": StopReason.CONTENT_FILTER,
    "ToolOutputGuardrailTripwireTriggered": StopReason.CONTENT_FILTER,
    "ContentFilterError": StopReason.CONTENT_FILTER,
    "ContentFilterFinishReasonError": StopReason.CONTENT_FILTER,
    "ContentPolicyViolationError": StopReason.CONTENT_FILTER,
    "BlockedPromptException": StopReason.CONTENT_FILTER,
    "ModelRefusalError": StopReason.REFUSED,
    # The model had no room left, for what it was given or for what it wanted to say.
    "ModelContextWindowExceededError": StopReason.MODEL_LENGTH,
    "ContextWindowExceededError": StopReason.MODEL_LENGTH,
    "ContextWindowOverflowException": StopReason.MODEL_LENGTH,
    "LLMContextLengthExceededError": StopReason.MODEL_LENGTH,
    "LLMContextLengthExceededException": StopReason.MODEL_LENGTH,
    "MaxTokensReachedException": StopReason.MODEL_LENGTH,
    "MaxTokensError": StopReason.MODEL_LENGTH,
    "LengthFinishReasonError": StopReason.MODEL_LENGTH,
    "OutputTokenLimitExceeded": StopReason.MODEL_LENGTH,
    "IncompleteToolCall": StopReason.MODEL_LENGTH,
}
"""The last part of an exception's type name → what it means for the run that it ended."""

_ITERATIONS: Final = r"(?:agent )?(?:iterations?|steps|turns)"
_BY_MESSAGE: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), reason)
    for pattern, reason in (
        # Pydantic AI has one exception for all of its limits.
        (r"\btool_calls_limit\b", StopReason.MAX_TOOL_CALLS),
        (r"\bcost_limit\b|\berror_max_budget_usd\b", StopReason.MAX_COST),
        (r"\b(?:input|output|total|request|response)_tokens_limit\b", StopReason.MAX_TOKENS),
        (r"\brequest_limit\b", StopReason.MAX_STEPS),
        (r"\brecursion limit of \d+ reached", StopReason.MAX_STEPS),
        (rf"\bmax(?:imum)?(?: number of)?[ _]{_ITERATIONS}(?: of \d+| \(\d+\))? (?:exceeded|reached)", StopReason.MAX_STEPS),
        (rf"\b(?:reached|exceeded)(?: the)? max(?:imum)?(?: number of)?[ _]{_ITERATIONS}", StopReason.MAX_STEPS),
        (r"\bstopped due to (?:max iterations|iteration limit)", StopReason.MAX_STEPS),
        (r"\berror_max_turns\b|\bmax_agent_steps\b", StopReason.MAX_STEPS),
        (r"\bcontext_length_exceeded\b|\bmaximum context length\b|\bprompt is too long\b", StopReason.MODEL_LENGTH),
        (r"\bguardrail tripwire triggered\b", StopReason.CONTENT_FILTER),
        (r"\bcontent_filter\b|\bcontent management policy\b|\bcontent_policy_violation\b", StopReason.CONTENT_FILTER),
    )
)

_BY_WORD: Final = {
    STOP: StopReason.COMPLETED,
    "completed": StopReason.COMPLETED,
    "success": StopReason.COMPLETED,
    LENGTH: StopReason.MODEL_LENGTH,
    CONTENT_FILTER: StopReason.CONTENT_FILTER,
    "refusal": StopReason.REFUSED,
    "cancelled": StopReason.CANCELLED,
    "canceled": StopReason.CANCELLED,
    "aborted": StopReason.CANCELLED,
    "interrupted": StopReason.CANCELLED,
    "timeout": StopReason.TIMEOUT,
    "max_turns": StopReason.MAX_STEPS,
    "max_steps": StopReason.MAX_STEPS,
    "max_iterations": StopReason.MAX_STEPS,
    "error_max_turns": StopReason.MAX_STEPS,
    "error_max_budget_usd": StopReason.MAX_COST,
    "error_during_execution": StopReason.ERROR,
    "error": StopReason.ERROR,
}
"""Why a model or an agent stopped, as a word → what it means for the run that ended with it."""

_NAME: Final = re.compile(r"[A-Za-z_][\w.]*")
_LAST_PART: Final = re.compile(r"\w+$")


FROM_WITHIN: Final = frozenset({StopReason.CANCELLED, StopReason.HANDED_TO_HUMAN, StopReason.CONTENT_FILTER})
"""Why a run may end at any of its spans, while those above close as if nothing had been."""


def declared_stop(value: Any) -> StopReason | None:
    """The stop reason that a user or the guard declared; None for a word that is none, and for `running`."""
    told = word(value)
    try:
        reason = StopReason(told) if told is not None else None
    except ValueError:
        return None
    return None if reason is StopReason.RUNNING else reason


def declared_flag(value: Any) -> StopReason | None:
    """The loop that a guard saw first in a run; None for a word that is no loop."""
    reason = declared_stop(value)
    return reason if reason is not None and reason.startswith("loop_detected:") else None


def stop_by_word(finish_reason: str | None) -> StopReason | None:
    """What a normalised finish reason means for a run that ended with it; None where it leaves that open."""
    return _BY_WORD.get(finish_reason) if finish_reason is not None else None


def stop_by_failure(span: SpanFacts) -> StopReason | None:
    """Why a run ended that ended with the failure of this span; None where it did not fail or that says no more than `error`."""
    if is_pause(span):
        return StopReason.HANDED_TO_HUMAN
    exception = find_exception(span) if span.events else None
    attributes = span.attributes
    error_type = attributes.get(names.ERROR_TYPE)
    if span.status == "OK" or (span.status != "ERROR" and exception is None and not error_type):
        return None
    exception = exception or {}
    messages = [
        message[:_MESSAGE_CHARS]
        for told in (
            exception.get(names.EXCEPTION_MESSAGE),
            span.status_message,
            attributes.get(names.ERROR_MESSAGE),
            attributes.get(names.ERROR),
            error_type,
        )
        if isinstance(told, str) and (message := told.strip())
    ]
    # A status message often is what Python prints: the type, a colon, the text.
    types = [exception.get(names.EXCEPTION_TYPE), error_type, *(message.partition(":")[0] for message in messages)]
    for told in types:
        name = _last_part(told)
        if name in _BY_TYPE:
            return _BY_TYPE[name]
        if name in {"LoopDetected", "LoopNudge"}:
            return next((reason for message in messages if (reason := _in_front(message))), StopReason.UNKNOWN)
    return next((reason for message in messages for pattern, reason in _BY_MESSAGE if pattern.search(message)), None)


def _last_part(told: Any) -> str:
    if not isinstance(told, str) or not _NAME.fullmatch(told.strip()[:_MESSAGE_CHARS].replace("::", ".")):
        return ""
    found = _LAST_PART.search(told.strip())
    return found.group() if found else ""


def _in_front(message: str) -> StopReason | None:
    """The stop reason that our own exception writes in front of its message."""
    message = message.partition("LoopDetected: ")[2] or message
    return next((reason for reason in StopReason if message.startswith(f"{reason}: ")), None)
