"""Values have a bound: what is longer is cut, and its length and hash are kept."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from typing import Any

import orjson

from otel_processor.detection.canonical import NotCanonicalError, canonical_json

MAX_VALUE_CHARS = 65_536
"""Characters kept of one value."""

MAX_SPAN_CHARS = 4 << 20
"""Characters kept of all attributes (or events) of one span together; attributes beyond are left out and counted."""

Cuts = dict[str, dict[str, Any]]

_LONE_SURROGATE = re.compile(r"(?<!\\)((?:\\\\)*)\\(u[dD][89a-fA-F][0-9a-fA-F]{2})")


def bound_attributes(attributes: Mapping[str, Any], where: str, cuts: Cuts) -> str:
    """Return the attributes as JSON text with long values cut; note in `cuts` what was cut, by path.

    Args:
        attributes: any mapping, values of any type.
        where: the path under which cuts are noted, `attributes` or `events.0`.
        cuts: gets `{path: {length, sha256}}`.
    """
    text = json_text(attributes)
    if len(text) <= MAX_VALUE_CHARS:
        return text
    kept: dict[str, Any] = {}
    used = 0
    for index, (key, value) in enumerate(attributes.items()):
        bounded = _bound_value(value, f"{where}.{key}"[:300], cuts)
        used += len(str(key)) + (len(bounded) if isinstance(bounded, str) else 32)
        if used > MAX_SPAN_CHARS:
            cuts[where] = {"kept": index, "of": len(attributes)}
            break
        kept[str(key)[:MAX_VALUE_CHARS]] = bounded
    return json_text(kept)


def _bound_value(value: Any, path: str, cuts: Cuts) -> Any:
    if isinstance(value, bool | int | float) or value is None:
        return value
    text = value if isinstance(value, str) else json_text(value)
    if len(text) <= MAX_VALUE_CHARS:
        return value
    cuts[path] = {"length": len(text), "sha256": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()}
    return text[:MAX_VALUE_CHARS]


def json_text(value: Any) -> str:
    """Return any value as JSON text that DuckDB accepts.

    What JSON cannot say is written as canonical JSON does (NaN as "NaN", bytes as base64), lone surrogates as the six
    characters of their escape.
    """
    try:
        text = orjson.dumps(value)
        if b"null" not in text or not _has_nan(value):
            return text.decode()
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return _LONE_SURROGATE.sub(r"\1\\\\\2", canonical_json(value).decode())
    except (NotCanonicalError, RecursionError):
        return orjson.dumps(str(type(value))).decode()


def _has_nan(value: Any) -> bool:
    stack, looked_at = [value], 0
    while stack and looked_at < 100_000:
        item = stack.pop()
        looked_at += 1
        if isinstance(item, float):
            if not math.isfinite(item):
                return True
        elif isinstance(item, Mapping):
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)
    return False
