r"""Canonical JSON (RFC 8785): one text for one value, whatever its key order, spacing or number spelling.

Beyond the RFC, which leaves these open or forbids them:
integers of any size stay exact decimals; NaN and the infinities are the strings "NaN", "Infinity", "-Infinity"; a lone
surrogate is its lower-case escape (`\ud800`), as ECMAScript's well-formed JSON.stringify writes it; bytes are base64;
keys that are no strings are their text; other objects are their `str()`.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping, Sequence, Set
from enum import Enum
from typing import Any

import orjson

MAX_DEPTH = 200
"""Containers nested deeper than this are signed as the text of their canonical JSON, that is as one string."""

MAX_NODES = 1_000_000
"""A value with more parts than this (or one that contains itself) has no canonical form."""

_OPTIONS = (
    orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
)

# Where orjson's output may differ from RFC 8785: anything that looks like a fraction or an exponent, `null` (orjson's NaN),
# and four-byte characters (it sorts keys by code point, the RFC by UTF-16 unit). A match only costs the slower writer.
_MAYBE_DIFFERENT = re.compile(rb"[0-9][.eE]|null|[\xf0-\xf4]")


_FLAT = frozenset({str, int, bool, type(None)})

_END = object()
"""On the writer's stack: a container has been written whole."""


class NotCanonicalError(ValueError):
    """The value has no canonical form: it contains itself, or has more than a million parts."""


def canonical_json(value: Any) -> bytes:
    """Return the canonical JSON of `value` as UTF-8.

    Raises:
        NotCanonicalError: the value is endless or larger than `MAX_NODES` parts.
    """
    return fast_canonical_json(value) or _slow(value)


def fast_canonical_json(value: Any) -> bytes | None:
    """Return the canonical JSON of `value` where orjson writes it, or None where it may write it differently."""
    try:
        text = orjson.dumps(value, option=_OPTIONS)
    except (TypeError, ValueError, RecursionError):
        return None
    # Every part but the first of its container follows a comma.
    if len(text) > MAX_NODES and text.count(b",") + text.count(b"[") + text.count(b"{") >= MAX_NODES:
        return None
    if text.isascii() and _is_flat(value):
        return text
    if text.count(b"[") + text.count(b"{") > MAX_DEPTH or _MAYBE_DIFFERENT.search(text):
        return None
    return text


def _is_flat(value: Any) -> bool:
    """Return whether a value holds text and whole numbers only, as most arguments do: then nothing is written differently."""
    if type(value) is not dict:
        return False
    for member in value.values():
        if type(member) not in _FLAT and not (type(member) is dict and _FLAT.issuperset(map(type, member.values()))):
            return False
    return True


def _slow(value: Any) -> bytes:
    text, depth = _write(value)
    if depth > MAX_DEPTH:
        text = _string(text)
    return text.encode()


def _write(value: Any) -> tuple[str, int]:
    """Write without recursion, so that depth is bounded by `MAX_NODES` only; returns the text and the depth seen."""
    out: list[str] = []
    stack: list[tuple[Any, int, bool]] = [(value, 0, False)]
    # Containers whose end is not written yet. They are held, since the id of one that is gone may be given to another.
    unfinished: dict[int, Any] = {}
    nodes, deepest = 1, 0
    while stack:
        item, depth, is_text = stack.pop()
        if is_text:
            out.append(item)
            continue
        if item is _END:
            unfinished.popitem()
            continue
        if isinstance(item, Enum):
            item = item.value
        members = _members(item, MAX_NODES - nodes)
        if members is None:
            out.append(_scalar(item))
            continue
        if id(item) in unfinished:
            raise NotCanonicalError("the value contains itself")
        unfinished[id(item)] = item
        nodes += len(members)
        deepest = max(deepest, depth + 1)
        opening, closing = "{}" if isinstance(item, Mapping) else "[]"
        out.append(opening)
        stack.append((_END, 0, False))
        stack.append((closing, 0, True))
        for index in range(len(members) - 1, -1, -1):
            before, member = members[index]
            stack.append((member, depth + 1, False))
            stack.append((f",{before}" if index else before, 0, True))
    return "".join(out), deepest


def _members(item: Any, limit: int) -> list[tuple[str, Any]] | None:
    """Return what a container holds, with the text that goes before each part; None for anything else.

    The limit is looked at before anything is laid out: a value may say to be far longer than it can be held.
    """
    is_mapping = isinstance(item, Mapping)
    if not is_mapping and (not isinstance(item, Sequence | Set) or isinstance(item, str | bytes | bytearray)):
        return None
    if len(item) > limit:
        raise NotCanonicalError("the value has more than a million parts")
    if is_mapping:
        return [(f"{_string(key)}:", member) for key, member in sorted(((_key(k), m) for k, m in item.items()), key=_utf16)]
    return [("", part) for part in (item if isinstance(item, Sequence) else sorted(item, key=repr))]


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, bytes | bytearray):
        return _string(base64.b64encode(value).decode())
    return _string(str(value))


def _key(key: Any) -> str:
    return key if isinstance(key, str) else str(key)


def _utf16(member: tuple[str, Any]) -> bytes:
    return member[0].encode("utf-16-be", "surrogatepass")


def _string(text: str) -> str:
    try:
        return orjson.dumps(str.__str__(text)).decode()
    except (TypeError, ValueError):
        # A lone surrogate: `json` escapes all else in the same way, and leaves the surrogate to be written as its escape.
        return json.dumps(str.__str__(text), ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def _integer(value: int) -> str:
    try:
        return int.__repr__(value)
    except ValueError:
        # Python refuses to print integers beyond 4,300 digits; their hexadecimal text is as exact.
        return _string(hex(value))


def _number(value: float) -> str:
    """Write a double as ECMAScript does (ECMA-262 section 6.1.6.1.20), which RFC 8785 section 3.2.2.3 asks for."""
    if math.isnan(value):
        return '"NaN"'
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    # Python's shortest digits are ECMAScript's; only where it puts the point differs. The value is 0.digits * 10 ** point.
    mantissa, _, exponent = float.__repr__(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    significant = (whole + fraction).lstrip("0")
    point = int(exponent or 0) + len(significant) - len(fraction)
    digits = significant.rstrip("0")
    if len(digits) <= point <= 21:
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
