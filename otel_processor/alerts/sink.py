"""What delivery knows of a sink."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

from otel_processor.alerts.notice import Notice


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one try to send a notice."""

    sent: bool
    error: str = ""
    """Why not, in one line and without secrets."""
    retry_after_seconds: float | None = None
    """How long the receiver asks to be left alone."""
    answered: bool = False
    """The receiver was reached and refused this message: another one may get through."""


class Sink(Protocol):
    """A place that notices are sent to. Used by one thread at a time."""

    @property
    def name(self) -> str:
        """Scheme, host where that is no secret, and a short hash: the same in every process, without anything secret."""

    def send(self, notice: Notice) -> Outcome:
        """Try once, within seconds; never raises for what is wrong outside."""


def send_through(sink: Sink, notice: Notice) -> Outcome:
    """Try once, whatever a sink of ours, or what it is built on, does wrong: that costs no other message anything."""
    try:
        return sink.send(notice)
    except Exception as error:  # noqa: BLE001 - what it says may hold the address, so only its kind is told
        return Outcome(False, f"a bug: {type(error).__name__}")


def sink_name(scheme: str, host: str | None, url: str) -> str:
    """Return the name of a sink: `https://hooks.example.com#1a2b3c4d`; without a host that may be told `slack#1a2b3c4d`."""
    short = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{scheme}://{host}#{short}" if host else f"{scheme}#{short}"
