"""What became of requests, for `/healthz` and for the last word of the service."""

from __future__ import annotations

import threading
from collections import Counter


class Counts:
    """Numbers since the service began, by name. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: Counter[str] = Counter()

    def add(self, name: str, number: int = 1) -> None:
        """Count something."""
        if number:
            with self._lock:
                self._numbers[name] += number

    def all(self) -> dict[str, int]:
        """All numbers that are not zero."""
        with self._lock:
            return dict(sorted(self._numbers.items()))
