"""JSON that is spoilt: in its values, in its keys, and as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 1e308, -1e-320, 2**53, 2**63, 2**64, 2**70, -(2**70), float("nan"), float("inf"),
    "", " ", "0", "-1", "1e3", "0x10", "1_000", "١٢", "9" * 25, "x" * 5_000, "\x00", "\ud800", "\U0001f600", "AAAAAAAAAAA=",
    "zz" * 16, "0" * 32, [], {}, [[]], [None], [1, "a", {}], {"a": {}}, {"stringValue": 7}, {"intValue": "many"},
    {"arrayValue": 3}, {"kvlistValue": {"values": 1}},
    {"doubleValue": "NaN"}, {"bytesValue": "%%%"}, {"stringValue": "\ud800"},
)  # fmt: skip
_KEYS = (
    "resource_spans",
    "scopeSpans",
    "spans",
    "traceId",
    "trace_id",
    "spanId",
    "attributes",
    "",
    "\x00",
    "\ud800",
    "constructor",
)


def spoilt(rng: random.Random, request: Any) -> bytes:
    """The request as text, with something wrong in it."""
    changed = _misshapen(rng, request, rng.choice((0.01, 0.05, 0.3)))
    text = json.dumps(changed, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    return _as_text(rng, text) if rng.random() < 0.3 else text


def nested(rng: random.Random) -> bytes:
    """Lists or objects within each other, up to deeper than a parser may go."""
    depth = rng.choice((10, 100, 250, 900, 1_100, 20_000))
    match rng.randrange(3):
        case 0:
            return b"[" * depth + b"]" * rng.choice((depth, depth - 1))
        case 1:
            return b'{"resourceSpans":' * depth + b"[]" + b"}" * depth
        case _:
            value = b'{"arrayValue":{"values":[' * depth + b"]}}" * depth
            span = b'{"traceId":"%032x","spanId":"%016x","startTimeUnixNano":"7","attributes":[{"key":"a","value":%s}]}'
            inner = span % (rng.getrandbits(128), rng.getrandbits(64), value)
            return b'{"resourceSpans":[{"scopeSpans":[{"spans":[%s]}]}]}' % inner


def _misshapen(rng: random.Random, value: Any, share: float) -> Any:
    if rng.random() < share:
        return rng.choice(_VALUES)
    if isinstance(value, dict):
        return {
            rng.choice(_KEYS) if rng.random() < share / 2 else key: _misshapen(rng, inner, share) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_misshapen(rng, inner, share) for inner in value]
    return value


def _as_text(rng: random.Random, text: bytes) -> bytes:
    at = rng.randrange(len(text) or 1)
    changes: tuple[Callable[[], bytes], ...] = (
        lambda: text[:at],
        lambda: text[:at] + rng.randbytes(rng.randrange(1, 4)) + text[at:],
        lambda: text[:at] + text[at + rng.randrange(1, 40) :],
        lambda: text + text,
        lambda: text + b"\n\n\t ",
        lambda: b"\xef\xbb\xbf" + text,
        lambda: text.decode("utf-8", "replace").encode("utf-16"),
        lambda: text.replace(b'"', b"'"),
        lambda: text.replace(b",", b",,", 1),
        lambda: text.replace(b"}", b",}", 1),
        lambda: text.replace(b":", b":\x00", 1),
        lambda: b"// comment\n" + text,
    )
    return rng.choice(changes)()
