r"""Letters and signs that are written as escapes of JSON, `\u0022` for a quote, as .NET and Go write them."""

from __future__ import annotations

import re
from typing import Final

ESCAPE: Final = r"\\u00(?:[2-7][0-9a-fA-F]|0[9aAdD])"
"""ASCII; other control characters are no part of a secret."""

_MARK: Final = "\\u00"
_MOST_LEVELS: Final = 8

# Not from the middle of a row of backslashes, which would be read again from each of them.
_ESCAPE: Final = re.compile(rf"(?<!\\)\\*{ESCAPE}")
"""With as many backslashes as levels of JSON within JSON leave."""


def unescaped(text: str) -> str | None:
    """Return a text with ASCII in place of such escapes; None where it has none."""
    if _MARK not in text:
        return None
    told = text
    for _ in range(_MOST_LEVELS):
        # A backslash may be an escape itself, and begin another one.
        told, count = _ESCAPE.subn(_letter, told)
        if not count:
            break
    return None if told is text else told


def _letter(match: re.Match[str]) -> str:
    return chr(int(match[0][-2:], 16))
