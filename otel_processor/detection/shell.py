"""What a shell command does, told from its programs: a look at something, a wait, or anything."""

from __future__ import annotations

import re
from functools import lru_cache

from otel_processor.model import Effect

_LONGEST_CHARS = 400
"""A longer command is a program of its own; nothing is said of it."""

_LOOKS = frozenset(
    "ls cat head tail less more grep egrep fgrep rg ag find fd tree wc pwd stat file du df sort uniq cut nl column jq yq diff "
    "cmp which whereis type env printenv whoami id hostname uname date ps free uptime lsof ss netstat dig host nslookup sed "
    "awk".split()
)
_LOOKS_WITH = {
    "git": frozenset("status log diff show branch blame ls-files rev-parse remote grep describe shortlog tag".split()),
    "docker": frozenset("ps images logs inspect stats top".split()),
    "kubectl": frozenset("get describe logs top explain version".split()),
    "systemctl": frozenset("status show is-active list-units".split()),
    "pip": frozenset("list show freeze check".split()),
    "npm": frozenset("ls list view outdated".split()),
}
_WAITS = frozenset("sleep wait watch timeout".split())
_STATES = {
    "kubectl": frozenset("get top logs".split()),
    "docker": frozenset("ps stats logs top".split()),
    "systemctl": frozenset("status is-active".split()),
}
_STATE_PROGRAMS = frozenset("ps free uptime df ss netstat lsof date nvidia-smi".split())
_CHANGES_IN_PLACE = re.compile(
    r"(?<![<>=-])>(?!&)|\bsed\b[^|]*\s-\w*i|\bfind\b.*-(?:delete|exec)|\bawk\b.*\bprint\b.*>|\btee\b|\bxargs\b|`|\$\("
)
_SEPARATORS = re.compile(r"\s*(?:&&|\|\||;|\||\n)\s*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


@lru_cache(maxsize=1_024)
def effect_of_command(command: str) -> Effect:
    """Return `read` for a command that only looks, `poll` for one that waits or asks for a state that moves, else `unknown`.

    Anything that may write, runs something else or is not known is `unknown`.
    """
    if len(command) > _LONGEST_CHARS:
        return Effect.UNKNOWN
    plain = _QUOTED.sub("Q", command.strip().replace("2>/dev/null", "").replace("2>&1", ""))
    parts = [part.split() for part in _SEPARATORS.split(plain) if part]
    programs = [words for words in map(_without_assignments, parts) if words and words[0] != "cd"]
    if not programs or _CHANGES_IN_PLACE.search(plain):
        return Effect.UNKNOWN
    if programs[0][0] in _WAITS:
        return Effect.POLL
    if not all(map(_only_looks, programs)):
        return Effect.UNKNOWN
    return Effect.POLL if _asks_for_state(programs[0]) else Effect.READ


def _without_assignments(words: list[str]) -> list[str]:
    while words and (_ASSIGNMENT.fullmatch(words[0]) or words[0] in {"sudo", "time", "command"}):
        words = words[1:]
    return words


def _only_looks(words: list[str]) -> bool:
    program = words[0].rpartition("/")[2]
    if program in _LOOKS or program in _STATE_PROGRAMS or program in _WAITS or program == "echo":
        return True
    return program in _LOOKS_WITH and _subcommand(words) in _LOOKS_WITH[program]


def _asks_for_state(words: list[str]) -> bool:
    program = words[0].rpartition("/")[2]
    return program in _STATE_PROGRAMS or (program in _STATES and _subcommand(words) in _STATES[program])


def _subcommand(words: list[str]) -> str:
    return next((word for word in words[1:] if not word.startswith("-")), "")
