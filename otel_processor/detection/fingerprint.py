"""The fingerprint: what came back, as hashes that can be compared."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from otel_processor.detection.canonical import NotCanonicalError, canonical_json
from otel_processor.detection.masking import MASK, mask_volatile
from otel_processor.model import ResultEvidence

HEAD_CHARS, MIDDLE_CHARS, TAIL_CHARS = 768, 192, 384
"""Looked at closely in a long result: its head, two stretches a third and two thirds in, and its tail, where logs grow."""

WHOLE_CHARS = HEAD_CHARS + 2 * MIDDLE_CHARS + TAIL_CHARS
"""A result up to this long is looked at whole."""

_VALUE_CHARS = 80
_NOTHING_BUT_MASKS = re.compile(rf"[\W{MASK}]*")

# Everything but letters, digits, `_`, `-` and non-ASCII bytes separates words.
_WORDS_ONLY = bytes(c if chr(c).isalnum() or c in {0x2D, 0x5F} or c >= 0x80 else 0x20 for c in range(256))
_DIGITS = b"0123456789"


def result_text(result: Any) -> str:
    """Return a result as one text: text as it is, any other JSON value in canonical form."""
    if isinstance(result, str):
        return result
    try:
        return canonical_json(result).decode()
    except (NotCanonicalError, RecursionError):
        return str(result)


def raw_hash(text: str) -> str:
    """Return the SHA-256 of a result's text as received, in lower-case hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def examine(text: str, *, raw: str | None = None) -> ResultEvidence:
    """Reduce a result's text to what detection compares; a pure function of the text.

    Of a text of over 1,536 characters four stretches are masked and sketched; the rest goes into the fingerprint by its
    length alone (to 64 characters), since it may hold volatile values nobody looked for. Looking at all of a 4 KB answer
    would cost more than everything else together.

    Args:
        text: the whole result.
        raw: its `raw_hash`, when that is known already.
    """
    looked_at = mask_volatile(text if len(text) <= WHOLE_CHARS else _stretches(text))
    # Nothing but a time, or an id: it has no words.
    is_value = len(text) <= _VALUE_CHARS and MASK in looked_at and _NOTHING_BUT_MASKS.fullmatch(looked_at) is not None
    masked = looked_at.encode("utf-8", "surrogatepass")
    about_length = b"" if len(text) <= WHOLE_CHARS else b"%d" % (len(text) // 64)
    return ResultEvidence(
        raw_hash=raw or raw_hash(text),
        fingerprint=hashlib.sha256(masked + about_length).hexdigest(),
        sketch=frozenset() if is_value else _sketch(masked),
        length=len(text),
    )


def _stretches(text: str) -> str:
    third = (len(text) - TAIL_CHARS) // 3
    inner = (_whole_words(text[at : at + MIDDLE_CHARS]) for at in (third, 2 * third))
    return "\n".join((text[:HEAD_CHARS].rpartition(" ")[0] or text[:HEAD_CHARS], *inner, _whole_words(text[-TAIL_CHARS:])))


def _whole_words(stretch: str) -> str:
    """Drop the words that the stretch cuts in two: they would look new wherever the text moved by a character."""
    first, last = stretch.find(" "), stretch.rfind(" ")
    return stretch[first + 1 : last] if 0 <= first < last else stretch


def _sketch(masked: bytes) -> frozenset[int]:
    words = set(masked.translate(_WORDS_ONLY).split())
    return frozenset([_usual_mark(word) if len(word) <= _USUAL_BYTES else _mark(word) for word in words])


def _mark(word: bytes) -> int:
    # A stable hash, since sketches outlive the process; the length rides along so that changes can be measured in characters.
    return zlib.crc32(word) << 8 | (min(len(word), 255) if word.isalpha() or word.isdigit() or not _is_id(word) else 0)


_USUAL_BYTES = 24

# The words of one agent's results are mostly those of its others.
_usual_mark = lru_cache(maxsize=16_384)(_mark)


def _is_id(word: bytes) -> bool:
    """Return whether a word has both letters and digits, as ids and names of generated files do (`run_7`, `ORD-123`)."""
    without = word.translate(None, _DIGITS)
    return len(without) < len(word) and without.strip(b"-_") != b""


def changed_chars(new: frozenset[int], old: Iterable[int]) -> int:
    """Return how many characters the words of `new` have that are not in `old`; ids have none, another one is no change."""
    return sum(word & 0xFF for word in new.difference(old))


def without_ids(sketch: frozenset[int]) -> frozenset[int]:
    """Return the words of a sketch that are no ids."""
    return frozenset(word for word in sketch if word & 0xFF)
