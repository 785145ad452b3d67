"""The statements of one look at the messages of a process: what is over, what is due, what is claimed, what has to wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from otel_processor.alerts.notice import Kind, Notice
from otel_processor.delivery.facts import notices_of
from otel_processor.delivery.pace import MINUTE_NS, MOST_ATTEMPTS
from otel_processor.recording.ordering import LONGEST_WAIT_NS, append, delivery_id
from otel_processor.store.columns import DELIVERIES, as_list
from otel_processor.store.scripts import delivery_statement

if TYPE_CHECKING:
    import duckdb

    from otel_processor.alerts.settings import AlertSettings

LEASE_NS = 90_000_000_000
"""So long a claim holds: longer than a few messages can take to send."""

_OF_A_SINK = 3
"""Messages that one sink gets in one go: the others have their turn in between."""

_LOOKED_AT = 500


@dataclass(frozen=True, slots=True)
class Claim:
    """A message that this process sends now."""

    sink: str
    attempts: int
    """This one included."""
    notice: Notice
    lease_ns: int


@dataclass(slots=True)
class Look:
    """What one look found."""

    claims: list[Claim] = field(default_factory=list)
    next_ns: int | None = None
    """When something is due next; None: nothing is."""
    awaiting: int = 0
    """Messages that were sent about alerts that are open."""
    given_up: list[tuple[str, str]] = field(default_factory=list)
    """The sink and the last error of each message that is not tried again."""


@dataclass(frozen=True, slots=True)
class _Due:
    """A message that is due."""

    delivery_id: str
    sink: str
    kind: Kind
    alert_id: str | None
    attempts: int


def look(
    connection: duckdb.DuckDBPyConnection, sinks: Sequence[str], settings: AlertSettings, *, now_ns: int, sender: str
) -> Look:
    """Claim what is due.

    Args:
        connection: inside a write transaction.
        sinks: that this process has.
        settings: the limit, and where the dashboard is.
        now_ns: the time, nanoseconds since the epoch.
        sender: of this process.
    """
    asked = {"sinks": as_list(sinks)}
    now_us = now_ns // 1_000
    found = Look()
    found.given_up = connection.execute(
        delivery_statement("exhaust"), asked | {"most": MOST_ATTEMPTS, "now_us": now_us}
    ).fetchall()
    connection.execute(delivery_statement("give_up_held"))
    connection.execute(delivery_statement("wake"), asked | {"now_us": now_us})
    _order_recoveries(connection, sinks, now_ns)
    due = _due(connection, sinks, now_ns, sender)
    if due:
        chosen = _choose(connection, due, sinks, settings.per_minute, now_ns)
        claimed = {"now_us": now_us, "lease_us": (now_ns + LEASE_NS) // 1_000, "sender": sender}
        connection.execute(delivery_statement("claim"), claimed | {"ids": as_list([row.delivery_id for row in chosen])})
        alerts = {row.delivery_id: (row.kind, row.alert_id) for row in chosen}
        notices = notices_of(connection, alerts, settings, now_ns)
        found.claims = [
            Claim(row.sink, row.attempts + 1, notices[row.delivery_id], now_ns + LEASE_NS)
            for row in sorted(chosen, key=lambda row: row.attempts)
        ]
    beyond = {"sender": sender, "beyond_us": (now_ns + LONGEST_WAIT_NS) // 1_000}
    ((next_us, found.awaiting, _),) = connection.execute(delivery_statement("attention"), asked | beyond).fetchall()
    found.next_ns = None if next_us is None else next_us * 1_000
    return found


def _due(connection: duckdb.DuckDBPyConnection, sinks: Sequence[str], now_ns: int, sender: str) -> list[_Due]:
    rows = connection.execute(
        delivery_statement("due"),
        {
            "sinks": as_list(sinks),
            "now_us": now_ns // 1_000,
            "beyond_us": (now_ns + LONGEST_WAIT_NS) // 1_000,
            "sender": sender,
            "at_most": _LOOKED_AT,
        },
    ).fetchall()
    return [_Due(row[0], row[1], Kind(row[2]), row[3], row[4]) for row in rows]


def _order_recoveries(connection: duckdb.DuckDBPyConnection, sinks: Sequence[str], now_ns: int) -> None:
    """Order a message about the end of each alert that was told and is over."""
    rows = connection.execute(delivery_statement("ended"), {"sinks": as_list(sinks), "at_most": _LOOKED_AT}).fetchall()
    if not rows:
        return
    connection.execute(
        "update deliveries set awaits_end = false where delivery_id in (select unnest(from_json($ids::JSON, '[\"VARCHAR\"]')))",
        {"ids": as_list([row[0] for row in rows])},
    )
    columns = DELIVERIES.empty()
    for _, sink, alert_id, run_id, pattern, resolved_us in rows:
        append(
            columns,
            delivery_id=delivery_id("recovery", sink, alert_id),
            sink=sink,
            kind="recovery",
            alert_id=alert_id,
            run_id=run_id,
            pattern=pattern,
            state="pending",
            created_ns=now_ns,
            due_ns=min(max(resolved_us, 0) * 1_000, now_ns),
        )
    DELIVERIES.insert(connection, columns)


def _choose(
    connection: duckdb.DuckDBPyConnection, due: Sequence[_Due], sinks: Sequence[str], per_minute: int, now_ns: int
) -> list[_Due]:
    """Return what is sent now; what is beyond a sink's limit is held back."""
    rows = connection.execute(
        delivery_statement("tried"),
        {"sinks": as_list(sinks), "since_us": (now_ns - MINUTE_NS) // 1_000, "now_us": now_ns // 1_000},
    ).fetchall()
    tried: Mapping[str, tuple[int, int]] = {sink: (number, first_us * 1_000) for sink, number, first_us in rows}
    chosen: list[_Due] = []
    for sink in sinks:
        mine = [row for row in due if row.sink == sink]
        number, first_ns = tried.get(sink, (0, now_ns))
        room = max(per_minute - number, 0)
        chosen += mine[: min(room, _OF_A_SINK)]
        if mine[room:]:
            _hold(connection, sink, mine[room:], first_ns + MINUTE_NS, now_ns)
    return chosen


def _hold(connection: duckdb.DuckDBPyConnection, sink: str, rows: Sequence[_Due], free_ns: int, now_ns: int) -> None:
    """Hold messages back for the sink's next summary, which is due when it may get another message."""
    summaries = [row.delivery_id for row in rows if row.kind is Kind.SUMMARY]
    if summaries:
        connection.execute(delivery_statement("postpone"), {"ids": as_list(summaries), "due_us": free_ns // 1_000 + 1})
    held = [row.delivery_id for row in rows if row.kind is not Kind.SUMMARY]
    if not held:
        return
    waiting = connection.execute(delivery_statement("waiting_summary"), {"sink": sink}).fetchall()
    summary_id = waiting[0][0] if waiting else delivery_id("summary", sink, held[0])
    if not waiting:
        columns = DELIVERIES.empty()
        append(
            columns,
            delivery_id=summary_id,
            sink=sink,
            kind="summary",
            state="pending",
            created_ns=now_ns,
            due_ns=free_ns + 1_000,
        )
        DELIVERIES.insert(connection, columns)
    connection.execute(delivery_statement("hold"), {"ids": as_list(held), "summary_id": summary_id})
