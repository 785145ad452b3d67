"""Values have a bound: what is longer is cut, and its length and hash are kept."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from otel_processor.detection.canonical import canonical_json

MAX_VALUE_CHARS = 65_536
"""Characters kept of one value."""

MAX_SPAN_CHARS = 4 << 20
"""Characters kept of all attributes (or events) of one span together; attributes beyond are left out and counted."""

_MOST_PARTS = 100_000
"""Parts that are looked at of one value; the text of what has more is longer than what is kept."""

Cuts = dict[str, dict[str, Any]]

_LONE_SURROGATE = re.compile(r"(?<!\\)((?:\\\\)*)\\(u[dD][89a-fA-F][0-9a-fA-F]{2})")


def bound_attributes(attributes: Mapping[str, Any], where: str, cuts: Cuts, blobs: list[bytes] | None = None) -> str:
    """Return the attributes as JSON text with long values cut; note in `cuts` what was cut, by path.

    Args:
        attributes: any mapping, values of any type.
        where: the path under which cuts are noted, `attributes` or `events.0`.
        cuts: gets `{path: {length, sha256}}`.
        blobs: gets the bytes in values that are not cut, whose text cannot be told from the JSON.
    """
    text = plain_json(attributes)
    if text is not None and len(text) <= MAX_VALUE_CHARS:
        return text
    # One by one: what is wrong with one value is no loss to the others.
    kept: dict[str, str] = {}
    used = 0
    for index, (key, value) in enumerate(attributes.items()):
        name = key if isinstance(key, str) else _text_of(key)
        bounded = json_text(_bound_value(value, f"{where}.{name}"[:300], cuts))
        if text is None and blobs is not None:
            blobs.extend(part for part in _parts(value) if isinstance(part, bytes))
        used += len(name) + len(bounded)
        if used > MAX_SPAN_CHARS:
            cuts[where] = {"kept": index, "of": len(attributes)}
            break
        kept[name[:MAX_VALUE_CHARS]] = bounded
    return "{" + ",".join(f"{json_text(name)}:{bounded}" for name, bounded in kept.items()) + "}"


def _bound_value(value: Any, path: str, cuts: Cuts) -> Any:
    if isinstance(value, bool | int | float) or value is None:
        return value
    text = value if isinstance(value, str) else json_text(value)
    if len(text) <= MAX_VALUE_CHARS:
        return value
    cut = {"length": len(text), "sha256": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()}
    cuts[path] = cuts.get(path, {}) | cut
    return text[:MAX_VALUE_CHARS]


def json_text(value: Any) -> str:
    """Return any value as JSON text that DuckDB accepts.

    What JSON cannot say is written as canonical JSON does (NaN as "NaN", bytes as base64), lone surrogates as the six
    characters of their escape.
    """
    text = plain_json(value)
    if text is not None:
        return text
    try:
        return _LONE_SURROGATE.sub(r"\1\\\\\2", canonical_json(value).decode())
    except Exception:  # noqa: BLE001 - an endless value, or an object that cannot even be written as text
        return orjson.dumps(str(type(value))).decode()


def plain_json(value: Any) -> str | None:
    """Return what orjson writes, or None where JSON cannot say it."""
    try:
        text = orjson.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return None
    return None if b"null" in text and _has_nan(value) else text.decode()


def _text_of(key: object) -> str:
    try:
        return str(key)
    except Exception:  # noqa: BLE001 - whatever an object does when it is asked for its text
        return str(type(key))


def _has_nan(value: Any) -> bool:
    return any(isinstance(part, float) and not math.isfinite(part) for part in _parts(value))


def _parts(value: Any) -> Iterator[Any]:
    """Yield what a value holds and is no container; of a very large or endless one a part."""
    stack, looked_at = [value], 0
    while stack and looked_at < _MOST_PARTS:
        item = stack.pop()
        looked_at += 1
        if isinstance(item, Mapping):
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)
        else:
            yield item
