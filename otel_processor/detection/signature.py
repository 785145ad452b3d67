"""The signature: what a tool call does, as one hash.

SHA-256, in lower-case hex, of the canonical JSON of `{"name": tool, "arguments": arguments}` once what carries no
meaning is removed. The lists below are part of the definition: changing them changes every signature.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import orjson

from otel_processor.detection.canonical import NotCanonicalError, canonical_json, fast_canonical_json

VOLATILE_KEYS = frozenset(
    {
        "request_id", "requestId", "request-id", "x-request-id", "X-Request-Id", "client_request_id", "clientRequestId",
        "correlation_id", "correlationId", "x-correlation-id", "X-Correlation-Id",
        "trace_id", "traceId", "span_id", "spanId", "traceparent", "tracestate",
        "idempotency_key", "idempotencyKey", "idempotency-key", "Idempotency-Key",
        "nonce", "timestamp", "request_timestamp",
        "requestTimestamp", "request_time", "requestTime", "requested_at", "requestedAt",
    }
)  # fmt: skip
"""Argument names whose values identify one request and say nothing of what is asked."""

_LONG_NUMBER = re.compile(r"[0-9]{19}")

_EMPTY: tuple[Any, ...] = ("", None, {}, [], ())


def sign(tool: str, arguments: Any, volatile_keys: frozenset[str] = frozenset()) -> str | None:
    """Return the signature of a tool call, or None when its arguments are not known.

    Args:
        tool: the tool's name.
        arguments: a JSON value, or JSON text, or any other text (which is trimmed); None means not recorded. An
            argument called "" that holds nothing is noise that some models add, and is dropped.
        volatile_keys: argument names to ignore beyond `VOLATILE_KEYS`; they give other signatures.
    """
    if arguments is None:
        return None
    value = parse_arguments(arguments) if isinstance(arguments, str) else arguments
    if type(value) is dict or isinstance(value, Mapping):
        value = _meaningful(value, volatile_keys)
    try:
        text = fast_canonical_json({"name": tool, "arguments": value})
        if text is None:
            text = b'{"arguments":%b,"name":%b}' % (canonical_json(value), canonical_json(tool))
    except (NotCanonicalError, RecursionError):
        return None
    return hashlib.sha256(text).hexdigest()


def parse_arguments(text: str) -> Any:
    """Return the JSON value of `text`, or the trimmed text when it is not JSON.

    Integers stay exact at any size: orjson reads those beyond 64 bits as doubles, so long digit runs go to `json`.
    """
    trimmed = text.strip()
    if not trimmed or (trimmed[0] not in '{["-0123456789tfnNI'):
        return trimmed
    try:
        if _LONG_NUMBER.search(trimmed):
            return json.loads(trimmed)
        return orjson.loads(trimmed)
    except (ValueError, RecursionError):
        pass
    try:
        # What orjson refuses and json knows: NaN, Infinity, lone surrogates.
        return json.loads(trimmed)
    except (ValueError, RecursionError):
        return trimmed


def _meaningful(arguments: Mapping[Any, Any], volatile_keys: frozenset[str]) -> Mapping[Any, Any]:
    if VOLATILE_KEYS.isdisjoint(arguments) and volatile_keys.isdisjoint(arguments) and "" not in arguments:
        return arguments
    return {
        key: value
        for key, value in arguments.items()
        if key not in VOLATILE_KEYS and key not in volatile_keys and not (key == "" and value in _EMPTY)
    }
