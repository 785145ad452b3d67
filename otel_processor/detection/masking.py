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
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?"  # ISO 8601
    rf"{_ZONE}(?![0-9A-Za-z])"
    rf"|[0-9]{{1,2}} {_MONTH} [0-9]{{4}} {_CLOCK}{_ZONE}\b"  # RFC 2822
    rf"|[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]+)?{_ZONE}\b| ?[AaPp]\.?[Mm]\b)"  # clock, of 24 or twelve hours
    rf"|0x{_HEX}{{4,}}\b"  # address
    r"|1[5-9][0-9]{8}(?:[0-9]{3}){0,3}\b(?:\.[0-9]+)?"  # epoch in s, ms, µs or ns, 2017 to 2033
    rf"|(?=[0-9]*[a-fA-F]){_HEX}{{12,}}\b"  # hexadecimal id
    r"|[0-9]{1,2}[/.][0-9]{1,2}[/.][0-9]{2,4},? [0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?: ?[AaPp][Mm])?\b"  # day and minute
    r"|(?:[0-9]{1,4}[dhms]){2,4}\b"  # duration or age in several units, 3m12s
    r"|(?<=[ \t]{2})[0-9]{1,4}[dhms](?=[ \t]{2}|[ \t]*(?:\n|\Z))"  # age in a column of a table
    r"|[0-9]+(?:\.[0-9]+)? ?(?:[nuµm]?s|secs?|seconds?|milliseconds?|minutes?|mins?|hours?|hrs?)\b"  # duration
    r"(?<![12][0-9][0-9]0s)"
    r")"
    rf"|\b[a-fA-F](?:{_HEX}{{7}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}|(?=[a-fA-F]*[0-9]){_HEX}{{11,}})\b"
)
# What a key of a JSON object says to be volatile, whatever it looks like.
_KEYED = re.compile(
    r'"((?:\w{0,24}(?:duration|elapsed|latency|uptime|took|time_?taken|(?:response|execution|wall|run)_?time)'
    r"(?:_?(?:ms|us|ns|s|secs?|seconds?|millis(?:econds)?))?)|p?pid|nonce|ts|timestamp|attempt"
    r"|polls|poll_?count"
    r"|(?:\w{0,24}_)?(?:tokens|quota|credits|requests|calls)_?(?:used|left|remaining)"
    r"|remaining_?(?:tokens|quota|credits|requests|calls)"
    r'|(?:\w{0,24}_|x-)?(?:request|trace|span|correlation)[_-]?id)"( ?: ?)(?:"[^"\n]{0,200}"|-?[0-9][0-9.eE+-]*)',
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\b(pid|attempt|retry)([ =:#]{1,2})[0-9]+\b", re.IGNORECASE)
_DIGIT = re.compile("[0-9]")


def mask_volatile(text: str) -> str:
    """Return `text` with timestamps, durations, UUIDs, hexadecimal ids, addresses and process ids replaced by `MASK`.

    A date without a time is kept: it is more often an answer than a time of answering. In JSON the values of keys that say
    so (`duration_ms`, `request_id`) are volatile, whatever they look like.
    """
    if '":' in text or '" :' in text:
        text = _KEYED.sub(_masked_value, text)
    if not _DIGIT.search(text):
        return text
    if "pid" in text or "PID" in text or "ttempt" in text or "etry" in text:
        text = _COUNTED.sub(_masked_count, text)
    return _VOLATILE.sub(MASK, text)


def _masked_count(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2]}{MASK}"


def _masked_value(found: re.Match[str]) -> str:
    return f'"{found[1]}"{found[2]}{MASK}'
