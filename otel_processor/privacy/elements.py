"""Secrets in elements of XML by their names: `<password>…</password>`, also where the markup is escaped itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from otel_processor.privacy.patterns import compiled
from otel_processor.privacy.places import Place, without_entities
from otel_processor.privacy.secret_names import HEAD, is_secret

_OPEN: Final = r"(?:<|&(?:amp;)*lt;)"
_SHUT: Final = r"(?:>|&(?:amp;)*gt;)"

SUSPICIOUS: Final = rf"{_OPEN}[\w.:-]*{HEAD}(?: [^<>]*?)?{_SHUT}"
"""For a quick look with RE2, in a text or in JSON."""

_ELEMENT: Final = compiled(
    rf"({_OPEN})([\w.:-]*{HEAD})(?: [^<>]*?)?{_SHUT}\s*(<!\[CDATA\[)?\s*([^<>]+?)\s*(?:\]\]>\s*)?{_OPEN}\\*/([\w.:-]+)"
)

_LONGEST_FLAG: Final = 3


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
        if name == closing and is_secret(name, plain) and not (plain.isdigit() and len(plain) <= _LONGEST_FLAG):
            yield Place(element.start(5), element.end(5), plain)
