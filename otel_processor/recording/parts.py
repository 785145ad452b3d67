"""A batch that DuckDB does not take as a whole goes in by ever smaller parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from otel_processor.recording.preparing import Batch
from otel_processor.recording.writer import Writer

_HOPELESS = 8
"""Spans that there is no memory for one by one, after which no more of their batch are tried."""


class BadRowError(Exception):
    """DuckDB refuses something in a batch."""


class TooMuchError(Exception):
    """DuckDB has too little memory for a batch at once."""


@dataclass(slots=True)
class Left:
    """What was not written of a batch."""

    too_large: Batch = field(default_factory=Batch)
    """There was too little memory for it, one by one."""
    unreached: Batch = field(default_factory=Batch)
    """The database could not be reached any more."""


def write_in_parts(batch: Batch, write: Callable[[Batch], bool], writer: Writer) -> Left:
    """Write a batch without the rows that DuckDB refuses, no more at once than it has memory for.

    Args:
        batch: spans, and alerts that go first.
        write: writes a part in a transaction of its own; False: the database cannot be reached. Raises `BadRowError`,
            `TooMuchError`.
        writer: counts what is dropped, and says why.
    """
    left = Left()
    waiting = [batch]
    while waiting and len(left.too_large) < _HOPELESS:
        part = waiting.pop()
        try:
            if write(part):
                continue
            for unreached in (part, *reversed(waiting)):
                left.unreached.extend(unreached)
            return left
        except BadRowError as error:
            if len(part) <= 1:
                writer.count(dropped=len(part))
                writer.refused(error)
                continue
        except TooMuchError as error:
            if len(part) <= 1:
                writer.failed(error)
                left.too_large.extend(part)
                continue
        middle = len(part) // 2
        positions = range(len(part))
        first, second = part.pick(positions[:middle]), part.pick(positions[middle:])
        first.alerts, first.sent = part.alerts, part.sent
        waiting += [second, first]
    for hopeless in reversed(waiting):
        left.too_large.extend(hopeless)
    return left
