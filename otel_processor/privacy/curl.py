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

_NAMED: Final = "(?:curl|CURL|Curl)"

SUSPICIOUS: Final = (
    rf"{_NAMED}(?s:.*)(?:[^\w-]|\\[nrt]){_OPTION}(?:[\s,=\"'`\\]|\\[nrt])*[^\s:]*:\S"
    # The command's name may come last in an object.
    rf"|[\"']{_OPTION}(?:=|\\*[\"']\s*,\s*\\*[\"'])?[^\s:]*:\S(?s:.*)[\"'/\\](?:curl|CURL|Curl)(?:\.exe)?\\*[\"']"
)
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
_COMMAND: Final = compiled(rf"\b{_NAMED}\b(?:{'|'.join(_WITHIN)})*")
"""To its end: no other command's `-u` is meant, `curl … | docker run -u node:node`."""

_BEGINNING: Final = re.compile(rf"(?:(?<![\w-])|(?<=\\[nrt])){_OPTION}(?:(?:\\*[\"'`]|{ENTITY})?\s*,\s*|(?:=|\\*\s|\\[nrt])*)")
_ARGUMENT: Final = re.compile(rf"{_OPTION}(?:(?<=user)(?:=|\Z)|(?<=[uU]))")
# No longer, so that many options in a row do not have the rest of the text read for each.
_USER: Final = re.compile(r"(?:\[redacted:[a-z0-9_]{1,64}:[0-9a-f]{1,64}\]|[^\s:\"'`\\;|<>]){0,256}+:")
_CLOSING: Final = re.compile(rf"\\*(?:[\"']|{ENTITY}):")
_BARE: Final = re.compile(r"[^\s\"'`\\;&|<>]+")
_JUDGED: Final = 512
"""Characters that say of a password without quotes whether it is one; a longer one is taken out whole."""
_LONGEST_NAME: Final = 16
_IDS: Final = re.compile("[0-9]{1,6}:[0-9]{1,6}")
"""Of a user and a group, as another command of the same sentence is given them."""
_LITERAL: Final = re.compile(r"\$(?=\w*[a-z])(?=\w*[0-9])\w")
"""What begins a password, where single quotes leave it as it is."""
_VARIABLE: Final = re.compile(r"\$[A-Za-z_({]")


def secrets_in(text: str) -> Iterator[Place]:
    """Yield where such passwords stand in a text."""
    if not any(name in text for name in ("curl", "CURL", "Curl")):
        return
    done = 0
    for command in _COMMAND.finditer(text):
        for option in _BEGINNING.finditer(text, *command.span()):
            # What looks like an option inside a password is none.
            place = _password_at(text, option.end()) if option.end() >= done else None
            if place is not None:
                done = place.end
                yield place


def object_without(value: dict[Any, Any], stand_in: Callable[[str], str]) -> dict[Any, Any]:
    """Return an object without such passwords, where it names the command beside its arguments.

    Args:
        value: `{"command": "curl", "args": […]}`, or any.
        stand_in: gives what a secret is replaced by.
    """
    if not any(isinstance(inner, str) and _is_named(inner) for inner in value.values()):
        return value
    return {
        key: arguments_without(inner, stand_in, is_command=True) if isinstance(inner, list) else inner
        for key, inner in value.items()
    }


def arguments_without(arguments: Sequence[Any], stand_in: Callable[[str], str], *, is_command: bool = False) -> list[Any]:
    """Return a list without such passwords, where it is one of a command's arguments.

    Args:
        arguments: any list.
        stand_in: gives what a secret is replaced by.
        is_command: whether they are known to be.
    """
    told: list[Any] = []
    is_next = False
    for argument in arguments:
        kept = argument
        if not isinstance(argument, str):
            is_next = False
        elif not is_command:
            is_command = _is_named(argument)
        else:
            option = None if is_next else _ARGUMENT.match(argument)
            if option is not None or is_next:
                start = option.end() if option is not None else 0
                place = _password_of(argument, Place(start, len(argument), argument[start:]), is_literal=True)
                kept = argument if place is None else replaced(argument, [place], stand_in)
            is_next = option is not None and option.end() == len(argument)
        told.append(kept)
    return told


def _is_named(text: str) -> bool:
    text = text[-_LONGEST_NAME:].lower()
    return text in {"curl", "curl.exe"} or text.endswith(("/curl", "\\curl.exe"))


def _password_at(text: str, at: int) -> Place | None:
    """Return where the password stands of what an option is given there."""
    both = quoted_at(text, at)
    if both is not None:
        closing = _CLOSING.match(text, both.end) if ":" not in both.value else None
        if closing is None:
            return _password_of(text, both, is_literal=text[both.start - 1] == "'")
        # Each for itself, `"user":"password"`.
        return _password_behind(text, closing.end(), both.value[:_JUDGED])
    user = _USER.match(text, at)
    return _password_behind(text, user.end(), user.group()[:-1]) if user is not None else None


def _password_behind(text: str, at: int, user: str) -> Place | None:
    """Return where the password stands of a user, whose name and a colon are in front."""
    password = quoted_at(text, at)
    if password is not None:
        return password if _is_password(user, password.value, is_literal=text[password.start - 1] == "'") else None
    beginning = _BARE.match(text, at, at + _JUDGED)
    if beginning is None or not _is_password(user, beginning.group(), is_literal=False):
        return None
    rest = _BARE.match(text, beginning.end())
    end = (rest or beginning).end()
    return Place(at, end, text[at:end])


def _password_of(text: str, both: Place, *, is_literal: bool) -> Place | None:
    """Return where the password stands in `user:password`, which is all that a place holds."""
    user = _USER.match(both.value)
    if user is None or not text.startswith(user.group(), both.start):
        return None
    password = Place(both.start + user.end(), both.end, both.value[user.end() :])
    return password if _is_password(user.group()[:-1], password.value, is_literal=is_literal) else None


def _is_password(user: str, text: str, *, is_literal: bool) -> bool:
    if _IDS.fullmatch(f"{user}:{text[:_JUDGED]}"):
        return False
    if is_literal and _LITERAL.match(text):
        text = text[1:]
    # The rest of an address stands where somebody forgot what the option is given.
    return is_secret("password", text) and not text.startswith("//") and (is_literal or not _VARIABLE.match(text))
