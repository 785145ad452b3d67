"""What comes of a what-if."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LeftOut(StrEnum):
    """Why a run was not judged."""

    NOT_ASKED = "not_asked"
    """There are more runs than were asked for."""
    TOO_MANY_SPANS = "too_many_spans"
    """All runs together have more spans than were asked for."""
    TOO_LARGE = "too_large"
    """Its texts are too long to have them in memory at once."""
    NO_SPANS = "no_spans"
    """None of its spans are stored."""
    OTHERWISE = "otherwise"
    """Its spans make another run of it now than the one that is stored."""
    BUG = "bug"
    """Judging it failed for a bug of ours."""
    CANCELLED = "cancelled"
    """It was not its turn yet."""


@dataclass(frozen=True, slots=True)
class FirstVerdict:
    """The first thing that was said of a run under one policy."""

    pattern: str
    action: str
    step: int | None
    at_ns: int
    message: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What one policy says of a run."""

    patterns: frozenset[str] = frozenset()
    """For which it was flagged, be it as a warning."""
    advises_stop: bool = False
    first: FirstVerdict | None = None


@dataclass(frozen=True, slots=True)
class PatternCount:
    """How many runs were flagged for one pattern."""

    pattern: str
    before: int
    after: int
    newly: int
    no_longer: int


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """A run that one of the policies flags, or both."""

    run_id: str
    task: str | None
    agent: str | None
    started_ns: int
    before: Judged
    after: Judged

    @property
    def differs(self) -> bool:
        """Whether it is flagged for other patterns, at another step, or with another advice."""
        return _told(self.before) != _told(self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The stored history under two policies."""

    runs: int
    """That were judged under both."""
    spans: int
    """That were read for it."""
    flagged_before: int
    """Runs that are flagged for any pattern."""
    flagged_after: int
    newly: int
    """Runs that only the candidate flags."""
    no_longer: int
    """Runs that only the baseline flags."""
    stops_before: int
    """Runs that would be advised to stop."""
    stops_after: int
    patterns: tuple[PatternCount, ...]
    """Of every pattern that one of the policies looks for, in the order of `Pattern`."""
    outcomes: tuple[RunOutcome, ...]
    """Runs that are flagged, those first that differ, the latest first among those; bounded."""
    not_listed: int
    """Flagged runs beyond the bound."""
    left_out: dict[LeftOut, int]
    """Why how many runs were not judged."""
    took_seconds: float

    @property
    def was_cancelled(self) -> bool:
        """Whether there is more to judge."""
        return LeftOut.CANCELLED in self.left_out


def _told(judged: Judged) -> tuple[object, ...]:
    first = judged.first
    return judged.patterns, judged.advises_stop, first and (first.pattern, first.step)
