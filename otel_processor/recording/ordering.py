"""Messages are ordered where an alert's row is written, in the same transaction: whoever writes it first (ADR 0006)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from otel_processor.store.columns import DELIVERIES, Columns, as_list, encodable
from otel_processor.store.scripts import delivery_statement

if TYPE_CHECKING:
    import duckdb

    from otel_processor.alerts.plan import DeliveryPlan
    from otel_processor.model import Alert

OWN_LEASE_NS = 10_000_000_000
"""So long a message is left to the process that ordered it, so that not all of them come for it at once."""

LONGEST_WAIT_NS = 7_200_000_000_000
"""No message waits for as long: what is due later still was written by a clock that was wrong."""

_TOLD = frozenset({"pending", "sending", "sent", "held", "summed", "gave_up"})


def delivery_id(kind: str, sink: str, subject: str) -> str:
    """Return the id of a message: the same whoever orders it."""
    return hashlib.sha256(f"{kind}\n{sink}\n{subject}".encode("utf-8", "backslashreplace")).hexdigest()[:32]


def order(
    connection: duckdb.DuckDBPyConnection,
    alerts: Sequence[Alert],
    plan_of: Callable[[Alert], DeliveryPlan],
    *,
    now_ns: int,
    sender: str,
    own_sinks: Sequence[str],
) -> int:
    """Order messages about alerts that are new to the database, or graver than before; return how many.

    Args:
        connection: inside a write transaction.
        alerts: by the ids under which they are stored.
        plan_of: who is to be told of an alert.
        now_ns: the time, nanoseconds since the epoch.
        sender: of this process; messages to sinks that it has are left to it for a moment.
        own_sinks: the sinks that this process has.
    """
    wanted = [(alert, plan) for alert in alerts if (plan := plan_of(alert)).wants(alert.verdict.severity)]
    if not wanted:
        return 0
    rows = connection.execute(delivery_statement("known"), {"run_ids": as_list({alert.run_id for alert, _ in wanted})}).fetchall()
    ordered = {(row[0], row[1]) for row in rows}
    # The latest first: of each run, pattern and sink the last one that was not suppressed itself.
    told: dict[tuple[str, str, str], int] = {}
    for _, sink, run_id, pattern, state, told_us in rows:
        if state in _TOLD:
            # Later than now, a wrong clock says, or a message that waits for its next try.
            told.setdefault((run_id, pattern, sink), min(told_us * 1_000, now_ns))
    columns = DELIVERIES.empty()
    for alert, plan in sorted(wanted, key=lambda one: one[0].at_ns):
        # As it reads in the rows.
        run_id, pattern = encodable(alert.run_id), str(alert.verdict.pattern)
        for sink in plan.sinks:
            if (alert.alert_id, sink) in ordered:
                continue
            ordered.add((alert.alert_id, sink))
            until_ns = told.get((run_id, pattern, sink), now_ns) + int(plan.cooldown_seconds * 1e9)
            suppressed = (run_id, pattern, sink) in told and now_ns < until_ns
            if not suppressed:
                told[run_id, pattern, sink] = now_ns
            append(
                columns,
                delivery_id=delivery_id("alert", sink, alert.alert_id),
                sink=sink,
                kind="alert",
                alert_id=alert.alert_id,
                run_id=run_id,
                pattern=pattern,
                state="suppressed" if suppressed else "pending",
                created_ns=now_ns,
                due_ns=until_ns if suppressed else now_ns,
                claimed_by=sender if sink in own_sinks else None,
                lease_ns=now_ns + OWN_LEASE_NS if sink in own_sinks else None,
            )
    DELIVERIES.insert(connection, columns)
    return len(columns["sink"])


def append(columns: Columns, **known: object) -> None:
    """Append a row; what is not known is empty."""
    row: dict[str, object] = {"attempts": 0, "awaits_end": False} | known
    for name, values in columns.items():
        values.append(row.get(name))


def note_sent_unclaimed(connection: duckdb.DuckDBPyConnection, sent: Columns) -> None:
    """Write down messages that were sent while the database could not be reached.

    Args:
        connection: inside a write transaction.
        sent: their rows.
    """
    missing = DELIVERIES.empty()
    for values in zip(*(sent[name] for name in DELIVERIES.given), strict=True):
        row = dict(zip(DELIVERIES.given, values, strict=True))
        names = ("delivery_id", "sink", "kind", "alert_id", "run_id", "pattern", "awaits_end")
        asked = {name: encodable(row[name]) for name in names} | {"at_us": row["sent_ns"] // 1_000}
        found = connection.execute(delivery_statement("sent_unclaimed"), asked).fetchall()
        known = connection.execute(
            "select 1 from deliveries where delivery_id = $delivery_id", {"delivery_id": row["delivery_id"]}
        ).fetchall()
        if row["kind"] == "summary":
            connection.execute(delivery_statement("note_summed"), {"summary_id": row["delivery_id"]})
        if not found and not known:
            append(missing, **row)
    DELIVERIES.insert(connection, missing)


def is_due(connection: duckdb.DuckDBPyConnection, sinks: Sequence[str], *, now_ns: int, sender: str) -> bool:
    """Return whether a message of these sinks is to be sent now, or the end of an alert to be told."""
    asked = {"sinks": as_list(sinks), "sender": sender, "beyond_us": (now_ns + LONGEST_WAIT_NS) // 1_000}
    rows = connection.execute(delivery_statement("attention"), asked).fetchall()
    next_us, _, ended = rows[0]
    return bool(ended) or (next_us is not None and next_us <= now_ns // 1_000)
