"""The guard of the service: runs of agents elsewhere, and where it goes what is found in them."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from otel_processor.alerts.receivers import announce, over
from otel_processor.bug_reports import report_bug
from otel_processor.privacy.alerts import cleaned
from otel_processor.recording.alert_writer import AlertWriter
from otel_processor.service.guard_api.hosted_guard import HostedGuard
from otel_processor.service.guard_api.runs import GuardedRuns
from otel_processor.service.guard_api.verdict_span import verdict_span
from otel_processor.service.refused import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_processor.delivery.dispatcher import Dispatcher
    from otel_processor.model import Alert, Mode
    from otel_processor.policy import Policy
    from otel_processor.recording.recorder import Recorder
    from otel_processor.service.counts import Counts
    from otel_processor.service.group_writer import GroupWriter

_WAITING = 1_000
"""Ends of runs that may wait to be stored; what comes beyond is counted as lost."""

_STORING_SECONDS = 3.0
_CLOSING_SECONDS = 5.0


class Guard:
    """Stores alerts at once, and how each run ended as a span; neither keeps an agent waiting for its answer."""

    def __init__(
        self,
        policy: Policy,
        mode: Mode,
        recorder: Recorder,
        dispatcher: Dispatcher | None,
        writer: GroupWriter,
        counts: Counts,
        *,
        look_seconds: float,
    ) -> None:
        self.runs = GuardedRuns(policy, mode, tell=self._tell, ended=self._ended, look_seconds=look_seconds)
        """The runs under guard."""
        self._recorder = recorder
        self._dispatcher = dispatcher
        self._writer = writer
        self._counts = counts
        self._alerts = AlertWriter(self._store)
        self._lock = threading.Lock()
        self._waiting = 0

    def close(self) -> None:
        """Store the alerts that wait; ends of runs wait with the writer."""
        self._alerts.close(_CLOSING_SECONDS)

    def _tell(self, alert: Alert) -> None:
        try:
            # The log is read by others than the agent's people.
            alert = cleaned(alert, self._recorder.privacy)
        except Exception:  # noqa: BLE001 - what cannot be cleaned is told to nobody
            report_bug("alerts")
            self._counts.add("guard_alerts_lost")
            return
        try:
            if alert.resolved_ns is None:
                self._counts.add("guard_alerts")
                announce(alert)
                if self._dispatcher is not None:
                    self._dispatcher.saw(alert)
            else:
                over(alert.run_id, (alert.verdict.pattern,))
        except Exception:  # noqa: BLE001 - the row matters more
            report_bug("alerts")
        self._alerts.put(alert)

    def _store(self, alerts: Sequence[Alert]) -> None:
        try:
            if not self._recorder.tell(alerts, timeout_seconds=_STORING_SECONDS):
                self._counts.add("guard_alerts_lost", len(alerts))
        except Exception:  # noqa: BLE001 - our own bug costs these alerts and nothing else
            report_bug("service")

    def _ended(self, guard: HostedGuard) -> None:
        span = verdict_span(guard)
        if span is None:
            return
        with self._lock:
            if self._waiting >= _WAITING:
                self._counts.add("guard_ends_lost")
                return
            self._waiting += 1
        try:
            self._writer.submit(self._writer.prepared([span])).add_done_callback(self._stored)
        except Refused:
            self._done(lost=True)

    def _stored(self, answer: Future[int]) -> None:
        self._done(lost=answer.exception() is not None)

    def _done(self, *, lost: bool) -> None:
        with self._lock:
            self._waiting -= 1
        self._counts.add("guard_ends_lost", int(lost))
