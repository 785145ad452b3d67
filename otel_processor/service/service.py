"""The service as a whole: what it is made of, how it begins and how it ends."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otel_processor.alerts.receivers import announce, over
from otel_processor.alerts.settings import AlertSettings
from otel_processor.alerts.sinks import open_sinks
from otel_processor.bug_reports import report_bug
from otel_processor.delivery.dispatcher import Dispatcher
from otel_processor.errors import StoreBusyError, StoreError, StoreFullError
from otel_processor.model import Mode
from otel_processor.privacy.settings import Privacy
from otel_processor.recording.recorder import Recorder
from otel_processor.retention import Retention
from otel_processor.service.call_bodies import CallBodies
from otel_processor.service.counts import Counts
from otel_processor.service.doors import Address, Doors
from otel_processor.service.group_writer import GroupWriter
from otel_processor.service.grpc_door import GrpcDoor
from otel_processor.service.grpc_health import GrpcHealth
from otel_processor.service.guard_api.door import GuardDoor
from otel_processor.service.guard_api.service_guard import Guard
from otel_processor.service.http_door import HttpDoor
from otel_processor.service.intake import Intake
from otel_processor.service.limits import Limits
from otel_processor.service.metrics import ServiceMetrics
from otel_processor.service.room import Room
from otel_processor.service.tls import Certificate, TlsFiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_processor.model import Alert, Pattern
    from otel_processor.policy import Policy

_log = logging.getLogger("otel_processor.service")

_DELIVERING_SECONDS = 5.0
"""So long the end waits for messages; what is left is sent by whoever looks next."""

_FOLDING_SECONDS = 5.0
"""So long it takes spooled batches along; what is left waits for whoever writes next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """What a service is told."""

    db: Path
    http: Address | None
    grpc: Address | None
    policy: Policy
    mode: Mode = Mode.OBSERVE
    """How far the guard goes with agents that ask it."""
    token: str | None = field(default=None, repr=False)
    tls: TlsFiles | None = None
    """For both doors; None: without TLS."""
    patience_seconds: float = 3.0
    """How long spans wait for whoever holds the file before they go to the spool."""
    alerts: AlertSettings = field(default_factory=AlertSettings)
    retention: Retention = field(default_factory=Retention)
    """Which old runs are removed meanwhile."""
    privacy: Privacy = field(default_factory=Privacy)
    """What of spans is stored."""
    limits: Limits = field(default_factory=Limits)


