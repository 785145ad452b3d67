"""Secrets in a text by the names in front of them: `password=…`, `"api_key": "…"`, `--token …`, at any depth of escaping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from otel_processor.privacy.patterns import compiled
from otel_processor.privacy.places import Place, quoted_at
from otel_processor.privacy.secret_names import ASSIGNED, HEAD, LISTED, is_kind_of_its_own, is_secret

_LONGEST_NAME: Final = 64
_STAND_IN: Final = "[redacted:"

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+\Z")
_BARE: Final = re.compile(r"[^\s\"'`\\,;&<>{}()\[\]|]+")
_HASH: Final = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}")
_PLAIN_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z_.]*")


_HEAD: Final = compiled(rf"{HEAD}(?:{ASSIGNED}|\s+|{LISTED})")


def secrets_in(text: str) -> Iterator[Place]:
    """Yield where such values stand."""
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
        quoted = quoted_at(text, head.end())
        if quoted is not None:
            if is_secret(name.group().lstrip("-"), quoted.value):
                yield quoted
            continue
        bare = _BARE.match(text, head.end())
        if bare is not None and _is_value(text, name.group().lstrip("-"), between, bare):
            yield Place(*bare.span(), bare.group())


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
