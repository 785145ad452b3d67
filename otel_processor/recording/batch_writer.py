"""What one transaction writes of a batch: alerts, spans that are new, what they mean, and the messages about that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from otel_processor.alerts.plan import DeliveryPlan
from otel_processor.detection.bounded import RecentMap
from otel_processor.model import Alert
from otel_processor.recording import alert_statements, looking_up, ordering, writing
from otel_processor.recording.heard import untold
from otel_processor.recording.judge import Judge, Standing
from otel_processor.recording.preparing import Batch
from otel_processor.recording.writer import Writer

if TYPE_CHECKING:
    import duckdb

_TOLD = 10_000
"""Alerts told ahead of their spans that are remembered."""


class BatchWriter:
    """Writes batches inside the transactions of its recorder, which holds the lock."""

    def __init__(self, judge: Judge, writer: Writer, plan: DeliveryPlan, clock: Callable[[], int]) -> None:
        """Set it up.

        Args:
            judge: says what new spans mean.
            writer: counts.
            plan: who is to be told of alerts that are new to the database.
            clock: gives the time in nanoseconds since the epoch.
        """
        self._judge = judge
        self._writer = writer
        self._plan = plan
        self._clock = clock
        self._told: RecentMap[str, bool] = RecentMap(_TOLD)
        self.news: list[Alert] = []
        """Alerts of the last batch that are new to the database or became graver."""
        self.found: list[Alert] = []
        """Those of them that were found in spans here and told by nobody."""
        self.is_due = False
        """Whether a message waits to be sent."""

    def note_told(self, alerts: Sequence[Alert]) -> None:
        """Remember alerts that were told ahead of their spans; a guard's are stories of their own."""
        for alert in alerts:
            if not alert.by_guard:
                self._told.put(alert.alert_id, True)

    def note_closed(self, runs: int) -> None:
        """Runs were closed, and may have messages about that."""
        self.is_due = self.is_due or (runs > 0 and bool(self._plan.sinks))

    def write(self, connection: duckdb.DuckDBPyConnection, batch: Batch) -> None:
        """Write a batch; `news`, `found` and `is_due` are about it then.

        Raises:
            duckdb.Error: a row is refused, or the database cannot be written.
        """
        self.news, self.found = [], []
        if looking_up.last_commit(connection) != self._writer.last_commit:
            self._judge.others_wrote()
        ordering.note_sent_unclaimed(connection, batch.sent)
        news = alert_statements.write_alerts(connection, batch.alerts, told_before=self._told.__contains__)
        if len(batch):
            standing = self._judge.look(connection, batch)
            new = batch.without(standing.known)
            self._writer.count(written=len(new), duplicates=len(batch) - len(new))
            if len(new):
                writing.insert_spans(connection, new)
                found = self._decide(connection, new, standing)
                self.found = untold(found, new.reads)
                news += found
        self.news = news
        self._order(connection, news, batch.plans)

    def _order(self, connection: duckdb.DuckDBPyConnection, news: Sequence[Alert], plans: Mapping[str, DeliveryPlan]) -> None:
        """Order messages about what is new, and see whether any is due; what waited in the spool brought who is to be told."""
        now, sender, sinks = self._clock(), self._writer.writer_id, self._plan.sinks
        if news and (sinks or plans):
            ordering.order(
                connection,
                news,
                lambda alert: plans.get(alert.trace_id, self._plan),
                now_ns=now,
                sender=sender,
                own_sinks=sinks,
            )
        self.is_due = bool(sinks) and ordering.is_due(connection, sinks, now_ns=now, sender=sender)

    def _decide(self, connection: duckdb.DuckDBPyConnection, new: Batch, standing: Standing | None) -> list[Alert]:
        import duckdb

        try:
            return self._judge.decide(connection, new, standing)
        except duckdb.Error:
            raise
        except Exception:  # noqa: BLE001 - the spans matter more than what we make of them: they are judged later
            trace_ids = new.columns["trace_id"]
            self._judge.forget(set(trace_ids))
            known = sorted(set(trace_ids))
            if len(known) == 1:
                self._writer.bug("%d spans are stored, but could not be judged", len(new))
                return []
            # Whatever is wrong with a trace, those that came along with it are judged.
            first = set(known[: len(known) // 2])
            news: list[Alert] = []
            for is_first in (True, False):
                part = new.pick([at for at, one in enumerate(trace_ids) if (one in first) is is_first])
                news += self._decide(connection, part, None)
            return news
