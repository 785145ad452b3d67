"""What waits in the spool, as one recorder takes it along; batches that there is no memory for do not hold up the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from otel_processor.alerts.plan import DeliveryPlan
from otel_processor.policy import Policy
from otel_processor.recording.parts import Left
from otel_processor.recording.preparing import Batch
from otel_processor.recording.spooling import load_spooled, spooled_columns
from otel_processor.store import spool

TAKEN_AT_ONCE = 32
"""Spooled batches that one transaction takes along, at the most."""

TAKEN_BYTES = 8 << 20
"""Their bytes together, unless one alone has more: read, they take several times as much."""

_LOOKS = 256
"""Looks at the spool after which what there was too little memory for is tried again."""


class Backlog:
    """The spooled batches of a database. Its recorder holds the lock."""

    def __init__(self, db: Path, policy: Policy) -> None:
        """Set it up.

        Args:
            db: the database file.
            policy: what spooled spans will be judged by.
        """
        self._db = db
        self._policy = policy
        self._too_large: set[Path] = set()
        self._looks = 0

    def waiting(self) -> list[Path]:
        """Return the batches that are to be taken along, oldest first."""
        if self._too_large:
            self._looks += 1
            if self._looks == _LOOKS:
                self._too_large, self._looks = set(), 0
        return [path for path in spool.pending(self._db) if path not in self._too_large]

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits, now or for more memory."""
        return not spool.pending(self._db)

    def before(self, batch: Batch) -> tuple[Batch, list[Path]]:
        """Return a batch together with what waits, which goes before it, and the files of that."""
        together, taken = Batch(), list[Path]()
        size = 0
        for path in self.waiting()[:TAKEN_AT_ONCE]:
            more = spool.size_of(path)
            if taken and size + more > TAKEN_BYTES:
                break
            spooled = self._load(path)
            if spooled is not None:
                together.extend(spooled)
                taken.append(path)
                size += more
        if not taken:
            return batch, []
        together.extend(batch)
        return together, taken

    def add(self, batch: Batch, plan: DeliveryPlan | None, *, is_too_large: bool = False) -> None:
        """Put a batch into the spool.

        Args:
            batch: what could not be written.
            plan: who is to be told of its alerts; None: that is up to the one who writes them.
            is_too_large: there is too little memory for it at the moment.

        Raises:
            OSError: it cannot be written, or the spool is full.
        """
        path = spool.save(self._db, spooled_columns(batch, plan))
        if is_too_large:
            self._too_large.add(path)

    def sift(self, write: Callable[[Batch], Left]) -> bool:
        """Write what waits one by one; return whether all was written.

        Args:
            write: writes a batch in parts.
        """
        is_written = True
        for path in self.waiting():
            spooled = self._load(path)
            if spooled is None:
                is_written = is_written and path not in self._too_large
                continue
            left = write(spooled)
            if not left.unreached.is_empty:
                return False
            if not left.too_large.is_empty:
                is_written = False
                if len(left.too_large) == len(spooled):
                    self._too_large.add(path)
                    continue
                try:
                    self.add(left.too_large, next(iter(left.too_large.plans.values()), None), is_too_large=True)
                except OSError:
                    continue
            spool.remove([path])
        return is_written

    def _load(self, path: Path) -> Batch | None:
        """Return a batch; None where it is gone, makes no sense, or cannot be read now, which is tried again later."""
        try:
            return load_spooled(path, self._policy)
        except (MemoryError, OSError):
            self._too_large.add(path)
            return None
