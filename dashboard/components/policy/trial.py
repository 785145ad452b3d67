"""One what-if on its way: a thread that judges, how far it is, and what came of it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dashboard.questions import policy as questions
from dashboard.wording import inert
from otel_processor.bug_reports import report_bug
from otel_processor.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from otel_processor.policy import Policy
    from otel_processor.what_if.choosing import Choice
    from otel_processor.what_if.results import Outcome

    Judge = Callable[..., Outcome]

MOST_AT_ONCE = 2
"""What-ifs of all sessions of one server: each keeps a processor busy, which the pages of others need too."""

LEFT_AFTER_SECONDS = 90.0
"""A page that has not asked for so long is no longer there; in the background browsers let it ask once a minute."""

ROOM = threading.BoundedSemaphore(MOST_AT_ONCE)


@dataclass(frozen=True, slots=True)
class Question:
    """What is tried."""

    baseline: Policy
    candidate: Policy
    choice: Choice
    changes: Mapping[str, tuple[object, object]] = field(default_factory=dict)
    """Field → its value in force and the one that is tried."""


class Trial:
    """Runs one what-if in a thread of its own; only that thread sets the outcome, anybody reads it.

    Args:
        question: what is tried.
        judge: what judges; by default the stored runs of the dashboard's database.
        clock: seconds that only grow.
    """

    def __init__(self, question: Question, *, judge: Judge | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.question = question
        self._judge = judge or questions.judged
        self._clock = clock
        self._cancel = threading.Event()
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._done, self._of = 0, 0
        self._begun_at = self._looked_at = clock()
        self._outcome: Outcome | None = None
        self._problem = ""

    def begin(self, room: threading.BoundedSemaphore = ROOM) -> bool:
        """Start judging, unless as many others do as may; return whether it was started."""
        if not room.acquire(blocking=False):
            return False
        threading.Thread(target=self._work, args=(room,), name="policy page what-if", daemon=True).start()
        return True

    @property
    def is_over(self) -> bool:
        """Whether it has ended, well or not."""
        return self._over.is_set()

    @property
    def outcome(self) -> Outcome | None:
        """What came of it; None while it runs, and when it could not be done."""
        with self._lock:
            return self._outcome

    @property
    def problem(self) -> str:
        """Why there is no outcome, in one sentence."""
        with self._lock:
            return self._problem

    @property
    def is_cancelled(self) -> bool:
        """Whether it was asked to stop."""
        return self._cancel.is_set()

    def look(self) -> tuple[int, int, float]:
        """Return how many runs are done, of how many, and after how many seconds; take note that somebody waits."""
        with self._lock:
            self._looked_at = self._clock()
            return self._done, self._of, self._looked_at - self._begun_at

    def cancel(self) -> None:
        """Ask it to stop; the outcome is that of the runs so far."""
        self._cancel.set()

    def wait(self, timeout_seconds: float) -> bool:
        """Wait for the end; return whether it came."""
        return self._over.wait(timeout_seconds)

    def _work(self, room: threading.BoundedSemaphore) -> None:
        outcome, problem = None, ""
        try:
            asked = self.question
            outcome = self._judge(asked.baseline, asked.candidate, asked.choice, on_progress=self._note, cancel=self._cancel)
        except StoreError as error:
            problem = inert(str(error))
        except Exception as error:  # noqa: BLE001 - our own bug costs one what-if, and its reader gets a sentence
            report_bug("the what-if of the dashboard")
            problem = inert((str(error).strip().splitlines() or [type(error).__name__])[0])
        finally:
            with self._lock:
                self._outcome, self._problem = outcome, problem
            room.release()
            self._over.set()

    def _note(self, done: int, of: int) -> None:
        with self._lock:
            self._done, self._of = done, of
            is_left = self._clock() - self._looked_at > LEFT_AFTER_SECONDS
        if is_left:
            self._cancel.set()