class Service:
    """Takes OTLP and acknowledges what is stored: committed to the database, or durable in its spool."""

    def __init__(self, settings: ServiceSettings) -> None:
        """Set everything up; nothing is opened before `start`.

        Raises:
            ConfigError: a sink of alerts, or a file for TLS, cannot be used.
        """
        self._settings = settings
        limits = settings.limits
        self._is_ending = False
        certificate = Certificate(settings.tls) if settings.tls is not None else None
        sinks = open_sinks(settings.alerts)
        self._recorder = Recorder(
            settings.db,
            settings.policy,
            plan=settings.alerts.plan(tuple(sink.name for sink in sinks)),
            on_due=self._poke,
            on_alerts=self._count_alerts,
            on_found=self._announce,
            on_over=self._over,
            sent_again=True,
            retention=settings.retention,
            privacy=settings.privacy,
        )
        self._dispatcher = Dispatcher(self._recorder, sinks, settings.alerts) if sinks else None
        self.counts = Counts()
        """What became of requests."""
        room = Room(limits)
        self._metrics = ServiceMetrics(
            self.counts,
            room,
            self._recorder,
            state=self._state,
            certificate_end=(lambda: certificate.expires_at) if certificate is not None else None,
        )
        self._writer = GroupWriter(
            self._recorder, limits, patience_seconds=settings.patience_seconds, on_commit=self._metrics.committed
        )
        self._intake = Intake(self._writer, limits, self.counts)
        door: dict[str, Any] = {
            "intake": self._intake, "room": room, "limits": limits, "counts": self.counts, "token": settings.token,
        }  # fmt: skip
        bodies = CallBodies(seats=limits.calls_being_read, seconds=limits.body_seconds, most_bytes=limits.body_bytes)
        self._guard = Guard(
            settings.policy, settings.mode, self._recorder, self._dispatcher, self._writer, self.counts,
            look_seconds=limits.guard_look_seconds,
        )  # fmt: skip
        self._guard_door = GuardDoor(self._guard.runs, limits, self.counts, settings.token)
        beside = self._guard_door.routes()
        http_door = HttpDoor(**door, state=self._state, metrics=self._metrics.text, beside=beside)
        grpc_door = GrpcDoor(**door, bodies=bodies, health=GrpcHealth(self._state))
        self._doors = Doors(
            (http_door.app(), settings.http) if settings.http is not None else None,
            (grpc_door, settings.grpc) if settings.grpc is not None else None,
            limits,
            certificate,
        )

    @property
    def addresses(self) -> dict[str, Address]:
        """Where it listens: `grpc`, `http`."""
        return self._doors.addresses

    @property
    def is_up(self) -> bool:
        """Whether requests are being answered."""
        return self._doors.are_open

    def start(self) -> None:
        """Look at the database, and open the doors.

        Raises:
            StoreError: the database cannot be used, and will not be later; one that somebody holds, or space, is waited for.
            ConfigError: nobody can listen there.
        """
        try:
            with self._recorder.database.write(timeout_seconds=self._settings.patience_seconds):
                pass
        except StoreBusyError as error:
            _log.warning("%s; spans wait in the spool beside it until it is free", error)
        except StoreFullError as error:
            # The guard answers, and senders are told to come back, until somebody has made room.
            _log.warning("%s; senders are told to come back until there is space", error)
        self._writer.start()
        self._doors.open()

    def stop(self) -> bool:
        """Accept nothing more, store and answer what was accepted, send what is due; return whether all of it was done."""
        self._is_ending = True
        self._doors.close()
        self._guard_door.close()
        self._guard.close()
        done = self._writer.close(self._settings.limits.drain_seconds)
        self._intake.close()
        try:
            if done:
                until = time.monotonic() + _FOLDING_SECONDS
                self._recorder.fold_spool(
                    timeout_seconds=self._settings.patience_seconds, goes_on=lambda: time.monotonic() < until
                )
            if self._dispatcher is not None:
                self._dispatcher.close(_DELIVERING_SECONDS)
            if done:
                self._recorder.close()
        except StoreError as error:
            _log.warning("%s", error)
        except Exception:  # noqa: BLE001 - what was acknowledged is stored; the rest is for whoever writes next
            _log.exception("the end of the service failed")
        return done

    def _poke(self) -> None:
        if self._dispatcher is not None:
            self._dispatcher.poke()

    def _count_alerts(self, alerts: Sequence[Alert]) -> None:
        for alert in alerts:
            self.counts.alert(str(alert.verdict.pattern), alert.verdict.severity)

    def _announce(self, alerts: Sequence[Alert]) -> None:
        try:
            for alert in alerts:
                announce(alert)
        except Exception:  # noqa: BLE001 - a handler of the host's; spans are committed, and are answered for
            report_bug("alerts")

    def _over(self, run_id: str, patterns: Sequence[Pattern]) -> None:
        try:
            over(run_id, patterns)
        except Exception:  # noqa: BLE001 - as above
            report_bug("alerts")

    def _state(self) -> dict[str, Any]:
        """What `/readyz` says."""
        if self._is_ending:
            return {"ready": False, "database": "the service is ending"}
        if not self._writer.could_store:
            return {"ready": False, "database": "neither the database nor its spool can be written"}
        if self._recorder.is_shut_out:
            return {"ready": True, "database": "held by another process: spans are kept in the spool beside it"}
        if self._recorder.trouble:
            return {
                "ready": True,
                "database": f"cannot be written: {self._recorder.trouble}; spans are kept in the spool beside it",
            }
        return {"ready": True, "database": "written"}
