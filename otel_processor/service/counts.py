"""What became of requests, for `/healthz`, `/metrics` and for the last word of the service."""

from __future__ import annotations

import threading
from collections import Counter

_TAKEN = 200


class Counts:
    """Numbers since the service began. Thread-safe; whatever senders do, they have a bounded number of names."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: Counter[str] = Counter()
        self._answers: Counter[tuple[str, str, int]] = Counter()
        self._left_out: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self._alerts: Counter[tuple[str, str]] = Counter()

    def add(self, name: str, number: int = 1) -> None:
        """Count something."""
        if number:
            with self._lock:
                self._numbers[name] += number

    def answered(self, signal: str, transport: str, status: int = _TAKEN) -> None:
        """Count a request.

        Args:
            signal: `traces`, `logs` or `metrics`.
            transport: `http` or `grpc`.
            status: of the answer in the words of HTTP, whatever the transport.
        """
        with self._lock:
            self._answers[signal, transport, status] += 1

    def leave_out(self, reason: str, spans: int) -> None:
        """Count spans of requests that were taken without them."""
        if spans:
            with self._lock:
                self._left_out[reason] += spans

    def receive(self, transport: str, size: int) -> None:
        """Count the bytes of a body: as sent over HTTP, decompressed over gRPC."""
        with self._lock:
            self._bytes[transport] += size

    def alert(self, pattern: str, severity: str) -> None:
        """Count an alert that is new to the database, or became graver."""
        with self._lock:
            self._alerts[pattern, severity] += 1

    @property
    def answers(self) -> dict[tuple[str, str, int], int]:
        """Requests by signal, transport and status."""
        with self._lock:
            return dict(self._answers)

    @property
    def left_out(self) -> dict[str, int]:
        """Spans that were left out, by reason."""
        with self._lock:
            return dict(self._left_out)

    @property
    def received(self) -> dict[str, int]:
        """Bytes by transport."""
        with self._lock:
            return dict(self._bytes)

    @property
    def alerts(self) -> dict[tuple[str, str], int]:
        """Alerts by pattern and severity."""
        with self._lock:
            return dict(self._alerts)

    def number(self, name: str) -> int:
        """What was counted under a name."""
        with self._lock:
            return self._numbers[name]

    def all(self) -> dict[str, int]:
        """Requests and spans in short: all numbers that are not zero, over both transports."""
        with self._lock:
            found = Counter(self._numbers)
            for (signal, _, status), number in self._answers.items():
                found[f"{signal}_taken" if status == _TAKEN else f"{signal}_refused_{status}"] += number
            found["spans_rejected"] += sum(self._left_out.values())
        return {name: number for name, number in sorted(found.items()) if number}
