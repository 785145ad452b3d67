"""Passwords that commands are given behind an option without a telling name: `sshpass -p …`, `mysql -p…`, `docker login -p …`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from otel_processor.privacy.places import ENTITY, Place, quoted_at, replaced
from otel_processor.privacy.secret_names import is_secret


class _Rule(NamedTuple):
    """How some commands are given a password."""

    names: tuple[str, ...]
    """Of the commands, as patterns."""
    apart: str = ""
    """The options, as a pattern, behind which it comes as an argument of its own, or behind `=`."""
    attached: str = ""
    """The options, as a pattern, that it may follow without a blank."""
    then: str = ""
    """The word of the command that this is said of, as a pattern."""
    scheme: str = ""
    """What stands in front of it."""
    runs_another: bool = False
    """Whether its first argument that is no option is another command, with options of its own."""


_RULES: Final = (
    _Rule(("sshpass",), "-p", "-p", runs_another=True),
    # Apart from it, `-p` asks for the password and what follows is the database.
    _Rule(("mysql(?:dump|admin|import|show|check|slap|sh)?", "mariadb(?:-[a-z]+)?", "7z[az]?"), attached="-p"),
    _Rule(("curl",), "--(?:proxy-)?pass"),
    _Rule(("redis-cli", "valkey-cli"), "-a"),
    _Rule(("mongo(?:sh|dump|restore|export|import|stat|top|files)?",), "-p", "-p"),
    _Rule(("ldap(?:search|add|modify|delete|passwd|whoami|compare)",), "-w", "-w"),
    _Rule(("sqlcmd", "bcp"), "-P", "-P"),
    _Rule(("zip", "unzip"), "-[a-zA-Z]*P"),
    _Rule(("docker", "podman", "nerdctl", "buildah", "skopeo", "crane", "helm", "oc", "az"), "-p", "-p", then="login"),
    _Rule(("openssl",), "-pass(?:in|out)?", scheme="pass:"),
)

_WORDS: Final = frozenset("a an and as flag for in is it of on option or the to with".split())
"""What follows an option in a sentence about it."""

_WITHIN: Final = (
    # What is quoted may hold signs that end a command elsewhere; and it may go on in the next line.
    rf"(?:{ENTITY}[^\n]{{0,256}}?{ENTITY}|{ENTITY}|\\{{1,8}}\"[^\"\\\n]{{0,256}}\\{{1,8}}\"|'[^'\n]{{0,512}}'"
    rf"|\"(?:[^\"\\\n]|\\[^\n]){{0,512}}\"|\\\r?\n|[^\n;|&])*+"
)
_BETWEEN: Final = rf"(?:(?:\\*[\"'`]|{ENTITY})\s*,\s*|(?:=|\\*\s|\\[nrt])+)"
"""Stands between an option and its value, in a line or in a list of arguments."""
_BEGINNING: Final = re.compile(
    r"(?:^|[;|&(\[{,`\"'$#>:\n]|\\[nrt]|\s--|\b(?:sudo|time|nohup|then|do|else)(?:\s+-{1,2}[\w-]+)*"
    r"|\b(?:exec|env|run|runuser|su)(?:\s+-{1,2}[\w=-]+)*\s+[\w.@-]+|\b[A-Za-z_]\w*=\S*\s)\s*(?:[\w.~-]*[/\\][\w./~\\-]*)?\Z"
)
"""What stands in front of a command's name, with its folder; elsewhere the name is a word."""
_BEFORE_CHARS: Final = 96
_BEFORE_NAME: Final = frozenset({"sudo", "time", "nohup", "exec", "env", "--", "-c", "su", "run"})
"""Arguments behind which another command may be named."""
_NAMES_OF: Final = frozenset({"command", "cmd", "program", "executable", "exe", "binary", "file"})
"""Members of an object that name the command whose arguments stand beside it."""
_PORTS: Final = re.compile(r"(?:[0-9.]+:)?[0-9]*:[0-9]+(?:/[a-z]+)?|[0-9-]+:[0-9-]+")
"""Of a container, which is given them by `-p`."""
_BARE: Final = re.compile(r"[^\s\"'`\\;&|<>]{1,256}")
_ANOTHER: Final = re.compile(r"(?:\s|[\"'])[^\s\"'\\,-]")
"""Where an argument begins that is no option."""
_LONGEST_NAME: Final = 32

