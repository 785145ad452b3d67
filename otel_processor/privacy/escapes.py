r"""Letters and signs that are written as escapes: of JSON, `\u0022` for a quote, as .NET and Go write them; of URLs, `%3A`."""

from __future__ import annotations

import re
from typing import Final

ESCAPE: Final = r"\\u00(?:[2-7][0-9a-fA-F]|0[9aAdD])|%(?:2[dDfF]|3[aAdD]|40)"
"""For RE2: one that stands for ASCII; of URLs, one of the signs in and around secrets."""

_OF_URL: Final = re.compile("%([2-7][0-9a-fA-F])")

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


def without_percent(text: str) -> str | None:
    """Return a text with ASCII in place of the escapes of a URL; None where it has none. Other letters stay escaped."""
    if "%" not in text:
        return None
    told = _OF_URL.sub(lambda found: chr(int(found[1], 16)), text)
    return None if told == text else told
