"""The fingerprint: what came back, as hashes that can be compared."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

from otel_processor.detection.canonical import NotCanonicalError, canonical_json
from otel_processor.detection.masking import MASK, mask_volatile
from otel_processor.model import ResultEvidence

HEAD_CHARS, TAIL_CHARS = 3_000, 1_000
"""Looked at closely in a long result: where answers begin to differ, and where logs grow."""

# Everything but letters, digits, `_` and non-ASCII bytes separates words.
_WORDS_ONLY = bytes(c if chr(c).isalnum() or c == 0x5F or c >= 0x80 else 0x20 for c in range(256))


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

    In a text of over 4,000 characters only the first 3,000 and the last 1,000 are masked and sketched; the part between
    goes into the fingerprint by its length alone, since it may hold volatile values nobody looked for.

    Args:
        text: the whole result.
        raw: its `raw_hash`, when that is known already.
    """
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        window = f"{mask_volatile(text[:HEAD_CHARS])} {MASK}{len(text) // 64}{MASK} {mask_volatile(text[-TAIL_CHARS:])}"
    else:
        window = mask_volatile(text)
    masked = window.encode("utf-8", "surrogatepass")
    return ResultEvidence(
        raw_hash=raw or raw_hash(text),
        fingerprint=hashlib.sha256(masked).hexdigest(),
        sketch=_sketch(masked),
        length=len(text),
    )


def _sketch(masked: bytes) -> frozenset[int]:
    words = set(masked.translate(_WORDS_ONLY).split())
    # A stable hash, since sketches outlive the process; the length rides along so that changes can be measured in characters.
    return frozenset(zlib.crc32(word) << 8 | min(len(word), 255) for word in words)


def changed_chars(new: frozenset[int], old: frozenset[int]) -> int:
    """Return how many characters the words of `new` have that are not in `old`."""
    return sum(word & 0xFF for word in new - old)