_PIPED: Final = re.compile(
    r"\b(?:echo|printf)\s+(?:-[a-zA-Z]+\s+)*+(?:['\"]?%s(?:\\{1,2}n)?['\"]?\s+)?(?=(?P<value>'[^'\n]{1,256}'|\"[^\"\\\n]{1,256}\"|[^\s\"'`\\;&|<>]{1,256}))(?P=value)"
    r"\s*\|\s*(?:sudo\s+(?:-[a-zA-Z]+\s+(?:[^\s-]\S{0,64}\s+)?){0,4}?(?:-[a-zA-Z]*S|--stdin)|[a-z]+\s+login\b[^\n;|&]{0,256}--password-stdin)\b"
)
"""`echo … | sudo -S`, `echo … | docker login --password-stdin`."""


class _Finder:
    """One rule, compiled."""

    def __init__(self, rule: _Rule) -> None:
        names = "|".join(rule.names)
        then = rf"(?:\s+|\\*[\"']\s*,\s*\\*[\"'])(?:[a-z]+\s+)?{rule.then}\b" if rule.then else ""
        options = [rf"(?P<apart>{rule.apart}){_BETWEEN}"] if rule.apart else []
        options += [rf"(?:{rule.attached})(?=[^\s,=-])"] if rule.attached else []
        self.named = re.compile(rf"(?<![\w-])(?:{names})(?:\.exe)?(?![\w-])")
        self.command = re.compile(rf"(?P<name>{names})(?:\.exe)?{then}{_WITHIN}")
        self.option = re.compile(rf"(?:(?<![\w-])|(?<=\\[nrt]))(?:{'|'.join(options)})")
        self.name = re.compile(rf"(?:.*[/\\])?(?:{names})(?:\.exe)?", re.DOTALL)
        self.apart = re.compile(rule.apart) if rule.apart else None
        self.attached = re.compile(rule.attached) if rule.attached else None
        self.then = re.compile(rule.then) if rule.then else None
        self.scheme = rule.scheme
        self.runs_another = rule.runs_another


_FINDERS: Final = tuple(map(_Finder, _RULES))
_NAMES: Final = "|".join(name for rule in _RULES for name in rule.names)
_ALONE: Final = "|".join(name for rule in _RULES if not rule.then for name in rule.names)
_WITH_LOGIN: Final = "|".join(name for rule in _RULES if rule.then for name in rule.names)
_OPTIONS: Final = "|".join(dict.fromkeys(option for rule in _RULES for option in (rule.apart, rule.attached) if option))

_MENTIONED: Final = re.compile(rf"(?<![\w-])(?:{_NAMES})(?![\w-])")

_EDGE: Final = r"(?:^|[^\w-]|\\[nrt])"

SUSPICIOUS: Final = (
    rf"{_EDGE}(?:{_ALONE})(?:\.exe)?\b(?s:.*)(?:[^\w-]|\\[nrt])(?:{_OPTIONS})"
    rf"|{_EDGE}(?:{_WITH_LOGIN})\b(?s:.*)login(?s:.*)[^\w-]-p"
    # The command's name may come last in an object.
    rf"|[\"'](?:{_OPTIONS})(?s:.*)[\"'/\\](?:{_ALONE})(?:\.exe)?\\*[\"']"
    r"|(?:echo|printf)(?:\s|\\[nrt])(?s:.*)\|(?s:.*)(?:sudo(?s:.*)(?:-[a-zA-Z]*S|--stdin)|--password-stdin)"
)
"""For a quick look with RE2, in a text or in JSON."""


def secrets_in(text: str) -> Iterator[Place]:
    """Yield where such passwords stand in a text, in its order."""
    places = [place for finder in _FINDERS for place in _found(text, finder)] if _MENTIONED.search(text) else []
    if "|" in text:
        places += [place for match in _PIPED.finditer(text) if (place := _value_at(text, match.start("value"))) is not None]
    yield from sorted(places)


