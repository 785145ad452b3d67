"""The only part of the dashboard that reads the store: one query, then the file is free again for writers.

What each page asks stands in `questions`.

Nothing here raises for what can happen to a database. An `Answer` says what became of the question, and pages turn
that into a chart, an empty state or a one-line notice.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.wording import inert
from otel_processor.errors import StoreBusyError, StoreError
from otel_processor.store.opening import open_read_only
from otel_processor.store.scripts import query
from otel_processor.store.temporary_views import make_views
from otel_processor.store.upgrading import why_unlike

if TYPE_CHECKING:
    from collections.abc import Hashable

    Parameter = str | int | tuple[str, ...] | None

_WAIT_SECONDS = 1.5
_WAIT_FOR_ALERTS_SECONDS = 2.5
_GLANCE_SECONDS = 0.05
_BUSY_FOR_SECONDS = 3.0
_REMEMBERED = 128
_SLOW_SECONDS = 0.1
_REST_AFTER_SLOW = 10

# Written by agents, tools or whoever sent the spans. Ids are left alone: they must be found again.
_FOREIGN_TEXT = (
    "task", "task_type", "agent", "service", "tool", "model", "message", "arguments", "result", "error_message", "text",
    "provider", "error_class", "finish_reason", "name", "error", "host",
)  # fmt: skip


class State(StrEnum):
    """What became of a question to the store."""

    READY = "ready"
    MISSING = "missing"
    BUSY = "busy"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows that a query returned, or why there are none.

    When the database is busy, `frame` holds the rows of the last time and `read_at` says when that was.
    """

    state: State
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    problem: str = ""
    read_at: datetime | None = None
    took_seconds: float = 0.0

    @property
    def is_ready(self) -> bool:
        """Whether the rows are those of now."""
        return self.state is State.READY

    @property
    def is_usable(self) -> bool:
        """Whether there is something to draw, be it a moment old."""
        return self.read_at is not None


def forget() -> None:
    """Ask everything anew from now on."""
    st.cache_data.clear()
    _LAST.forget()
    _BUSY_AT.clear()


def database_path() -> str:
    """Return the path of the database that this dashboard shows."""
    return os.environ.get("OTEL_PROCESSOR_DB") or "agents.duckdb"


def fresh(name: str, **parameters: Parameter) -> Answer:
    """Ask the query of that name for what must be on a page within seconds."""
    return _ask_fresh(database_path(), name, tuple(parameters.items()))


def recent(name: str, **parameters: Parameter) -> Answer:
    """Ask the query of that name; where a query takes long the answer may be some seconds old."""
    return _ask_recent(database_path(), name, tuple(parameters.items()))


# Alerts have to be on the page within 3 seconds of being told: what is kept must be younger than the page asks again.
@st.cache_data(ttl=0.5, max_entries=32, show_spinner=False)
def _ask_fresh(path: str, name: str, parameters: tuple[tuple[str, Parameter], ...]) -> Answer:
    return _ask(path, name, parameters, _WAIT_FOR_ALERTS_SECONDS)


@st.cache_data(ttl=2, max_entries=128, show_spinner=False)
def _ask_recent(path: str, name: str, parameters: tuple[tuple[str, Parameter], ...]) -> Answer:
    last = _LAST.recall((path, name, parameters))
    if last.took_seconds > _SLOW_SECONDS and _age_seconds(last) < last.took_seconds * _REST_AFTER_SLOW:
        # Writers wait while a query reads: over much data a page asks more rarely.
        return last
    return _ask(path, name, parameters, _WAIT_SECONDS)


def _ask(path: str, name: str, parameters: tuple[tuple[str, Parameter], ...], wait_seconds: float) -> Answer:
    if not Path(path).exists():
        return Answer(State.MISSING)
    question = (path, name, parameters)
    begun = time.monotonic()
    if begun - _BUSY_AT.get(path, -_BUSY_FOR_SECONDS) < _BUSY_FOR_SECONDS:
        # One question of this rendering has waited already: the others of it would each wait as long.
        wait_seconds = _GLANCE_SECONDS
    try:
        frame = _read(path, name, dict(parameters), wait_seconds)
        _BUSY_AT.pop(path, None)
    except StoreBusyError as error:
        _BUSY_AT[path] = time.monotonic()
        return replace(_LAST.recall(question), state=State.BUSY, problem=inert(str(error)))
    except StoreError as error:
        return Answer(State.UNREADABLE, problem=inert(str(error)))
    except Exception as error:  # noqa: BLE001 - whatever the engine says of a foreign or damaged file, a reader gets a sentence
        return Answer(State.UNREADABLE, problem=inert(f"{path} cannot be read: {str(error).strip().splitlines()[0]}"))
    answer = Answer(State.READY, frame, read_at=datetime.now(UTC), took_seconds=time.monotonic() - begun)
    _LAST.remember(question, answer)
    return answer


def _age_seconds(answer: Answer) -> float:
    return (datetime.now(UTC) - answer.read_at).total_seconds() if answer.read_at else float("inf")


def _read(path: str, name: str, parameters: dict[str, Parameter], wait_seconds: float) -> pd.DataFrame:
    text = query(name)
    connection = open_read_only(path, timeout_seconds=wait_seconds)
    try:
        asked = make_views(connection, text, {column: _listed(value) for column, value in parameters.items()})
        frame: pd.DataFrame = connection.execute(text, asked).df()
    except Exception as error:
        if reason := why_unlike(connection):
            raise StoreError(f"{path} cannot be read: {reason}") from error
        raise
    finally:
        connection.close()
    for column in frame.columns.intersection(list(_FOREIGN_TEXT)):
        frame[column] = frame[column].map(lambda value: inert(value) if isinstance(value, str) else None).astype(object)
    return frame


def _listed(value: Parameter) -> str | int | list[str] | None:
    return list(value) if isinstance(value, tuple) else value


class _LastAnswers:
    """The last good answers, a bounded number of them, for moments in which the database is busy."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()

    def remember(self, question: Hashable, answer: Answer) -> None:
        with self._lock:
            self._answers[question] = answer
            self._answers.move_to_end(question)
            if len(self._answers) > _REMEMBERED:
                self._answers.popitem(last=False)

    def recall(self, question: Hashable) -> Answer:
        with self._lock:
            return self._answers.get(question, Answer(State.BUSY))

    def forget(self) -> None:
        with self._lock:
            self._answers.clear()


_LAST = _LastAnswers()

_BUSY_AT: dict[str, float] = {}
"""When a database was found busy; one entry for the one database that is shown."""
