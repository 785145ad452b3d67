"""Who is told at once in this process: log and metrics, and what `instrument()` registered.

A stand-alone guard knows no database; it hands its alerts to what was set up beside it.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable

from otel_processor.alerts.log import log_alert
from otel_processor.alerts.metrics import alert_metrics
from otel_processor.bug_reports import report_bug
from otel_processor.model import Alert

Receiver = Callable[[Alert], object]

_MOST = 64
"""Receivers; the oldest go first."""

_OPEN = 10_000
"""Alerts that are remembered as announced; the oldest go first."""

_receivers: list[Receiver] = []
_announced: OrderedDict[tuple[str, str], bool] = OrderedDict()
"""(run, pattern) of what is open → whether a stand-alone guard announced it."""
_lock = threading.Lock()


def register(receiver: Receiver) -> None:
    """Have alerts of stand-alone guards handed to a function; it must not block."""
    with _lock:
        _receivers.append(receiver)
        del _receivers[:-_MOST]


def unregister(receiver: Receiver) -> None:
    """Take a function out again; one that is not there is no error."""
    with _lock:
        _receivers[:] = [known for known in _receivers if known != receiver]


def announce(alert: Alert, *, cleaned: Callable[[Alert], Alert] | None = None) -> None:
    """Tell the immediate sinks, log and metrics; what the spans and a guard beside them both see is told once.

    Args:
        alert: as it was seen.
        cleaned: makes of it what may be told; all of it may when left out.
    """
    key = (alert.run_id, str(alert.verdict.pattern))
    with _lock:
        by_guard = _announced.setdefault(key, alert.by_guard)
        if len(_announced) > _OPEN:
            _announced.popitem(last=False)
    if by_guard is alert.by_guard:
        log_alert(alert if cleaned is None else cleaned(alert))
        alert_metrics().told(alert)


def over(run_id: str, patterns: Iterable[str]) -> None:
    """Say that alerts of a run are over, as far as this process told them."""
    keys = [(run_id, str(pattern)) for pattern in patterns]
    if keys:
        with _lock:
            for key in keys:
                _announced.pop(key, None)
        alert_metrics().over(run_id, [pattern for _, pattern in keys])


def hand_over(alert: Alert, *, cleaned: Callable[[Alert], Alert] | None = None) -> None:
    """Tell everybody of an alert of a stand-alone guard; without anybody registered it is not heard.

    One that is over (`resolved_ns`) is no news for the log; receivers store it.

    Args:
        alert: as it was seen, and as receivers get it.
        cleaned: makes of it what may be logged; all of it may when left out.
    """
    with _lock:
        receivers = tuple(_receivers)
    if not receivers:
        return
    try:
        if alert.resolved_ns is None:
            announce(alert, cleaned=cleaned)
        else:
            over(alert.run_id, (alert.verdict.pattern,))
    except Exception:  # noqa: BLE001 - our own bug stays here
        report_bug("alerts")
    call_each(receivers, alert)


def call_each(receivers: Iterable[Receiver], alert: Alert) -> None:
    """Call the functions; what one of them raises keeps the others from nothing."""
    for receiver in receivers:
        try:
            receiver(alert)
        except Exception:  # noqa: BLE001 - a bug of the callback's
            report_bug("on_alert")


def _begin_in_child() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_begin_in_child)
