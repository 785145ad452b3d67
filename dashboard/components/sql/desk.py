"""What one reader has on the desk: the query that runs or ran last, and those before it."""

from __future__ import annotations

from collections import deque
from enum import StrEnum
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components.sql.attempt import Attempt, Ending, Question
from dashboard.components.sql.room import ROOM, Room
from dashboard.questions import sql as questions
from otel_processor.errors import OtelProcessorError

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_EARLIER = 10
MOST_ROWS = 10_000
MOST_SECONDS = 60
LONGEST_TEXT = 20_000
"""Characters of a query."""

_KEPT = "sql desk"


class Notice(StrEnum):
    """What the reader has to know of the text in the editor, or of why it is not run."""

    FROM_LINK = "from_link"
    LINK_TOO_LONG = "link_too_long"
    EMPTY = "empty"
    RUNS_ALREADY = "runs_already"
    OTHERS_RUN = "others_run"
    CANNOT = "cannot"


class Desk:
    """Of one session, whose script runs one at a time; what other threads touch is in `Attempt`."""

    def __init__(self, room: Room = ROOM) -> None:
        self._room = room
        self.attempt: Attempt | None = None
        self.notice: Notice | None = None
        self.earlier: deque[str] = deque(maxlen=MOST_EARLIER)
        """Texts that were run or put aside, the newest first."""
        self.in_address: str | None = None
        """The query in the address, as far as it was seen."""
        self.last_inserted = ""

    @property
    def is_running(self) -> bool:
        """Whether a query runs."""
        return self.attempt is not None and self.attempt.outcome is None

    @property
    def standing(self) -> tuple[Attempt | None, bool]:
        """The query, and whether it runs; when that changes, the page is drawn anew."""
        return self.attempt, self.is_running

    def ask(self, text: str, limit_rows: int, limit_seconds: int, *, begin: Callable[[Attempt], None] = Attempt.begin) -> bool:
        """Run a query, unless `notice` says why not; return whether it was begun.

        Args:
            text: SQL.
            limit_rows: rows at most; more than `MOST_ROWS` are not asked for.
            limit_seconds: seconds at most; not more than `MOST_SECONDS`.
            begin: what begins it.
        """
        self.notice = self._hindrance(text)
        if self.notice is not None:
            return False
        rows, seconds = min(max(limit_rows, 1), MOST_ROWS), min(max(limit_seconds, 1), MOST_SECONDS)
        try:
            query = questions.of_the_reader(text, limit_rows=rows, limit_seconds=seconds)
        except OtelProcessorError:
            self.notice = Notice.CANNOT
            return False
        # One place for one query: taken last, so that nothing can keep it.
        if not self._room.enter():
            self.notice = Notice.OTHERS_RUN
            return False
        attempt = Attempt(Question(text, rows, seconds), query, self._room)
        try:
            begin(attempt)
        except RuntimeError:
            self._room.leave()
            self.notice = Notice.CANNOT
            return False
        self.attempt = attempt
        self.put_aside(text)
        return True

    def put_aside(self, text: str) -> None:
        """Keep a text among the earlier ones."""
        text = text.strip()
        if not text:
            return
        if text in self.earlier:
            self.earlier.remove(text)
        self.earlier.appendleft(text)

    def cancel(self) -> None:
        """Stop the query that runs."""
        if self.attempt is not None:
            self.attempt.cancel(Ending.CANCELLED)

    def _hindrance(self, text: str) -> Notice | None:
        if self.is_running:
            return Notice.RUNS_ALREADY
        return None if text.strip() else Notice.EMPTY


def of_this_session() -> Desk:
    """Return the desk of whoever looks."""
    if _KEPT not in st.session_state:
        st.session_state[_KEPT] = Desk()
    desk: Desk = st.session_state[_KEPT]
    return desk
