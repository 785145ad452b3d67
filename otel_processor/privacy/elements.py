"""Secrets in elements of XML by their names: `<password>…</password>`, also where the markup is escaped itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from otel_processor.privacy.patterns import compiled
from otel_processor.privacy.places import ENTITY, Place, without_entities
from otel_processor.privacy.secret_names import HEAD, is_secret

_OPEN: Final = r"(?:<|&(?:amp;)*lt;)"
_SHUT: Final = r"(?:>|&(?:amp;)*gt;)"
_ATTRIBUTES: Final = r"(?:(?:\s|\\[nrt])[^<>]*?)?"
_QUOTE: Final = rf"\\*(?:[\"']|{ENTITY})"
_KEY: Final = rf"(?:\s|\\[nrt])(?:key|name)\s*=\s*{_QUOTE}[\w.:-]*"

SUSPICIOUS: Final = rf"{_OPEN}[\w.:-]*{HEAD}{_ATTRIBUTES}{_SHUT}|{_KEY}{HEAD}{_QUOTE}[^<>]*?{_SHUT}"
"""For a quick look with RE2, in a text or in JSON."""

_ELEMENT: Final = compiled(
    rf"({_OPEN})([\w.:-]*{HEAD}){_ATTRIBUTES}{_SHUT}\s*(<!\[CDATA\[)?\s*([^<>]+?)\s*(?:\]\]>\s*)?{_OPEN}\\*/([\w.:-]+)"
)
_CDATA: Final = compiled(rf"{_OPEN}([\w.:-]*{HEAD}){_ATTRIBUTES}{_SHUT}\s*<!\[CDATA\[((?s:.*?))\]\]>\s*{_OPEN}\\*/([\w.:-]+)")
"""By itself, since it may go on over other elements for long."""

_ENTRY: Final = compiled(
    rf"({_OPEN})([\w.:-]+)(?:\s[^<>]*?)?{_KEY}{HEAD}{_QUOTE}[^<>]*?{_SHUT}\s*([^<>]+?)\s*{_OPEN}\\*/([\w.:-]+)"
)
_HOLDING: Final = frozenset({"entry", "property", "prop", "param", "parameter", "setting", "variable", "add", "item"})
"""Elements of settings; what others hold under a name, `<string name="enter_password">`, may be a word of a page."""

_LONGEST_FLAG: Final = 3

_ASKING: Final = re.compile(r"(?:forgot|show|hide|require|has|is|need|use|allow|enable)", re.IGNORECASE)
"""How names begin that hold a word or a sentence of a page or of settings: `<showPassword>`, `<forgot-password>`."""
_WORDS: Final = re.compile(r"[A-Za-z'.,!? -]{1,200}")
_SPOKEN_OF: Final = re.compile(r"\b(?:password|passphrase|secret|token|key)s?\b", re.IGNORECASE)


def secrets_in(text: str) -> Iterator[Place]:
    """Yield where such values stand."""
    if "<" not in text and "lt;" not in text:
        return
    for element in _ELEMENT.finditer(text):
        opening, name, _, literal, value, closing = element.groups()
        # Escaped markup is a level of its own.
        levels = (opening.count("amp;") + 1 if len(opening) > 1 else 0) + (literal is None)
        plain = without_entities(value, levels)
        # A short number says whether there is one: `<has_password>1</has_password>`.
        if name == closing and is_secret(name, plain) and not _is_spoken(name, plain):
            yield Place(element.start(5), element.end(5), plain)


def literals_in(text: str) -> Iterator[Place]:
    """Yield where values stand that are literal, with signs of markup in them: `<![CDATA[…]]>`."""
    if "<![CDATA[" not in text:
        return
    for element in _CDATA.finditer(text):
        name, _, value, closing = element.groups()
        if name == closing and is_secret(name, value) and not _is_spoken(name, value):
            yield Place(element.start(3), element.end(3), value)


def entries_in(text: str) -> Iterator[Place]:
    """Yield where values stand whose names are in an attribute: `<entry key="password">…</entry>`."""
    if "<" not in text and "lt;" not in text:
        return
    for element in _ENTRY.finditer(text):
        opening, tag, name, value, closing = element.groups()
        plain = without_entities(value, opening.count("amp;") + (2 if len(opening) > 1 else 1))
        if tag != closing or not is_secret(name, plain) or _is_spoken(name, plain):
            continue
        if tag in _HOLDING or (" " not in plain and _WORDS.fullmatch(plain) is None):
            yield Place(element.start(4), element.end(4), plain)


def _is_spoken(name: str, value: str) -> bool:
    """Return whether a value tells about a secret, and is none."""
    if len(value) <= _LONGEST_FLAG and value.isdigit():
        return True
    is_asking = _ASKING.match(name) is not None
    return _WORDS.fullmatch(value) is not None and (is_asking or (" " in value and _SPOKEN_OF.search(value) is not None))
