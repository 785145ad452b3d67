"""Which name a value inside a list or an object stands under: its own, the option's in front of it, the object's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from otel_processor.privacy.secret_names import is_option, may_hold_secret

_NAMES: Final = ("name", "key", "header")
_LONGEST_NAME: Final = 64
_SEPARATORS: Final = re.compile("[^a-z0-9]+")

_HOLDING: Final = frozenset(
    {
        "value",
        "values",
        "current",
        "new",
        "old",
        "previous",
        "plain",
        "plaintext",
        "text",
        "data",
        "raw",
        "content",
        "stringvalue",
    }
)
"""Names inside an object that only say that the object's value stands there."""

_TELLING: Final = re.compile(
    r".*(?:type|kind|name|key|id|path|description|title|label|format|ref|pattern|version|namespace|status|state|provider|scheme"
    r"|scopes?|roles?|user|owner|url|uri|href|at|date|time|expiry|expires|created|updated|region|zone|host|server|engine|backend|algorithm|hash|digest|length|count)"
)
"""Names inside an object of what tells about a secret and is none; those of a schema of a tool are among them."""

_WORDS: Final = frozenset({"string", "object", "array", "number", "integer", "boolean", "null"})
_SCHEMA: Final = ("$ref", "anyOf", "oneOf", "allOf")
_DRAWN: Final = re.compile(r"(?!\d{4}-\d\d)(?=.*\d)\S{4,}")
"""No sentence, no date, no word."""


def parts_of_list(value: Sequence[Any], name: str) -> Iterator[tuple[Any, str]]:
    """Return the values of a list, each with the name that it stands under.

    Args:
        value: the list; a header as a pair of name and value, arguments of a command, or any.
        name: of the list.
    """
    if len(value) == 2 and isinstance(value[0], str) and len(value[0]) < _LONGEST_NAME and may_hold_secret(value[0]):
        yield value[0], ""
        yield value[1], value[0]
        return
    option = ""
    for inner in value:
        yield inner, option or name
        option = inner if isinstance(inner, str) and is_option(inner) else ""


def parts_of_object(value: Mapping[Any, Any], name: str) -> Iterator[tuple[Any, Any, str]]:
    """Return names and values of an object, each with the name that the value stands under.

    Args:
        value: the object; `{"name": "DB_PASSWORD", "value": …}`, as lists of variables and headers are written, or any.
        name: of the object.
    """
    named = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), "") if "value" in value else ""
    inherited = name if name and may_hold_secret(name) else ""
    is_schema = bool(inherited) and (any(key in value for key in _SCHEMA) or str(value.get("type")) in _WORDS)
    for key, inner in value.items():
        own = key if isinstance(key, str) else ""
        if own == "value" and named:
            own = named
        if inherited and not may_hold_secret(own) and _is_held(own, inner, is_schema):
            own = inherited
        yield key, inner, own


def _is_held(key: str, inner: Any, is_schema: bool) -> bool:
    """Return whether the secret that an object is named by is what stands there."""
    plain = _SEPARATORS.sub("", key.lower())
    if plain in _HOLDING:
        return True
    if (is_schema and isinstance(inner, str)) or _TELLING.fullmatch(plain):
        return False
    return isinstance(inner, Mapping | list | tuple) or (isinstance(inner, str) and _DRAWN.fullmatch(inner) is not None)


def parsed(text: str) -> Any:
    """Return the value of a text of JSON, with all that a name stands for; None where it is none."""
    try:
        return json.loads(text, object_pairs_hook=_with_all)
    except (ValueError, RecursionError):
        return None


def _with_all(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; where a name stands several times, with all its values in a list, and not with the last only."""
    last = dict(pairs)
    if len(last) == len(pairs):
        return last
    values: dict[str, list[Any]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return {name: several if len(several) > 1 else several[0] for name, several in values.items()}
