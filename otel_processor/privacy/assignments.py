"""Secrets in a text by the names in front of them: `password=…`, `"api_key": "…"`, `--token …`, at any depth of escaping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import re2

from otel_processor.privacy.patterns import compiled
from otel_processor.privacy.places import Place, quoted_at
from otel_processor.privacy.secret_names import ASSIGNED, HEAD, LISTED, VALUED, is_kind_of_its_own, is_secret

_LONGEST_NAME: Final = 64
_STAND_IN: Final = "[redacted:"
_JUDGED: Final = 512
"""Characters that say of a value without quotes whether it is one; a longer one is taken out whole."""

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+\Z")
_BARE: Final = re.compile(r"[^\s\"'`\\,;&<>{}()\[\]|]+")
_HASH: Final = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}")
_PLAIN_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z_.]*")


_HEAD: Final = compiled(rf"{HEAD}(?:{ASSIGNED}|{VALUED}|\s+|{LISTED})")


def secrets_in(text: str) -> Iterator[Place]:
    """Yield where such values stand."""
    done = run_end = 0
    for head in _HEAD.finditer(text):
        if head.end() < done:
            # Part of a value already.
            continue
        between = text[head.end(1) : head.end()]
        name = _name_in(text, head, between)
        if name is None:
            continue
        quoted = quoted_at(text, head.end())
        if quoted is not None:
            if is_secret(name, quoted.value):
                done = quoted.end
                yield quoted
            continue
        if head.end() >= run_end:
            # Once for all names in a row, `token=a:token=b:…`: each value goes on to the end of the same run.
            bare = _BARE.match(text, head.end())
            if bare is None:
                continue
            run_end = bare.end()
        if _is_value(text, name, between, head.end(), run_end):
            done = run_end
            yield Place(head.end(), run_end, text[head.end() : run_end])


def _name_in(text: str, head: re2._Match, between: str) -> str | None:
    """Return the whole name that a value may stand under; None where it is a word of a sentence."""
    name = _NAME.search(text, max(0, head.start() - _LONGEST_NAME), head.end(1))
    if name is None or text.endswith(_STAND_IN, 0, name.start()):
        return None
    is_next = between.isspace() or "," in between
    if is_next and not name.group().startswith("-" if "," in between else "--"):
        # Two words of a sentence or of a list, no option of a command.
        return None
    if is_kind_of_its_own(text[max(0, name.start() - _LONGEST_NAME) : name.start()], name.group()):
        return None
    return name.group().lstrip("-")


def _is_value(text: str, name: str, between: str, start: int, end: int) -> bool:
    """Return whether what stands there without quotes is a value, and no part of a program or a sentence."""
    value = text[start : min(end, start + _JUDGED)].rstrip(".")
    if len(value) < 4 or text[end : end + 1] in {"(", "["} or not is_secret(name, value):
        return False
    if _HASH.fullmatch(value) and between.endswith(" ") and name.lower() == "token":
        # `the token: d41d8cd9…` of a sentence.
        return False
    if _PLAIN_WORD.fullmatch(value) is None:
        return True
    # `password=letters` of an address or a form; `password: letters` is a sentence, `password = settings.password` a program.
    return between == "=" and "." not in value and not is_secret(value, "x1")
