"""Protobuf as it is on the wire, taken apart without a schema, spoilt in one place, and put together again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

_VARINT, _FIXED64, _BYTES, _START, _END, _FIXED32 = range(6)
_EXTREMES = (0, 1, 127, 128, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1)
_TEXTS = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"a" * 100_000,
    b"\xe2\x80\xae",
    b"'; drop table spans",
)
_DEEPEST = 150


@dataclass(slots=True)
class Field:
    """One field: its number, its wire type, and what it holds, encoded."""

    number: int
    kind: int
    value: bytes

    def encoded(self) -> bytes:
        """As it is on the wire."""
        head = varint(self.number << 3 | self.kind)
        return head + (varint(len(self.value)) if self.kind == _BYTES else b"") + self.value


def varint(number: int) -> bytes:
    """A whole number from 0 on."""
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def fields_of(message: bytes) -> list[Field] | None:
    """The fields of a message; None when it is none."""
    found, at = [], 0
    try:
        while at < len(message):
            key, at = _read_varint(message, at)
            number, kind = key >> 3, key & 7
            begun = at
            if kind == _VARINT:
                _, at = _read_varint(message, at)
            elif kind == _BYTES:
                size, begun = _read_varint(message, at)
                at = begun + size
            elif kind in (_FIXED64, _FIXED32):
                at += 8 if kind == _FIXED64 else 4
            else:
                return None
            if not number or at > len(message):
                return None
            found.append(Field(number, kind, message[begun:at]))
    except IndexError:
        return None
    return found


def spoilt(rng: random.Random, message: bytes) -> bytes:
    """The message with one thing changed, somewhere inside of it."""
    fields = fields_of(message)
    if not fields:
        return rng.randbytes(rng.randrange(1, 12))
    at = rng.randrange(len(fields))
    field = fields[at]
    if field.kind == _BYTES and rng.random() < 0.75 and fields_of(field.value):
        fields[at] = Field(field.number, _BYTES, spoilt(rng, field.value))
        return b"".join(each.encoded() for each in fields)
    parts = [each.encoded() for each in fields]
    parts[at] = _changed(rng, field)
    if rng.random() < 0.1:
        rng.shuffle(parts)
    return b"".join(parts)


def nested(rng: random.Random) -> bytes:
    """An AnyValue, lists within lists: more of them than a parser may go down."""
    value = b"\x0a\x01x"
    for _ in range(rng.randrange(1, _DEEPEST)):
        if rng.random() < 0.5:
            # AnyValue.array_value.values
            value = Field(5, _BYTES, Field(1, _BYTES, value).encoded()).encoded()
        else:
            # AnyValue.kvlist_value.values, each a key and a value
            pair = Field(1, _BYTES, b"k").encoded() + Field(2, _BYTES, value).encoded()
            value = Field(6, _BYTES, Field(1, _BYTES, pair).encoded()).encoded()
    return value


def _changed(rng: random.Random, field: Field) -> bytes:  # noqa: C901 - one case for each kind of change
    match rng.randrange(11):
        case 0:
            return b""
        case 1:
            return field.encoded() * rng.randrange(2, 5)
        case 2:
            return Field(rng.choice((1, 2, 15, 16, 999, 19_000, 2**29 - 1)), field.kind, field.value).encoded()
        case 3:
            return Field(field.number, rng.randrange(8), field.value).encoded()
        case 4:
            return varint(field.number << 3 | _BYTES) + varint(rng.choice(_EXTREMES)) + field.value
        case 5:
            return Field(field.number, _VARINT, varint(rng.choice(_EXTREMES))).encoded()
        case 6:
            # A number in more bytes than it needs, or than it may have.
            return varint(field.number << 3) + b"\x80" * rng.randrange(1, 14) + b"\x00"
        case 7:
            return Field(field.number, _FIXED64, rng.choice(_EXTREMES).to_bytes(8, "little")).encoded()
        case 8:
            return Field(field.number, _BYTES, rng.choice(_TEXTS)).encoded()
        case 9:
            return varint(field.number << 3 | _START) + field.value + varint(field.number << 3 | _END)
        case _:
            return Field(field.number, _BYTES, rng.randbytes(rng.choice((1, 7, 8, 9, 15, 16, 17)))).encoded()


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    number = 0
    for place in range(10):
        byte = message[at]
        at += 1
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return number, at
    raise IndexError
