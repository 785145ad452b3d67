"""Failures of one tool in a row, and what they say: a program that is rewritten fails with other words for the same reason."""

from __future__ import annotations

import re
from typing import NamedTuple

from otel_processor.detection.asking import argument_text
from otel_processor.detection.bounded import RecentMap
from otel_processor.model import Call, Effect, ErrorClass

_TOOLS = 64
_REMEMBERED = 24
_SHORT_CHARS, _LINE_CHARS = 600, 300
_MARKUP = re.compile(r"</?[a-z_]{1,30}>")

_WORD = re.compile(r"[^\W\d]\w*")
_TRACEBACK = re.compile(r"^\s*(?:Traceback|File \"|at |\^|~)")
_EXCEPTION = re.compile(r"^\s*(?:[\w.]*(?:Error|Exception|Warning|NotFound|Refused|Exit|Interrupt|panic))\b")
_BODY_CHARS = 400
_TOLD = re.compile(
    r"\s*(?:(?:(?:fatal |internal )?(?:error|fehler|erreur|exception)|fatal)\s*[:(\[]"
    r"|Traceback \(most recent|\w+(?:Error|Exception): )",
    re.IGNORECASE,
)
"""How a text begins that stands where a result would and tells a failure."""
_HOST = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,15}://([^/\s\"'?#]{1,200})")
_SUCCEEDED = ("ok", "success", "succeeded")
_ANSWERS = frozenset({Effect.READ, Effect.POLL})
"""Where a failure is told without being one, it may be what was asked for: whether a name is taken, a site is up."""

_COMMON = frozenset(
    "the a an of in is are was not no to for error failed failure exception traceback file line module with and or "
    "exit exited code status returncode return returned process output stdout stderr".split()
)


class Said(NamedTuple):
    """What a failure says."""

    kind: str
    """The exception's name without its module, in lower case; empty where none is named."""
    words: frozenset[str]
    is_excerpt: bool = False
    """Of a long text that names no exception: its end may be the same form filled in otherwise."""


def what_it_says(text: str) -> Said:
    """Return the gist of an error text: of a traceback its last line, of a short text all of it, else its end.

    Numbers do not count: a line number moves with every rewrite.
    """
    plain = _MARKUP.sub(" ", text[-4_000:])
    lines = [line for line in plain.splitlines() if line.strip()]
    named = next((line for line in reversed(lines) if _EXCEPTION.match(line)), None)
    # The beginning of a long output is a banner; how it went stands at its end.
    is_excerpt = named is None and len(text) > _SHORT_CHARS
    gist = (named or " ".join((plain if len(text) <= _SHORT_CHARS else plain[-_LINE_CHARS:]).split()))[:_SHORT_CHARS]
    words = [word.lower() for word in _WORD.findall(gist)]
    found = _EXCEPTION.match(gist)
    kind = found.group().strip().rpartition(".")[2].lower() if found else ""
    return Said(kind, frozenset(word for word in words if word not in _COMMON), is_excerpt)


def what_failed(call: Call) -> Said | None:
    """Return what a call's failure says, or None where it worked."""
    reading = call.reading
    if not reading.is_error and call.error_class is None and not _tells_failure(call):
        return None
    if reading.withheld is not None and reading.withheld.is_mute:
        return what_it_says("")
    if isinstance(reading.result, str) or reading.result is None:
        return what_it_says(reading.result or reading.error_message or "")
    return what_it_says(reading.error_message or argument_text(reading.result))


def _tells_failure(call: Call) -> bool:
    """Return whether a call that came back as a success says in its result that what it should do was not done."""
    result = call.reading.result
    if call.effect in _ANSWERS or result is None:
        return False
    if type(result) is str:
        return len(result) <= _BODY_CHARS and _TOLD.match(result) is not None
    # Of what only asks, that is an answer: the name is taken, the host is not reached.
    return type(result) is dict and call.effect is Effect.WRITE and any(result.get(key) is False for key in _SUCCEEDED)


def host_in(call: Call) -> str:
    """Return the host that a call's arguments name by an address; empty where they name none."""
    found = _HOST.search(argument_text(call.reading.arguments))
    return found[1].lower() if found is not None else ""


def says_the_same(one: Said, other: Said) -> bool:
    """Return whether two failures have the same reason as far as their words tell."""
    if not one.words and not one.kind:
        return False
    if one == other:
        return True
    shorter = min(len(one.words), len(other.words))
    if not shorter:
        return False
    common = len(one.words & other.words)
    if one.is_excerpt or other.is_excerpt:
        return 5 * common >= 4 * len(one.words | other.words)
    if one.kind and one.kind == other.kind:
        return 2 * common >= shorter and common >= min(2, shorter)
    return 5 * common >= 3 * shorter and common >= 2


class Failure(NamedTuple):
    """One failed call."""

    step: int
    span_id: str
    signature: str | None
    error_class: ErrorClass | None
    said: Said
    start_ns: int
    end_ns: int
    host: str = ""
    """That its arguments name; each that is down is down for itself."""


class FailureStreak(NamedTuple):
    """A tool's failures since it last worked."""

    times: int = 0
    attempts: int = 0
    """Counted over all layers: what a client or a gateway tried again by itself too."""
    latest: tuple[Failure, ...] = ()
    """The last few."""


NO_FAILURES = FailureStreak()


class Failures:
    """The failures of an agent's tools; bounded, owned by its `AgentState`."""

    __slots__ = ("_by_tool",)

    def __init__(self) -> None:
        self._by_tool: RecentMap[str, FailureStreak] = RecentMap(_TOOLS)

    def copy(self) -> Failures:
        """Return failures of its own, the same."""
        twin = Failures()
        # A streak is replaced, never changed.
        twin._by_tool = self._by_tool.copy()
        return twin

    def of(self, tool: str) -> FailureStreak:
        """Return a tool's failures since it last worked."""
        return self._by_tool.peek(tool) or NO_FAILURES

    def last(self, tool: str) -> Failure | None:
        """Return a tool's last failure since it worked."""
        latest = self.of(tool).latest
        return latest[-1] if latest else None

    def once_more(self, tool: str) -> FailureStreak:
        """Return what the row would be if the last failure came again."""
        known = self.of(tool)
        return FailureStreak(known.times + 1, known.attempts + 1, (*known.latest, *known.latest[-1:])[-_REMEMBERED:])

    def worked(self, tool: str) -> None:
        """A tool worked: what it failed at before is over."""
        self._by_tool.pop(tool)

    def others_changed(self, tool: str) -> None:
        """A call of this tool changed something: what other tools failed at before may work now."""
        own = self._by_tool.peek(tool)
        self._by_tool.clear()
        if own is not None:
            self._by_tool.put(tool, own)

    def failed(self, tool: str, failure: Failure, attempts: int) -> FailureStreak:
        """Take in a failure and return the streak."""
        known = self.of(tool)
        streak = FailureStreak(known.times + 1, known.attempts + attempts, (*known.latest, failure)[-_REMEMBERED:])
        self._by_tool.put(tool, streak)
        return streak
