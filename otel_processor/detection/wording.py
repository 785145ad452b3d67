"""What a short text is about, whatever the order and form of its words: for searches that are asked again in other words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from otel_processor.detection.spaceless import part
from otel_processor.detection.stop_words import ENGLISH_AND_SPANISH

WHOLE_CHARS = 2_000
"""Characters of a text that are looked at."""

_WORD = re.compile(r"[^\W_]+")
_VOWEL = re.compile("[aeiouy]")


def word_set(text: str) -> frozenset[str]:
    """Return the content words of a text: lower case, without accents and common endings, numbers kept.

    Words of English and Spanish that only connect are left out, unless there are no others. Scripts without spaces give their
    pairs of characters. Only the first 2,000 characters are looked at.
    """
    text, pairs = part(text[:WHOLE_CHARS].lower())
    words = _WORD.findall(text) + pairs
    return frozenset([_term(word) for word in words if word not in ENGLISH_AND_SPANISH] or map(_term, words))


@lru_cache(maxsize=8_192)
def _term(word: str) -> str:
    """Return what the forms of a word (handle, handles, handling) have in common."""
    if not word.isascii():
        word = "".join(character for character in unicodedata.normalize("NFD", word) if not unicodedata.combining(character))
    return _stem(word)


def _stem(word: str) -> str:
    if len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 3 and _VOWEL.search(stem):
            # running, run: the doubled letter belongs to the ending.
            word = stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem
            break
    if len(word) < 4:
        return word
    # handle, handling; policy, policies.
    return f"{word[:-1]}i" if word.endswith("y") else word.removesuffix("e")
