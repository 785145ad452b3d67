r"""Letters and signs that are written as escapes of JSON, `\u0022` for a quote, as .NET and Go write them."""

from __future__ import annotations

from typing import Final

ESCAPE: Final = r"\\u00(?:[2-7][0-9a-fA-F]|0[9aAdD])"
"""For RE2: one that stands for ASCII."""

_MARK: Final = "\\u00"
_MOST_LEVELS: Final = 8

_LETTERS: Final = {
    form(number): chr(number) for number in (0x09, 0x0A, 0x0D, *range(0x20, 0x80)) for form in ("{:02x}".format, "{:02X}".format)
}
"""Two digits → what they stand for; other control characters are no part of a secret."""


def unescaped(text: str) -> str | None:
    """Return a text with ASCII in place of such escapes; None where it has none."""
    if _MARK not in text:
        return None
    told = text
    for _ in range(_MOST_LEVELS):
        # A backslash may be an escape itself, and begin another one.
        after = _one_level(told)
        if after == told:
            break
        told = after
    return None if told == text else told


def _one_level(text: str) -> str:
    first, *others = text.split(_MARK)
    parts = [first]
    for part in others:
        letter = _LETTERS.get(part[:2])
        if letter is None:
            parts += (_MARK, part)
        else:
            # Levels of JSON within JSON leave more than one.
            parts[-1] = parts[-1].rstrip("\\")
            parts += (letter, part[2:])
    return "".join(parts)
