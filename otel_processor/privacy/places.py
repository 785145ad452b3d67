"""Where secrets stand in a text: between quotes of any kind, at any depth of escaping; and the text without them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

ENTITY: Final = r"&(?:amp;)*(?:quot|apos|#0*3[49]|#[xX]0*2[27]);"
"""A quote as HTML and XML write it, also where that is escaped again."""

_MOST_LEVELS: Final = 8

_OPENING: Final = re.compile(rf"(\\*)([\"'`]|{ENTITY})")


class Place(NamedTuple):
    """A part of a text that may be a secret."""

    start: int
    end: int
    value: str
    """What stands there, without escapes of HTML."""


def replaced(text: str, places: Iterable[Place], stand_in: Callable[[str], str]) -> str:
    """Return the text with what stands in some places replaced.

    Args:
        text: of any form.
        places: in the order of the text; one inside of another counts with that.
        stand_in: gives what a secret is replaced by.
    """
    parts: list[str] = []
    done = 0
    for start, end, value in places:
        if start >= done:
            parts += (text[done:start], stand_in(value))
            done = end
    return "".join([*parts, text[done:]]) if parts else text


def quoted_at(text: str, at: int) -> Place | None:
    """Return what stands between the quote that is there and its closing one, or the text's end; None where none is."""
    opening = _OPENING.match(text, at)
    if opening is None:
        return None
    backslashes, quote = len(opening[1]), opening[2]
    end = _closing(text, opening.end(), backslashes, quote)
    levels = quote.count("amp;") + 1 if len(quote) > 1 else 0
    return Place(opening.end(), end, without_entities(text[opening.end() : end], levels))


def without_entities(text: str, levels: int) -> str:
    """Return a text that was escaped for HTML so many times as it was before."""
    for _ in range(min(levels, _MOST_LEVELS)):
        if "&" not in text:
            break
        text = html.unescape(text)
    return text


def _closing(text: str, start: int, backslashes: int, quote: str) -> int:
    """Return where a quoted value ends: at a quote behind as many backslashes as the opening one, or at the text's end."""
    at, since = text.find(quote, start), start
    while at >= 0:
        before = since + len(text[since:at].rstrip("\\"))
        # Each level of JSON within JSON doubles the backslashes, so that those of a quote inside leave another rest.
        if (at - before) % (2 * backslashes + 2) == backslashes:
            return at - backslashes
        since = at + len(quote)
        at = text.find(quote, since)
    return len(text)
