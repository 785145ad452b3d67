"""One process as delivery sees it: a recorder, its dispatcher, and a clock that the test moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from otel_processor.alerts.settings import AlertSettings
from otel_processor.alerts.sinks import open_sinks
from otel_processor.delivery.dispatcher import Dispatcher
from otel_processor.model import Action, Alert, Pattern, StopReason, Verdict
from otel_processor.recording.recorder import Recorder
from otel_processor.runs.tracker import alert_id
from tests.integration.records import SECOND, START
from tests.integration.stored import rows

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(slots=True)
class Clock:
    """Nanoseconds since the epoch, as the test says."""

    now_ns: int = START

    def __call__(self) -> int:
        return self.now_ns

    def forward(self, seconds: float) -> None:
        """Let time go by."""
        self.now_ns += int(seconds * SECOND)


@dataclass(slots=True)
class Sender:
    """A process with sinks."""

    db: Path
    settings: AlertSettings
    clock: Clock
    recorder: Recorder = field(init=False)
    dispatcher: Dispatcher = field(init=False)

    def __post_init__(self) -> None:
        sinks = open_sinks(self.settings)
        plan = self.settings.plan(tuple(sink.name for sink in sinks))
        self.recorder = Recorder(self.db, plan=plan, clock=self.clock)
        self.dispatcher = Dispatcher(self.recorder, sinks, self.settings, clock=self.clock)

    def tell(self, *alerts: Alert) -> None:
        """Store alerts."""
        assert self.recorder.tell(alerts, timeout_seconds=5)

    def look(self) -> float | None:
        """Do all that can be done now; return when to look again."""
        while (wait := self.dispatcher.look_once()) == 0.0:
            pass
        return wait


def sender(db: Path, clock: Clock, url: str, **more: Any) -> Sender:
    """A process that has a webhook."""
    return Sender(db, AlertSettings(webhook=url, **more), clock)


def alert(
    run: str = "run-1",
    pattern: Pattern = Pattern.HARD_LOOP,
    *,
    number: int = 1,
    at: int = START,
    severity: str = "critical",
    action: Action = Action.STOP,
    task: str | None = "find-invoice",
    message: str = "search was called 3 times with the same arguments",
) -> Alert:
    """An alert as the live path tells it."""
    span = f"{number:016x}"
    return Alert(
        alert_id=alert_id(run, pattern, span),
        run_id=run,
        trace_id=run,
        span_id=span,
        at_ns=at,
        task=task,
        agent=None,
        tool="search",
        verdict=Verdict(
            pattern=pattern,
            action=action,
            stop_reason=StopReason.REPEATED_SIGNATURE if action is Action.STOP else None,
            severity=severity,
            message=message,
            evidence={},
        ),
    )


def end_alerts(db: Path, at_ns: int, run: str | None = None) -> None:
    """Let alerts be over, as any process may write it."""
    with Recorder(db).database.write(timeout_seconds=5) as connection:
        connection.execute(
            "update alerts set resolved_at = make_timestamptz($at) where resolved_at is null and ($run is null or run_id = $run)",
            {"at": at_ns // 1_000, "run": run},
        )


def states(db: Path) -> list[tuple[Any, ...]]:
    """Kind, run, pattern, state and attempts of all messages, in order of their making."""
    return rows(db, "select kind, run_id, pattern, state, attempts from deliveries order by created_at, kind, run_id, pattern")
