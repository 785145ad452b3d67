"""What a short text is about, whatever the order and form of its words: for searches that are asked again in other words."""

from __future__ import annotations

import re
import unicodedata
import zlib
from functools import lru_cache

from otel_processor.detection.spaceless import part
from otel_processor.detection.stop_words import ENGLISH_AND_SPANISH

WHOLE_CHARS = 2_000
"""Characters of a text that are looked at."""

_WORD = re.compile(r"[^\W_]+")
_VOWEL = re.compile("[aeiouy]")


def word_set(text: str) -> frozenset[int]:
    """Return the hashes of the content words of a text: lower case, without accents and common endings, numbers kept.

    Words of English and Spanish that only connect are left out, unless there are no others. Scripts without spaces give their
    pairs of characters. Only the first 2,000 characters are looked at.
    """
    text, pairs = part(text[:WHOLE_CHARS].lower())
    words = _WORD.findall(text) + pairs
    return frozenset([_term(word) for word in words if word not in ENGLISH_AND_SPANISH] or map(_term, words))


def overlap(a: frozenset[int], b: frozenset[int]) -> float:
    """Return the share from 0 to 1 of the words of both texts that both have; two texts without words share nothing."""
    common = len(a & b)
    return common / (len(a) + len(b) - common) if common else 0.0


def containment(a: frozenset[int], b: frozenset[int]) -> float:
    """Return the share from 0 to 1 of the words of `a` that `b` has, too; a text without words is in none."""
    return len(a & b) / len(a) if a else 0.0


@lru_cache(maxsize=8_192)
def _term(word: str) -> int:
    """Return a hash that is the same in every process, and for the forms of a word (handle, handles, handling)."""
    if not word.isascii():
        word = "".join(character for character in unicodedata.normalize("NFD", word) if not unicodedata.combining(character))
    return zlib.crc32(_stem(word).encode("utf-8", "surrogatepass"))


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
