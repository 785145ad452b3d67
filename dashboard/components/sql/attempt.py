"""One query of a reader on its way: a thread that waits for it, and what came of it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import pandas as pd

from dashboard.wording import inert
from otel_processor.errors import QueryError, QueryStoppedError, StoreError
from otel_processor.querying.connection import unique_names
from otel_processor.querying.sandbox import READ_ONLY
from otel_processor.querying.showing import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from dashboard.components.sql.room import Room
    from otel_processor.querying.user_query import QueryResult, UserQuery

LEFT_AFTER_SECONDS = 6.0
"""A page that has not asked for so long is no longer there; in the background browsers let it ask once a second."""

_GLANCE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Question:
    """What the reader asks."""

    text: str
    limit_rows: int
    limit_seconds: int


class Ending(StrEnum):
    """What became of a query."""

    ANSWERED = "answered"
    REFUSED = "refused"
    READ_ONLY = "read_only"
    TOO_LONG = "too_long"
    TOO_LARGE = "too_large"
    CANCELLED = "cancelled"
    LEFT = "left"
    NO_DATABASE = "no_database"
    LET_GO = "let_go"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a query ended; `result` and `frame` are there when it was answered."""

    ending: Ending
    problem: str = ""
    result: QueryResult | None = None
    frame: pd.DataFrame | None = None
    """The rows for the page: names and texts are inert."""
    shortened: int = 0
    """Cells that are longer than what the page shows of them."""


class Attempt:
    """Runs one query in a thread of its own; only that thread sets the outcome, anybody reads it.

    The query ends with whoever asked: nobody has looked for `LEFT_AFTER_SECONDS` means that the page was left.

    Args:
        question: what is asked.
        query: which asks it; not yet run.
        room: in which a place was taken for it; given back at the end.
        clock: seconds that only grow.
    """

    def __init__(self, question: Question, query: UserQuery, room: Room, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.question = question
        self._query = query
        self._room = room
        self._clock = clock
        self._lock = threading.Lock()
        self._begun_at = self._looked_at = clock()
        self._seconds: float | None = None
        self._why_stopped: Ending | None = None
        self._outcome: Outcome | None = None
        self._over = threading.Event()

    def begin(self) -> None:
        """Start the query.

        Raises:
            RuntimeError: the system gives no thread.
        """
        threading.Thread(target=self._work, name="sql page query", daemon=True).start()

    @property
    def outcome(self) -> Outcome | None:
        """How it ended, None while it runs."""
        with self._lock:
            return self._outcome

    @property
    def seconds(self) -> float:
        """How long it took, or has taken so far."""
        with self._lock:
            return self._clock() - self._begun_at if self._seconds is None else self._seconds

    def look(self) -> Outcome | None:
        """Return the outcome, and take note that somebody waits for it."""
        with self._lock:
            self._looked_at = self._clock()
            return self._outcome

    def cancel(self, why: Ending = Ending.CANCELLED) -> None:
        """Stop the query."""
        with self._lock:
            self._why_stopped = self._why_stopped or why
        self._query.cancel()

    def wait(self, timeout_seconds: float) -> bool:
        """Wait for the end; return whether it came."""
        return self._over.wait(timeout_seconds)

    def let_go(self) -> None:
        """Forget the rows, to make room for those of others."""
        with self._lock:
            if self._outcome is not None and self._outcome.ending is Ending.ANSWERED:
                self._outcome = Outcome(Ending.LET_GO)

    def _work(self) -> None:
        outcome = Outcome(Ending.REFUSED)
        try:
            threading.Thread(target=self._watch, name="sql page watch", daemon=True).start()
            outcome = self._asked()
        finally:
            with self._lock:
                self._outcome = outcome
                self._seconds = self._clock() - self._begun_at
            self._room.leave()
            if outcome.result is not None:
                self._room.keep(self)
            self._over.set()

    def _asked(self) -> Outcome:
        try:
            result = self._query.run()
            frame, shortened = for_the_page(result)
        except QueryStoppedError as error:
            return Outcome(self._why(str(error)))
        except QueryError as error:
            return Outcome(Ending.READ_ONLY if str(error) == READ_ONLY else Ending.REFUSED, inert(str(error)))
        except StoreError as error:
            return Outcome(Ending.NO_DATABASE, inert(str(error)))
        except Exception as error:  # noqa: BLE001 - whatever can be wrong with a strange value, a reader gets a sentence
            return Outcome(Ending.REFUSED, inert((str(error).strip().splitlines() or [type(error).__name__])[0]))
        return Outcome(Ending.ANSWERED, result=result, frame=frame, shortened=shortened)

    def _why(self, said: str) -> Ending:
        with self._lock:
            if self._why_stopped is not None:
                return self._why_stopped
        return Ending.TOO_LARGE if "memory" in said else Ending.TOO_LONG

    def _watch(self) -> None:
        while not self._over.wait(_GLANCE_SECONDS):
            with self._lock:
                is_left = self._clock() - self._looked_at > LEFT_AFTER_SECONDS
            if is_left:
                self.cancel(Ending.LEFT)


def for_the_page(result: QueryResult) -> tuple[pd.DataFrame, int]:
    """Return the rows as a frame in which no text acts, neither in a cell nor as a name, and how many cells were shortened."""
    frame, shortened = shown(result)
    for name in frame.columns:
        if pd.api.types.is_string_dtype(frame[name]) or pd.api.types.is_object_dtype(frame[name]):
            frame[name] = frame[name].map(lambda value: inert(value) if isinstance(value, str) else value).astype(object)
    frame.columns = unique_names([inert(str(name)) for name in frame.columns])
    return frame, shortened
