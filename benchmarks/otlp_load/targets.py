"""What takes the load: our service, as a process of its own with a database of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.otlp_load.senders import Place
from otel_processor.store.opening import open_read_only
from otel_processor.version import package_version
from tests.integration.service.serving import serving

_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Target:
    """Something that takes OTLP over HTTP and is up."""

    name: str
    version: str
    place: Place
    pid: int
    stored: Callable[[], int]
    """Asks its database how many spans it has; a query from another process."""
    db: Path

    def stored_at_last(self, wanted: int, *, seconds: float, every: float = 0.2) -> tuple[int, float]:
        """Wait until it has so many spans, or until the time is over; return how many, and when that was seen (monotonic)."""
        deadline = time.monotonic() + seconds
        while True:
            found, now = self.stored(), time.monotonic()
            if found >= wanted or now > deadline:
                return found, now
            time.sleep(every)


@contextmanager
def ours(db: Path) -> Iterator[Target]:
    """`otel-processor serve`, as anybody starts it."""
    with serving(db) as service:
        assert service.process is not None

        def stored() -> int:
            with open_read_only(db, timeout_seconds=_PATIENCE_SECONDS) as connection:
                ((count,),) = connection.execute("select count(*) from spans").fetchall()
            return int(count)

        yield Target("otel-processor", package_version(), Place(service.http_port), service.process.pid, stored, db)
