"""Passwords of commands that fetch: `curl -u user:password`, `--user user:password`, as one text or as a list of arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from otel_processor.privacy.patterns import compiled
from otel_processor.privacy.places import ENTITY, Place, quoted_at, replaced
from otel_processor.privacy.secret_names import is_secret

_OPTION: Final = r"(?:-[#0-9BGIJLMNORSZafgijklnpqsv]*[uU]|--(?:proxy-)?user)"
"""The option for `user:password`, of the server or of the proxy, also behind others that take no value: `-su`."""

SUSPICIOUS: Final = rf"curl(?s:.*)(?:[^\w-]|\\[nrt]){_OPTION}(?:[\s,=\"'`\\]|\\[nrt])*[^\s:]*:\S"
"""For a quick look with RE2, in a text or in JSON."""

_WITHIN: Final = (
    # What is quoted may hold signs that end a command elsewhere.
    rf"{ENTITY}[^\n]*?{ENTITY}",
    ENTITY,
    r"\\+\"[^\"\\]*\\+\"",
    r"'[^']*'",
    r"\"(?:[^\"\\]|\\(?s:.))*\"",
    # It goes on in the next line.
    r"\\\r?\n",
    r"[^\n;|&]",
    # Of an address.
    r"[;|&][^\s;|&]",
)
_COMMAND: Final = compiled(rf"\bcurl\b(?:{'|'.join(_WITHIN)})*")
"""To its end: no other command's `-u` is meant, `curl … | docker run -u node:node`."""

_BEGINNING: Final = re.compile(rf"(?:(?<![\w-])|(?<=\\[nrt])){_OPTION}(?:(?:\\*[\"'`]|{ENTITY})?\s*,\s*|(?:=|\\*\s|\\[nrt])*)")
_ARGUMENT: Final = re.compile(rf"{_OPTION}(?:(?<=user)(?:=|\Z)|(?<=[uU]))")
# No longer, so that many options in a row do not have the rest of the text read for each.
_USER: Final = re.compile(r"(?:\[redacted:[a-z0-9_]{1,64}:[0-9a-f]{1,64}\]|[^\s:\"'`\\;|<>]){0,256}+:")
_BARE: Final = re.compile(r"[^\s\"'`\\;&|<>]+")
_JUDGED: Final = 512
"""Characters that say of a password without quotes whether it is one; a longer one is taken out whole."""
_VARIABLE: Final = re.compile(r"\$[A-Za-z_({]")


def secrets_in(text: str) -> Iterator[Place]:
    """Yield where such passwords stand in a text."""
    if "curl" not in text:
        return
    done = 0
    for command in _COMMAND.finditer(text):
        for option in _BEGINNING.finditer(text, *command.span()):
            # What looks like an option inside a password is none.
            place = _password_at(text, option.end()) if option.end() >= done else None
            if place is not None:
                done = place.end
                yield place


def arguments_without(arguments: Sequence[Any], stand_in: Callable[[str], str]) -> list[Any]:
    """Return a list without such passwords, where it is one of a command's arguments.

    Args:
        arguments: any list.
        stand_in: gives what a secret is replaced by.
    """
    told: list[Any] = []
    is_command = is_next = False
    for argument in arguments:
        kept = argument
        if not isinstance(argument, str):
            is_next = False
        elif not is_command:
            is_command = argument in {"curl", "curl.exe"} or argument.endswith(("/curl", "\\curl.exe"))
        else:
            option = None if is_next else _ARGUMENT.match(argument)
            if option is not None or is_next:
                start = option.end() if option is not None else 0
                place = _password_of(argument, Place(start, len(argument), argument[start:]), is_literal=True)
                kept = argument if place is None else replaced(argument, [place], stand_in)
            is_next = option is not None and option.end() == len(argument)
        told.append(kept)
    return told


def _password_at(text: str, at: int) -> Place | None:
    """Return where the password stands of what an option is given there."""
    both = quoted_at(text, at)
    if both is not None:
        return _password_of(text, both, is_literal=text[both.start - 1] == "'")
    user = _USER.match(text, at)
    if user is None:
        return None
    password = quoted_at(text, user.end())
    if password is not None:
        return password if _is_password(password.value, is_literal=text[password.start - 1] == "'") else None
    beginning = _BARE.match(text, user.end(), user.end() + _JUDGED)
    if beginning is None or not _is_password(beginning.group(), is_literal=False):
        return None
    rest = _BARE.match(text, beginning.end())
    end = (rest or beginning).end()
    return Place(user.end(), end, text[user.end() : end])


def _password_of(text: str, both: Place, *, is_literal: bool) -> Place | None:
    """Return where the password stands in `user:password`, which is all that a place holds."""
    user = _USER.match(both.value)
    if user is None or not text.startswith(user.group(), both.start):
        return None
    password = Place(both.start + user.end(), both.end, both.value[user.end() :])
    return password if _is_password(password.value, is_literal=is_literal) else None


def _is_password(text: str, *, is_literal: bool) -> bool:
    # The rest of an address stands where somebody forgot what the option is given.
    return is_secret("password", text) and not text.startswith("//") and (is_literal or not _VARIABLE.match(text))
