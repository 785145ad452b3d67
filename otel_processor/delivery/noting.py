"""What became of messages, written down once they were tried."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from otel_processor.alerts.notice import Kind
from otel_processor.delivery.pace import pause_seconds
from otel_processor.recording.ordering import append
from otel_processor.store.columns import DELIVERIES, encodable
from otel_processor.store.scripts import delivery_statement

if TYPE_CHECKING:
    import duckdb

    from otel_processor.alerts.sink import Outcome
    from otel_processor.delivery.claiming import Claim
    from otel_processor.store.columns import Columns


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a claim."""

    claim: Claim
    outcome: Outcome | None
    """None: it was not tried after all."""
    at_ns: int

    @property
    def pause_ns(self) -> int:
        """How long the next try waits."""
        after = self.outcome.retry_after_seconds if self.outcome is not None else None
        return int(pause_seconds(self.claim.attempts, after, random.random) * 1e9)


def sent_rows(results: list[Result]) -> Columns:
    """Return rows of the messages that were sent, for the spool: the database cannot be reached, and the process ends."""
    columns = DELIVERIES.empty()
    for result in results:
        notice = result.claim.notice
        if result.outcome is not None and result.outcome.sent:
            append(
                columns,
                delivery_id=notice.notice_id,
                sink=result.claim.sink,
                kind=str(notice.kind),
                alert_id=notice.alert_id,
                run_id=notice.run_id,
                pattern=notice.pattern,
                state="sent",
                attempts=result.claim.attempts,
                created_ns=notice.at_ns,
                due_ns=notice.at_ns,
                tried_ns=result.at_ns,
                sent_ns=result.at_ns,
                awaits_end=notice.kind is Kind.ALERT and notice.resolved_ns is None,
            )
    return columns


def note(connection: duckdb.DuckDBPyConnection, results: list[Result], sender: str) -> None:
    """Write down what became of claims.

    Args:
        connection: inside a write transaction.
        results: in the order in which they were tried.
        sender: who had claimed them.
    """
    for result in results:
        if result.outcome is None:
            _execute(connection, "note_released", delivery_id=result.claim.notice.notice_id, sender=sender)
        elif result.outcome.sent:
            _note_sent(connection, result)
    for result in results:
        if result.outcome is not None and not result.outcome.sent:
            _note_failed(connection, result, result.outcome, sender)


def _note_sent(connection: duckdb.DuckDBPyConnection, result: Result) -> None:
    notice = result.claim.notice
    # A message that said at once that it is over needs no second one.
    is_open = notice.resolved_ns is None
    _execute(connection, "note_sent", delivery_id=notice.notice_id, at_us=result.at_ns // 1_000, is_open=is_open)
    if notice.kind is Kind.SUMMARY:
        _execute(connection, "note_summed", summary_id=notice.notice_id)


def _note_failed(connection: duckdb.DuckDBPyConnection, result: Result, outcome: Outcome, sender: str) -> None:
    notice, error = result.claim.notice, encodable(outcome.error)
    now_us, due_us = result.at_ns // 1_000, (result.at_ns + result.pause_ns) // 1_000
    _execute(connection, "note_failed", delivery_id=notice.notice_id, due_us=due_us, error=error, sender=sender)
    if not outcome.answered:
        # It asked to be left alone, or is not there: its other messages wait with this one.
        counts = 0 if outcome.retry_after_seconds is not None else 1
        _execute(connection, "rest", sink=result.claim.sink, now_us=now_us, due_us=due_us, error=error, counts=counts)


def _execute(connection: duckdb.DuckDBPyConnection, name: str, **values: object) -> None:
    connection.execute(delivery_statement(name), values)
