"""Values of attributes as Python values of the type that is wanted, or None: any type may arrive, nothing raises."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import orjson

if TYPE_CHECKING:
    from otel_processor.model import Attributes

MAX_JSON_CHARS: Final = 262_144
"""Longer texts are not looked into: reading a span has to stay cheap whatever a tool returned."""

MAX_DEPTH: Final = 200
"""Deeper structures are cut here, well before Python's own recursion limit."""

MOST_OF_A_CALL: Final = 10**12
"""Tokens or money of one call; what says more is no measurement, and sums of such numbers would not fit 64 bits."""

_CUT: Final = "…"

_JSON_STARTS: Final = frozenset('{["-0123456789tfnNI')
"""What a JSON value can begin with, NaN and Infinity included: most texts need no parser to see that they are none."""

_PLAIN_TYPES: Final = frozenset({str, int, bool, float, type(None)})
# Kept ready: a union written where it is asked for is built anew for every value.
_SCALARS: Final = (str, bool, int, float)
_BINARY: Final = (bytes, bytearray, memoryview)
_LISTS: Final = (list, tuple, set, frozenset)

_EXACT: Final = frozenset({str, int, bool, type(None)})
_LONG_INTEGER: Final = re.compile(r"[0-9]{19}")
"""Such an integer may not fit 64 bits."""

_PLACEHOLDERS: Final = frozenset({"", "unknown", "<not specified>", "n/a"})
"""What writers put where they know nothing."""
_LONGEST_PLACEHOLDER: Final = max(map(len, _PLACEHOLDERS))

WITHHELD: Final = frozenset({"__REDACTED__", "<REDACTED>", "[REDACTED]", "<not specified>", "<not serializable>", "N/A"})
"""What OpenInference, Claude Code, Strands and ADK put in place of content that was not to be recorded, or could not be.

Two calls whose arguments were both withheld are not the same call.
"""

_TRUE: Final = frozenset({"true", "1", "yes"})
_FALSE: Final = frozenset({"false", "0", "no"})

NOT_JSON: Final = object()
"""What `parse_json` answers for a text that holds no JSON."""


def parse_json(text: str) -> Any:
    """The JSON value in a text, or `NOT_JSON`; integers over 64 bits may come out as floats.

    orjson refuses NaN and lone surrogates, both of which agents do write: those go to `json`.
    """
    if len(text) > MAX_JSON_CHARS:
        return NOT_JSON
    try:
        return orjson.loads(text)
    except ValueError:
        return _parse_leniently(text)


def _parse_leniently(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return NOT_JSON


def decode(value: Any) -> Any:
    """Arguments as a JSON value: a JSON text is parsed with every integer exact, any other text stays text."""
    if not isinstance(value, str):
        return plain(value)
    if value[:1] == "{" and len(value) <= MAX_JSON_CHARS:
        # What nearly every writer sends: an object whose values need no second look.
        try:
            parsed = orjson.loads(value)
        except ValueError:
            pass
        else:
            if _is_exact(parsed):
                return parsed
    text = value.strip()
    if text[:1] not in _JSON_STARTS or len(text) > MAX_JSON_CHARS:
        return text
    parsed = parse_json(text)
    # orjson reads an integer over 64 bits as a float. Looking for floats first is cheaper than looking for long numbers.
    if not _is_exact(parsed) and _LONG_INTEGER.search(text):
        parsed = _parse_leniently(text)
    return text if parsed is NOT_JSON else parsed


def _is_exact(value: Any) -> bool:
    return type(value) is dict and _EXACT.issuperset(map(type, value.values()))


def decode_structure(value: Any) -> Any:
    """Like `decode`, but a text that only happens to be a JSON number or word stays as it was written."""
    if not isinstance(value, str):
        return plain(value)
    start = value.lstrip()[:1] if value[:1].isspace() else value[:1]
    if start not in {"{", "[", '"'}:
        return value
    parsed = parse_json(value)
    return value if parsed is NOT_JSON else parsed


def plain(value: Any, depth: int = 0) -> Any:
    """Any attribute value as dicts, lists and JSON scalars."""
    if type(value) in _PLAIN_TYPES or isinstance(value, _SCALARS):
        return value
    if isinstance(value, _BINARY):
        return _text_of_bytes(bytes(value))
    try:
        return _CUT if depth >= MAX_DEPTH else _plain_structure(value, depth + 1)
    except RecursionError:
        return _CUT


def _plain_structure(value: Any, depth: int) -> Any:
    # Loops and not comprehensions, which would take a frame more for each level.
    if type(value) is dict or isinstance(value, Mapping):
        copied = {}
        for key, item in value.items():
            copied[str(key)] = item if type(item) in _PLAIN_TYPES else plain(item, depth)
        return copied
    if isinstance(value, _LISTS):
        items = []
        for item in value:
            items.append(item if type(item) in _PLAIN_TYPES else plain(item, depth))  # noqa: PERF401
        return items
    return str(value)


def _text_of_bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.b64encode(value).decode("ascii")


def text_of(value: Any) -> str | None:
    """A value as the text that a reader would expect, or None when there is none."""
    if value is None or isinstance(value, str):
        return value
    value = plain(value)
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return None


def word(value: Any) -> str | None:
    """A name or id; None for anything empty, structured, or put there as a placeholder."""
    if type(value) is not str:
        if isinstance(value, bool) or not isinstance(value, (str, int, bytes)):
            return None
        value = _text_of_bytes(value) if isinstance(value, bytes) else str(value)
    value = value.strip()
    return None if len(value) <= _LONGEST_PLACEHOLDER and value.lower() in _PLACEHOLDERS else value


def count(value: Any) -> int | None:
    """A number of tokens: a whole number that is not negative and at most `MOST_OF_A_CALL`."""
    if type(value) is not int:
        if isinstance(value, bool) or not isinstance(value, _SCALARS):
            return None
        if isinstance(value, str):
            value = value.strip()
            # Python refuses to convert thousands of digits, and such a number would not fit anyway.
            if not value.isascii() or not value.isdigit() or len(value) > 19:
                return None
        elif isinstance(value, float) and not (math.isfinite(value) and value.is_integer()):
            return None
        value = int(value)
    return value if 0 <= value <= MOST_OF_A_CALL else None


def amount(value: Any) -> float | None:
    """An amount of money: not negative and at most `MOST_OF_A_CALL`."""
    if isinstance(value, bool) or not isinstance(value, _SCALARS):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number <= MOST_OF_A_CALL else None


def flag(value: Any) -> bool | None:
    """A yes or no, in any of the spellings that survive an exporter."""
    if isinstance(value, bool):
        return value
    spelled = str(value).strip().lower() if isinstance(value, (str, int)) else ""
    if spelled in _TRUE:
        return True
    return False if spelled in _FALSE else None


def first_word(attributes: Attributes, keys: Iterable[str]) -> str | None:
    """The first of these attributes that names something."""
    for key in keys:
        value = attributes.get(key)
        if value is not None and (found := word(value)) is not None:
            return found
    return None


def first_content(attributes: Attributes, keys: Iterable[str]) -> Any:
    """The first of these attributes that holds something, as written; an empty text when all that was recorded is empty."""
    blank = None
    for key in keys:
        value = attributes.get(key)
        if value is None or (isinstance(value, str) and value in WITHHELD):
            continue
        if value != "":
            return value
        blank = value
    return blank
