"""Whether an operation failed, in every shape in which writers say so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.values import text_of, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from otel_processor.model import Attributes, SpanFacts

MAX_MESSAGE_CHARS: Final = 4_000

_BAD_STATES: Final = frozenset({"error", "failed", "failure", "exception"})

_FAILURE_TEXTS: Final = (
    ("openai_agents", re.compile(r"An error occurred while running the tool")),
    ("agno", re.compile(r"(?:\w+\()?status='(?:failure|failed|error)'")),
)
"""Writers that hand the model a text in place of an exception: part of the scope's name, how such a text begins."""

_REPR_ERROR: Final = re.compile(r"""\berror=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
_TRACEBACK: Final = "Traceback (most recent call last)"


_ABOUT_FAILURES: Final = frozenset(
    "error error_code error_message error_type errorCode errorMessage errorType code message status status_code statusCode "
    "detail details description hint type reason success ok request_id requestId retry_after retryAfter retryable timestamp "
    "traceback stack".split()
)
"""What an object with an `error` has beside it where it tells nothing but a failure."""


_NO_ERROR: Final = frozenset({"none", "null", "n/a", "no", "no error", "ok", "-"})

_PAUSES: Final = frozenset({"GraphInterrupt", "NodeInterrupt"})
_PAUSED: Final = re.compile(r"\s*(?:(?:Graph|Node)Interrupt)?\(+Interrupt\(|\s*(?:Graph|Node)Interrupt[(:]")


@dataclass(frozen=True, slots=True)
class FailureKeys:
    """The attributes in which the writers of a span tell of failures, beside those that all use."""

    states: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an operation failed, as far as it is told."""

    type: str | None
    message: str | None


def find_failure(span: SpanFacts, keys: FailureKeys, result: Any, *, result_failed: bool = False) -> Failure | None:
    """The failure that a span tells of, or None when it went well as far as one can see.

    A result that merely mentions an error is none: only its shape counts, or how a known writer words it.
    """
    attributes = span.attributes
    status = span.status
    exception = find_exception(span) if span.events else None
    told_by_result = _failed_result(span.scope, result)
    failed = (
        status == "ERROR"
        or result_failed
        or told_by_result
        # An exception that was recorded and overcome stands on spans whose status was then set to OK.
        or (exception is not None and status != "OK")
        or bool(attributes.get(names.ERROR_TYPE))
        or _bad_state(attributes, keys.states)
    )
    if not failed or is_pause(span):
        return None
    return Failure(
        _type(attributes, exception),
        _message(span, exception, keys, result if told_by_result or result_failed or isinstance(result, str) else None),
    )


def is_pause(span: SpanFacts) -> bool:
    """Whether an operation stopped to ask a human, which LangGraph says by an exception: it did not fail, and may go on later."""
    attributes = span.attributes
    exception = (find_exception(span) if span.events else None) or {}
    for kind in (exception.get(names.EXCEPTION_TYPE), attributes.get(names.ERROR_TYPE)):
        if isinstance(kind, str) and kind.rpartition(".")[2] in _PAUSES:
            return True
    told = (exception.get(names.EXCEPTION_MESSAGE), span.status_message, attributes.get(names.LANGFUSE_STATUS_MESSAGE))
    return any(isinstance(message, str) and _PAUSED.match(message) is not None for message in told)


def find_exception(span: SpanFacts) -> Attributes | None:
    """The attributes of the last exception that was recorded on a span, or None."""
    for event in reversed(span.events):
        if event.name == names.EXCEPTION_EVENT:
            return event.attributes or {}
    return None


def _bad_state(attributes: Attributes, state_keys: Iterable[str]) -> bool:
    for key in state_keys:
        state = attributes.get(key)
        if state is True or (isinstance(state, str) and state.lower() in _BAD_STATES):
            return True
    return False


def _failed_result(scope: str, result: Any) -> bool:
    if isinstance(result, dict):
        return is_failed_object(result)
    if isinstance(result, str):
        return any(part in scope and start.match(result) for part, start in _FAILURE_TEXTS)
    return False


def is_failed_object(result: Mapping[str, Any]) -> bool:
    """Whether a result has the shape of a failure, in any of the ways in which tools and frameworks write one."""
    status = result.get("status")
    if isinstance(status, str) and status.lower() == "error":
        return True
    if result.get("is_error") is True or result.get("isError") is True:
        return True
    error = result.get("error")
    if not error or result.get("success") is True or result.get("ok") is True:
        return False
    if result.get("success") is False or result.get("ok") is False or len(result) == 1:
        return True
    # A state that is told beside it is what was asked for: how a job ended.
    if isinstance(status, str) or (isinstance(error, str) and error.strip().lower() in _NO_ERROR):
        return False
    code = result.get("code", result.get("status_code", status))
    if isinstance(code, int) and (code == 0 or code // 100 == 2):
        return False
    return _ABOUT_FAILURES.issuperset(result)


def _type(attributes: Attributes, exception: Attributes | None) -> str | None:
    told = word(exception.get(names.EXCEPTION_TYPE)) if exception else None
    if told is None:
        told = word(attributes.get(names.ERROR_TYPE))
    # Some writers put the whole message where the type belongs.
    return told if told is not None and " " not in told else None


def _message(span: SpanFacts, exception: Attributes | None, keys: FailureKeys, result: Any) -> str | None:
    attributes = span.attributes
    candidates = (
        exception.get(names.EXCEPTION_MESSAGE) if exception else None,
        span.status_message,
        *(attributes.get(key) for key in keys.messages),
        attributes.get(names.ERROR),
        attributes.get(names.ERROR_MESSAGE),
        attributes.get(names.ERROR_TYPE),
        _message_of_result(result),
    )
    for candidate in candidates:
        message = _readable(candidate)
        if message is not None:
            return message[:MAX_MESSAGE_CHARS]
    return None


def _readable(told: Any) -> str | None:
    """A message that says something: of a traceback the last line, and no bare `ValueError:` with nothing behind it."""
    message = word(told) if isinstance(told, str) else None
    if message is None:
        return None
    if _TRACEBACK in message:
        message = message.rpartition("\n")[2].strip()
    return None if message.endswith(":") and " " not in message else message


def _message_of_result(result: Any) -> str | None:
    if isinstance(result, dict):
        for key in ("error_message", "errorMessage", "error", "message"):
            told = result.get(key)
            if isinstance(told, dict):
                told = told.get("message")
            if isinstance(told, str) and told:
                return told
    elif isinstance(result, str) and (found := _REPR_ERROR.search(result[:MAX_MESSAGE_CHARS])):
        return found[1][1:-1]
    return text_of(result)