def object_without(value: dict[Any, Any], stand_in: Callable[[str], str]) -> dict[Any, Any]:
    """Return an object without such passwords, where it names the command beside its arguments.

    Args:
        value: `{"command": "sshpass", "args": […]}`, or any.
        stand_in: gives what a secret is replaced by.
    """
    named = [
        value[key]
        for key in _NAMES_OF.intersection(value)
        if isinstance(value[key], str) and len(value[key]) <= 4 * _LONGEST_NAME
    ]
    for finder in _FINDERS:
        if any(map(finder.name.fullmatch, named)):
            value = {
                key: _without(inner, finder, stand_in, is_command=True) if isinstance(inner, list) else inner
                for key, inner in value.items()
            }
    return value


def arguments_without(arguments: Sequence[Any], stand_in: Callable[[str], str]) -> list[Any]:
    """Return a list without such passwords, where it is one of a command's name and arguments.

    Args:
        arguments: any list.
        stand_in: gives what a secret is replaced by.
    """
    told = list(arguments)
    if any(isinstance(argument, str) and argument.startswith("-") for argument in told):
        for finder in _FINDERS:
            told = _without(told, finder, stand_in, is_command=False)
    return told


def _found(text: str, finder: _Finder) -> Iterator[Place]:
    done = end = 0
    for named in finder.named.finditer(text):
        start = named.start()
        if start < end or not _BEGINNING.search(text[max(0, start - _BEFORE_CHARS) : start]):
            continue
        command = finder.command.match(text, start)
        if command is None:
            continue
        end = command.end()
        another = _ANOTHER.search(text, command.end("name"), command.end()) if finder.runs_another else None
        for option in finder.option.finditer(text, *command.span()):
            if another is not None and option.start() > another.start():
                break
            # What looks like an option inside a password is none.
            place = _value_at(text, option.end(), finder.scheme) if option.end() >= done else None
            if place is not None:
                done = place.end
                yield place


def _value_at(text: str, at: int, scheme: str = "") -> Place | None:
    """Return where the password stands that begins there, perhaps with a quote."""
    place = quoted_at(text, at)
    is_literal = place is not None and text[place.start - 1] == "'"
    if place is None:
        bare = _BARE.match(text, at)
        if bare is None or bare.group().lower() in _WORDS:
            return None
        place = Place(bare.start(), bare.end(), bare.group())
    return _password(place, scheme, is_literal=is_literal)


def _password(place: Place, scheme: str, *, is_literal: bool) -> Place | None:
    if not place.value.startswith(scheme):
        return None
    value = place.value[len(scheme) :]
    if (
        not is_secret("password", value)
        or _PORTS.fullmatch(value)
        or (value.startswith("$") and not is_literal)
        or value.startswith("-")
    ):
        return None
    return Place(place.start + len(scheme), place.end, value)


def _without(arguments: list[Any], finder: _Finder, stand_in: Callable[[str], str], *, is_command: bool) -> list[Any]:
    told: list[Any] = []
    is_meant = is_command and finder.then is None
    is_next, may_begin = False, True
    for argument in arguments:
        kept = argument
        if not isinstance(argument, str):
            is_next = False
        elif not is_command:
            is_command = may_begin and len(argument) <= 4 * _LONGEST_NAME and finder.name.fullmatch(argument) is not None
            is_meant = is_command and finder.then is None
            # Behind `exec` the container comes first.
            may_begin = argument in _BEFORE_NAME or (may_begin and argument.startswith("-")) or (told[-1:] == ["exec"])
        elif not is_meant:
            is_meant = finder.then is not None and finder.then.fullmatch(argument) is not None
        elif finder.runs_another and not is_next and not argument.startswith("-"):
            told += arguments[len(told) :]
            break
        else:
            start = 0 if is_next else _start(argument, finder)
            if start is not None:
                place = _password(Place(start, len(argument), argument[start:]), finder.scheme, is_literal=True)
                kept = argument if place is None else replaced(argument, [place], stand_in)
            is_next = not is_next and finder.apart is not None and finder.apart.fullmatch(argument) is not None
        told.append(kept)
    return told


def _start(argument: str, finder: _Finder) -> int | None:
    """Return where in an argument the value of its option begins; None where it holds none."""
    for option, between in ((finder.apart, "="), (finder.attached, "")):
        found = option.match(argument) if option is not None else None
        if found is not None and found.end() < len(argument) and argument.startswith(between, found.end()):
            return found.end() + len(between)
    return None
