"""What a tool was asked, reduced to what near repeats are told by: its words, and its numbers apart from them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

from otel_processor.detection.masking import mask_volatile
from otel_processor.detection.signature import VOLATILE_KEYS
from otel_processor.detection.spaceless import LETTERS
from otel_processor.detection.wording import word_set

LOOKED_AT_CHARS = 1_500
"""Of the arguments' values; where they are longer, their beginnings tell what was asked."""

CONTENT_CHARS = 64
"""Characters from which a text that is written is content."""

_UNTOLD_KEYS = VOLATILE_KEYS | frozenset(
    "attempt retry retry_count retryCount _ _t _cb cb cache_bust cacheBust cache_buster cacheBuster client_ts clientTs _meta "
    "progressToken".split()
)
"""Arguments that tell nothing of what is asked. The signature has those of `VOLATILE_KEYS` alone left out: it is defined so."""

_DEPTH = 6
_MEMBERS = 64
_PLAIN = frozenset({str, bool, float, int})
_LONGEST_INTEGER_BITS = 8_192


class Asked(NamedTuple):
    """The values of a call's arguments as words."""

    text: str
    """Masked, its letters and digits as they are."""
    words: frozenset[str]
    """Content words without their endings; pairs of characters where a script has no spaces."""
    numbers: frozenset[str]
    """Words with digits in them: another number asks for another thing."""


NOTHING_ASKED = Asked("", frozenset(), frozenset())


def argument_text(arguments: Any) -> str:
    """Return the values of arguments, without their names, as a text of bounded length."""
    if isinstance(arguments, str):
        return arguments[:LOOKED_AT_CHARS]
    if type(arguments) is dict and len(arguments) <= _MEMBERS and _UNTOLD_KEYS.isdisjoint(arguments):
        # Most arguments are a few short values side by side.
        values = list(arguments.values())
        if _PLAIN.issuperset(map(type, values)):
            with suppress(ValueError):  # Python refuses to write a huge integer in decimals.
                return " ".join([value if type(value) is str else str(value) for value in values])[:LOOKED_AT_CHARS]
    parts: list[str] = []
    _collect(arguments, parts, _DEPTH)
    return " ".join(parts)[:LOOKED_AT_CHARS]


def _collect(value: Any, parts: list[str], depth: int) -> None:
    if isinstance(value, str):
        parts.append(value[:LOOKED_AT_CHARS])
    elif isinstance(value, Mapping | list | tuple):
        if isinstance(value, Mapping):
            inside = [inner for key, inner in value.items() if key not in _UNTOLD_KEYS]
        else:
            inside = list(value[:_MEMBERS])
        for inner in inside if depth else ():
            _collect(inner, parts, depth - 1)
    elif type(value) is int and value.bit_length() > _LONGEST_INTEGER_BITS:
        # Python refuses to write it in decimals.
        parts.append(hex(value)[:LOOKED_AT_CHARS])
    elif value is not None:
        parts.append(str(value)[:LOOKED_AT_CHARS])


def asked(text: str) -> Asked:
    """Take a text of argument values apart."""
    masked = mask_volatile(text)
    words = word_set(masked)
    numbers = frozenset(word for word in words if not word.isalpha() and any(map(str.isdigit, word)))
    return Asked(masked, words - numbers, numbers)


def is_near(one: Asked, other: Asked, similarity: float) -> bool:
    """Return whether two calls ask nearly the same: nothing but noise, a word more or a path written otherwise differs.

    Another number, or a number more, asks for something else.

    Args:
        one: what the one asked.
        other: what the other asked.
        similarity: share of the words of the shorter that the longer must have.
    """
    if one.text == other.text:
        return True
    if one.numbers != other.numbers:
        return False
    shorter, longer = sorted((one.words, other.words), key=len)
    common = len(shorter & longer)
    return len(shorter) > 1 and common >= similarity * len(shorter) and 2 * common >= len(longer)


