"""A progress bar for work that takes longer than a moment."""

from __future__ import annotations

import sys
import time
from typing import Any

import click

MOMENT_SECONDS = 0.7


class Progress:
    """A bar on standard error, once the work takes longer than a moment and only for a terminal."""

    def __init__(self, name: str, size: int) -> None:
        self._name, self._size = name, max(size, 1)
        self._started = time.monotonic()
        self._bar: Any = None
        self._done = 0

    def show(self, consumed: int) -> None:
        """Say how much of it is done."""
        if self._bar is None:
            if not sys.stderr.isatty() or time.monotonic() - self._started < MOMENT_SECONDS:
                return
            self._bar = click.progressbar(length=self._size, label=self._name[-30:], file=sys.stderr)
            self._bar.__enter__()
        consumed = min(consumed, self._size)
        self._bar.update(consumed - self._done)
        self._done = consumed

    def end(self) -> None:
        """Leave the line."""
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
