"""What is wrong and what to do about it, from what was found; knows nothing of pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pandas as pd

from dashboard import data
from dashboard.wording import ago, count, inert, number_of, short, text_of
from otel_processor.store.creating import SCHEMA_MAJOR, SCHEMA_MINOR
from otel_processor.store.surroundings import Room

if TYPE_CHECKING:
    from dashboard.components.health.state import State
    from otel_processor.store.surroundings import Surroundings

SPOOL_MAY_WAIT = timedelta(minutes=1)
WRITERS_MAY_REST = timedelta(minutes=5)
"""While runs are open somebody should have written within this."""
SHUT_OUT_TOLD = 5

_ROOMS = {Room.NO_FOLDER: "critical", Room.NOT_WRITABLE: "warning", Room.FULL: "critical", Room.LITTLE: "warning"}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that somebody should do something about."""

    name: str
    """Its texts in the catalogue: `health.NAME` says what is wrong, `health.NAME_remedy` what to do."""
    severity: str = "critical"
    values: dict[str, str] = field(default_factory=dict)
    """What the texts name; may be written by others."""
    number: int | None = None
    """What the first text counts; None: it counts nothing."""


def find(state: State, now: datetime | None = None) -> list[Problem]:
    """Return what is wrong, the worst first.

    Args:
        state: what was found.
        now: the time to judge by; None: that of this moment.
    """
    if state.seal is not None:
        # Nobody writes to it, and nobody can do anything about it.
        return list(_other_schema(state))
    moment = now or datetime.now(UTC)
    found = [
        *_shut_out(state.around),
        *_room(state.around),
        *_readable(state),
        *_schema(state),
        *_dropped(state),
        *_gave_up(state),
        *_spool(state.around, moment),
        *_silence(state, moment),
    ]
    return sorted(found, key=lambda problem: problem.severity != "critical")


def _shut_out(around: Surroundings) -> Iterator[Problem]:
    for status in list(reversed(around.shut_out))[:SHUT_OUT_TOLD]:
        told = {name: short(inert(str(status.get(name) or "?")), 300) for name in ("pid", "host", "reason")}
        lost = {name: count(status.get(name) or 0) for name in ("spooled", "dropped")}
        yield Problem("shut_out", values=told | lost)


def _room(around: Surroundings) -> Iterator[Problem]:
    if around.room in _ROOMS:
        folder = inert(str(around.folder))
        yield Problem(f"room_{around.room}", _ROOMS[around.room], {"folder": folder})


def _readable(state: State) -> Iterator[Problem]:
    answer = state.schema
    if answer.state is data.State.UNREADABLE:
        yield Problem("unreadable", values={"problem": answer.problem})
    elif answer.state is data.State.BUSY:
        yield Problem("busy", "warning", {"problem": answer.problem})


def _schema(state: State) -> Iterator[Problem]:
    if not state.schema.is_usable or state.schema.frame.empty:
        return
    if other := list(_other_schema(state)):
        yield from other
    elif state.is_older:
        yield Problem("older_schema", "warning", _versions(state))
    elif state.tables.state is data.State.UNREADABLE:
        yield Problem("unreadable", values={"problem": state.tables.problem})


def _other_schema(state: State) -> Iterator[Problem]:
    is_known = state.schema.is_usable and not state.schema.frame.empty
    if is_known and int(state.schema.frame.iloc[0]["schema_major"]) != SCHEMA_MAJOR:
        yield Problem("other_schema", values=_versions(state))


def _versions(state: State) -> dict[str, str]:
    row = state.schema.frame.iloc[0]
    return {
        "found": f"{int(row['schema_major'])}.{int(row['schema_minor'])}",
        "known": f"{SCHEMA_MAJOR}.{SCHEMA_MINOR}",
    }


def _dropped(state: State) -> Iterator[Problem]:
    if not state.writers.is_usable or state.writers.frame.empty:
        return
    row = state.writers.frame.iloc[0]
    if lost := int(number_of(row["all_dropped"]) or 0):
        yield Problem("dropped", values={"writers": count(row["writers_that_dropped"])}, number=lost)


def _gave_up(state: State) -> Iterator[Problem]:
    if not state.sinks.is_usable:
        return
    for row in state.sinks.frame.to_dict("records"):
        told = {"sink": inert(str(row["sink"])), "error": short(text_of(row["last_error"], "?"), 200)}
        if int(row["gave_up"]):
            yield Problem("gave_up", values=told, number=int(row["gave_up"]))
        elif int(row["retrying"]):
            yield Problem("retrying", "warning", told, int(row["retrying"]))


def _spool(around: Surroundings, now: datetime) -> Iterator[Problem]:
    oldest = around.spool_oldest_at
    if oldest is not None and now - oldest > SPOOL_MAY_WAIT:
        yield Problem("spool_waits", "warning", {"ago": ago(oldest, now=now)}, around.spool_files)


def _silence(state: State, now: datetime) -> Iterator[Problem]:
    if not state.signs.is_usable or state.signs.frame.empty:
        return
    row = state.signs.frame.iloc[0]
    if int(row["open_runs"]) and not pd.isna(row["written_at"]) and now - row["written_at"] > WRITERS_MAY_REST:
        yield Problem("silence", "warning", {"ago": ago(row["written_at"], now=now)}, int(row["open_runs"]))
