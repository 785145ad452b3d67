"""Secrets in a text by the names in front of them: `password=…`, `"api_key": "…"`, `--token …`, at any depth of escaping."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

import re2

from otel_processor.privacy.secret_names import ASSIGNED, HEAD, LISTED, is_kind_of_its_own, is_secret

_LONGEST_NAME: Final = 64
_STAND_IN: Final = "[redacted:"

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+\Z")
_OPENING: Final = re.compile(r"(\\*)([\"'`])")
_BARE: Final = re.compile(r"[^\s\"'`\\,;&<>{}()\[\]|]+")
_HASH: Final = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}")
_PLAIN_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z_.]*")


def _compiled(pattern: str) -> re2._Regexp:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


_HEAD: Final = _compiled(rf"{HEAD}(?:{ASSIGNED}|\s+|{LISTED})")


def replaced(text: str, stand_in: Callable[[str], str]) -> str:
    """Return the text with such values replaced.

    Args:
        text: of any form.
        stand_in: gives what a secret is replaced by.
    """
    parts: list[str] = []
    done = 0
    for start, end in _values(text):
        if start >= done:
            parts += (text[done:start], stand_in(text[start:end]))
            done = end
    return "".join([*parts, text[done:]]) if parts else text


def _values(text: str) -> Iterator[tuple[int, int]]:
    for head in _HEAD.finditer(text):
        name = _NAME.search(text, max(0, head.start() - _LONGEST_NAME), head.end(1))
        if name is None or text.endswith(_STAND_IN, 0, name.start()):
            continue
        between = text[head.end(1) : head.end()]
        is_next = between.isspace() or "," in between
        if is_next and not name.group().startswith("-" if "," in between else "--"):
            # Two words of a sentence or of a list, no option of a command.
            continue
        if is_kind_of_its_own(text[max(0, name.start() - _LONGEST_NAME) : name.start()], name.group()):
            continue
        opening = _OPENING.match(text, head.end())
        if opening is not None:
            start, end = opening.end(), _closing(text, opening.end(), len(opening[1]), opening[2])
            if is_secret(name.group().lstrip("-"), text[start:end]):
                yield start, end
            continue
        bare = _BARE.match(text, head.end())
        if bare is not None and _is_value(text, name.group().lstrip("-"), between, bare):
            yield bare.span()


def _closing(text: str, start: int, backslashes: int, quote: str) -> int:
    """Return where a quoted value ends: at a quote behind as many backslashes as the opening one, or at the text's end."""
    at = text.find(quote, start)
    while at >= 0:
        before = at
        while before > start and text[before - 1] == "\\":
            before -= 1
        # Each level of JSON within JSON doubles the backslashes, so that those of a quote inside leave another rest.
        if (at - before) % (2 * backslashes + 2) == backslashes:
            return at - backslashes
        at = text.find(quote, at + 1)
    return len(text)


def _is_value(text: str, name: str, between: str, bare: re.Match[str]) -> bool:
    """Return whether what stands there without quotes is a value, and no part of a program or a sentence."""
    value = bare.group().rstrip(".")
    if len(value) < 4 or text[bare.end() : bare.end() + 1] in {"(", "["} or not is_secret(name, value):
        return False
    if _HASH.fullmatch(value) and between.endswith(" ") and name.lower() == "token":
        # `the token: d41d8cd9…` of a sentence.
        return False
    if _PLAIN_WORD.fullmatch(value) is None:
        return True
    # `password=letters` of an address or a form; `password: letters` is a sentence, `password = settings.password` a program.
    return between == "=" and "." not in value and not is_secret(value, "x1")
