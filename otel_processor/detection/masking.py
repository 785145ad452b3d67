"""Volatile values, masked by their shape: what differs between two equal answers without meaning anything."""

from __future__ import annotations

import re

MASK = "\N{CURRENCY SIGN}"
"""Stands for any volatile value."""

_HEX = "[0-9a-fA-F]"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_CLOCK = r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?"

# Each alternative is one shape. They begin with a digit, or with a letter that can only begin a hexadecimal id, so that
# the engine leaves most positions of a text after one look.
_VOLATILE = re.compile(
    r"\b(?=[0-9])(?:"
    rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}\b"  # UUID
    rf"|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[T ][0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]+)?)?{_ZONE})\b"  # ISO 8601
    rf"|[0-9]{{1,2}} {_MONTH} [0-9]{{4}} {_CLOCK}{_ZONE}\b"  # RFC 2822
    rf"|{_CLOCK}{_ZONE}\b"  # clock
    rf"|0x{_HEX}{{4,}}\b"  # address
    r"|1[5-9][0-9]{8}(?:[0-9]{3}){0,3}\b(?:\.[0-9]+)?"  # epoch in s, ms, µs or ns, 2017 to 2033
    rf"|(?=[0-9]*[a-fA-F]){_HEX}{{12,}}\b"  # hexadecimal id
    r"|[0-9]+(?:\.[0-9]+)? ?(?:[nuµm]?s|secs?|seconds?|milliseconds?|minutes?|mins?|hours?|hrs?)\b"  # duration
    r")"
    rf"|\b[a-fA-F](?:{_HEX}{{7}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}|(?=[a-fA-F]*[0-9]){_HEX}{{11,}})\b"
)
_DIGIT = re.compile("[0-9]")


def mask_volatile(text: str) -> str:
    """Return `text` with timestamps, durations, UUIDs, hexadecimal ids and addresses replaced by `MASK`.

    A date without a time is kept: it is more often an answer than a time of answering.
    """
    return _VOLATILE.sub(MASK, text) if _DIGIT.search(text) else text
