"""What an agent says in its own words: a bounded part of its text, without the code and output that it quotes."""

from __future__ import annotations

import re
import unicodedata

HEAD_CHARS, TAIL_CHARS = 2_800, 1_200
"""Looked at in a long text: a plan stands at its beginning, a conclusion at its end."""

_FENCE = "```"
_SPAN = re.compile(r"`[^`\n]*`")
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?")


def own_words(text: str) -> str:
    """Return what the agent says itself: no fenced or inline code, no quoted lines, no terminal escapes.

    Of a text of over 4,000 characters only both ends are looked at.
    """
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{_unfenced(text[:HEAD_CHARS])}\n{_unfenced_end(text[-TAIL_CHARS:])}"
    elif _FENCE in text:
        text = _unfenced(text)
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "`" in text:
        text = _SPAN.sub(" ", text)
    if ">" in text:
        text = _QUOTED_LINE.sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return text


def _unfenced(text: str) -> str:
    return "\n".join(text.split(_FENCE)[::2]) if _FENCE in text else text


def _unfenced_end(text: str) -> str:
    """Leave the code out of a text's end; with an odd number of fences the end begins inside of a block."""
    parts = text.split(_FENCE)
    return "\n".join(parts[1::2] if len(parts) % 2 == 0 else parts[::2])


def excerpt(text: str, limit: int) -> str:
    """Return the beginning of a text as one printable line of at most `limit` characters."""
    line = " ".join("".join(character if character.isprintable() else " " for character in text[: 2 * limit]).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
