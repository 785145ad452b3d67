"""Scripts that put no spaces between words: two neighbouring characters stand for a word."""

from __future__ import annotations

import re
from itertools import pairwise

from otel_processor.detection.stop_words import STOP_CHARACTERS

# Thai, Lao, Burmese, Khmer, kana, Han.
_LETTERS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

LETTERS = re.compile(f"[{_LETTERS}]+")
"""What is written in such a script, without punctuation."""

_CONTENT_RUN = re.compile(f"(?:(?![{STOP_CHARACTERS}])[{_LETTERS}])+")


_HEAD_CHARS, _TAIL_CHARS = 400, 150


def part(text: str) -> tuple[str, list[str]]:
    """Return a text without what it says in such scripts, and that as pairs of characters, those that only connect left out.

    Of a text of over 550 characters only both ends give pairs: it says as much as four times the length in letters.
    """
    if text.isascii() or not LETTERS.search(text):
        return text, []
    ends = text if len(text) <= _HEAD_CHARS + _TAIL_CHARS else f"{text[:_HEAD_CHARS]} {text[-_TAIL_CHARS:]}"
    pairs = [pair for run in _CONTENT_RUN.findall(ends) for pair in (map("".join, pairwise(run)) if len(run) > 1 else (run,))]
    return LETTERS.sub(" ", text), pairs