def is_reworded(one: Asked, other: Asked) -> bool:
    """Return whether two short texts ask the same in other words: the shorter's are the longer's too, all but one of five.

    A word or number in another's place asks for another thing, as a list of countries does that are looked up one by one.
    """
    if not (one.numbers <= other.numbers or other.numbers <= one.numbers):
        return False
    shorter, longer = sorted((one.words, other.words), key=len)
    missing = len(shorter - longer)
    if missing and any(map(LETTERS.match, shorter)):
        # Pairs of characters: those where words meet change with their order.
        return len(shorter) > 2 and 3 * missing <= len(shorter)
    return len(shorter) > 1 and (missing == 0 or (5 * missing <= len(shorter) and len(shorter) < len(longer)))


def long_content(arguments: Any) -> int | None:
    """Return a hash of the longest text among the arguments, if it is long enough to be content and no name or place."""
    if type(arguments) is not dict:
        return None
    longest = max((value for value in arguments.values() if type(value) is str), key=len, default="")
    return hash(longest) if len(longest) >= CONTENT_CHARS else None


def addressee(arguments: Any) -> str | None:
    """Return whom or what something is sent to, if the arguments say it: the same words to another are another message."""
    if type(arguments) is not dict:
        return None
    named = [(key, arguments[key]) for key in _ADDRESSEES if key in arguments]
    if not named:
        named = [(key, value) for key, value in arguments.items() if _is_address(str(key)) and key not in _UNTOLD_KEYS]
    return argument_text(dict(named)).casefold() if named else None


def _is_address(key: str) -> bool:
    return _ADDRESSED.search(key) is not None and _COUNTED.search(key) is None


def is_similar(one: Asked, other: Asked, share: float = 0.7) -> bool:
    """Return whether two programs or longer texts share that much of all their words and numbers."""
    mine, others = one.words | one.numbers, other.words | other.numbers
    return bool(mine) and share * len(mine | others) <= len(mine & others)


def asks_question(tool: str, arguments: Any) -> bool:
    """Return whether a call looks something up by a question: its tool's name or its argument's says so."""
    is_dict = type(arguments) is dict
    # A statement asks by its literals, not by its words.
    if any(type(value) is str and _STATEMENT.match(value) for value in (arguments.values() if is_dict else (arguments,))):
        return False
    return (is_dict and not _QUESTIONS.isdisjoint(arguments)) or _names_search(tool)


@lru_cache(maxsize=1_024)
def _names_search(tool: str) -> bool:
    return _SEARCHES.search(tool[:200]) is not None


_QUESTIONS = frozenset(
    "q query queries question search searchQuery search_query search_term searchTerm keyword keywords key_words term terms "
    "task request instruction instructions prompt "
    "consulta pregunta busqueda búsqueda texto recherche suche frage pergunta".split()
)
_ADDRESSEES = (
    "to", "recipient", "recipients", "to_email", "email", "email_address", "to_address", "phone", "phone_number", "channel",
    "channel_id", "chat_id", "para", "destinatario",
)  # fmt: skip
_ADDRESSED = re.compile(
    r"(?:^|_)(?:id|number|device|user|customer|client|issue|ticket|host|account|thread|target|repo|repository)$|[a-z](?:Id|Number)$"
)
"""Arguments that name one of many, where nobody is named."""
_COUNTED = re.compile(
    "(?:attempt|try|retry|step|line|page|seq|sequence|message|msg|call|event|thought|request|iteration|version)_?(?:id|number)$",
    re.IGNORECASE,
)
"""Those that only count what is sent."""
_STATEMENT = re.compile(
    r"\s*(?:select\s.{1,500}\sfrom|insert\s+into|update\s+\S+\s+set|delete\s+from|with\s+\w+\s+as)\s", re.IGNORECASE | re.DOTALL
)
_SEARCHES = re.compile("search|find|look_?up|query|retriev|rag_|ask|busca|buscar|recherch|such|procur", re.IGNORECASE)
