"""The small values of OTLP/JSON: attribute values, ids, times and enums, in every spelling that senders use.

Source: OTLP specification, JSON Protobuf Encoding: ids in hex, enums as integers, 64-bit integers as strings. Protobuf's
own JSON mapping writes ids in base64 and enums by name, and lenient senders write integers as numbers.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KINDS: Final = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
STATUSES: Final = ("UNSET", "OK", "ERROR")

_HEX: Final = "0123456789abcdef"
_INT64_MAX: Final = 2**63 - 1
_MAX_DIGITS: Final = 20


def field(message: Mapping[str, Any], name: str, snake_name: str) -> Any:
    """A field by its JSON name, or by its name in the schema, which parsers must accept as well."""
    value = message.get(name)
    return message.get(snake_name) if value is None else value


def attributes_of(pairs: Any) -> dict[str, Any]:
    """A list of key-value pairs as a dict; what is no pair is left out."""
    found: dict[str, Any] = {}
    for pair in pairs if isinstance(pairs, list) else ():
        if isinstance(pair, dict) and isinstance(key := pair.get("key", ""), str):
            found[key] = any_value(pair.get("value"))
    return found


def any_value(value: Any) -> Any:
    """An AnyValue as a Python value; None for an empty or unreadable one."""
    if isinstance(value, dict):
        for kind, inner in value.items():
            convert = _CONVERTERS.get(kind)
            if convert is not None:
                try:
                    return convert(inner)
                except (ValueError, TypeError, OverflowError):
                    return None
    return None


def _integer(value: Any) -> int:
    if isinstance(value, str) and len(value) > _MAX_DIGITS:
        raise ValueError
    number = int(value)
    if not -_INT64_MAX - 1 <= number <= _INT64_MAX:
        raise ValueError
    return number


def _bytes(value: Any) -> bytes:
    return base64.b64decode(str(value).replace("-", "+").replace("_", "/"), validate=True)


def _array(value: Any) -> list[Any]:
    return [any_value(item) for item in value.get("values") or ()] if isinstance(value, dict) else []


def _kvlist(value: Any) -> dict[str, Any]:
    return attributes_of(value.get("values")) if isinstance(value, dict) else {}


_CONVERTERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "stringValue": str,
    "string_value": str,
    "intValue": _integer,
    "int_value": _integer,
    "boolValue": bool,
    "bool_value": bool,
    "doubleValue": float,
    "double_value": float,
    "arrayValue": _array,
    "array_value": _array,
    "kvlistValue": _kvlist,
    "kvlist_value": _kvlist,
    "bytesValue": _bytes,
    "bytes_value": _bytes,
}


def hex_id(value: Any, size: int) -> str | None:
    """An id of `size` bytes in lower-case hex, from hex or base64; None when it is no id or all zero."""
    if not isinstance(value, str):
        return None
    text = value.lower()
    if len(text) != 2 * size or text.strip(_HEX):
        try:
            raw = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return None
        if len(raw) != size:
            return None
        text = raw.hex()
    return text if text.strip("0") else None


def nanoseconds(value: Any) -> int | None:
    """A time since the epoch; None when missing or out of range."""
    try:
        number = int(value) if not isinstance(value, str) or len(value) <= _MAX_DIGITS else -1
    except (ValueError, TypeError, OverflowError):
        return None
    return number if 0 <= number <= _INT64_MAX else None


def whole_number(value: Any) -> int:
    """A counter or a set of flags; 0 when missing or unreadable."""
    return nanoseconds(value) or 0


def enum_name(value: Any, options: tuple[str, ...], prefix: str) -> str:
    """The short name of an enum value given as number or name; the first option when unknown."""
    if isinstance(value, str) and not value.isdecimal():
        name = value.upper().removeprefix(prefix)
        return name if name in options else options[0]
    number = whole_number(value)
    return options[number] if number < len(options) else options[0]
