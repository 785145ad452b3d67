"""Scripts that put no spaces between words: two neighbouring characters stand for a word."""

from __future__ import annotations

import re
from itertools import pairwise

from otel_processor.detection.stop_words import STOP_CHARACTERS

# Thai, Lao, Burmese, Khmer, kana, Han.
_LETTERS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

LETTER = re.compile(f"[{_LETTERS}]")
"""One character of such a script."""

_RUN = re.compile(f"[{_LETTERS}]+")
_CONTENT_RUN = re.compile(f"(?:(?![{STOP_CHARACTERS}])[{_LETTERS}])+")


def part(text: str) -> tuple[str, list[str]]:
    """Return a text without what it says in such scripts, and that as pairs of characters, those that only connect left out."""
    if text.isascii() or not LETTER.search(text):
        return text, []
    pairs = [pair for run in _CONTENT_RUN.findall(text) for pair in (map("".join, pairwise(run)) if len(run) > 1 else (run,))]
    return _RUN.sub(" ", text), pairs
