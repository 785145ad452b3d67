"""Whether a failed call is worth repeating."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from otel_processor.model import ErrorClass

_LOOKED_AT_CHARS = 2_000

_TRANSIENT = re.compile(
    r"\b(?:429|502|503|504)\b|too many requests|rate.?limit|time[ds]?.?out|deadline exceeded|temporarily|service unavailable"
    r"|overloaded|connection (?:reset|refused|aborted|error)|try again later|resource.?exhausted|throttl",
    re.IGNORECASE,
)
_KILLED = re.compile(r"\bkilled\b|exit ?code:? 1(?:24|37)\b|returncode>1(?:24|37)<|time limit exceeded", re.IGNORECASE)
"""A program that was stopped because it ran for too long: it will the next time."""

_VALIDATION = re.compile(
    r"\b(?:400|422)\b|validation|invalid (?:argument|parameter|input|value)|missing (?:\d+ )?(?:required|argument|parameter)"
    r"|unexpected keyword|TypeError|ValueError|schema|bad request|malformed",
    re.IGNORECASE,
)
_PERMANENT = re.compile(
    r"\b(?:401|403|404|405|410|501)\b|unauthorized|forbidden|permission denied|not found|no such|access denied|does not exist"
    r"|not implemented|unknown (?:tool|command|function|action)|quota exceeded|FileNotFoundError|KeyError",
    re.IGNORECASE,
)

_STATUS_KEYS = ("status_code", "statusCode", "status", "code", "http_status")
_TRANSIENT_STATUS = frozenset({429, 502, 503, 504})


def classify_error(*texts: str | None) -> ErrorClass:
    """Say what kind of failure the texts of an error (its type, its message, the result) describe.

    Transient comes first: "503: page not found in cache" is worth another try.
    """
    text = " ".join(text[:_LOOKED_AT_CHARS] for text in texts if text)
    if _TRANSIENT.search(text) and not _KILLED.search(text):
        return ErrorClass.TRANSIENT
    if _PERMANENT.search(text):
        return ErrorClass.PERMANENT
    if _VALIDATION.search(text):
        return ErrorClass.VALIDATION
    return ErrorClass.OTHER


def transient_in_body(result: Any) -> bool:
    """Return whether a result that came back as a success says 429 or 503 inside.

    Only structured answers count: a page of text may mention a rate limit without having met one.
    """
    if not isinstance(result, Mapping):
        return False
    candidates = [result.get(key) for key in _STATUS_KEYS]
    error = result.get("error")
    if isinstance(error, Mapping):
        candidates += [error.get(key) for key in _STATUS_KEYS]
    return any(_as_status(value) in _TRANSIENT_STATUS for value in candidates)


def _as_status(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value[:3].isascii() and value[:3].isdigit() and not value[3:4].isalnum():
        return int(value[:3])
    return None
