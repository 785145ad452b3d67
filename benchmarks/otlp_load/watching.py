"""What a process and those that it started take of the machine, sampled from `/proc` while they work."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MIB = 1 << 20


class Watch:
    """Samples a process until it is told to end; a context."""

    def __init__(self, pid: int, *, every_seconds: float = 0.5) -> None:
        self.memory: list[tuple[float, float]] = []
        """(seconds since the watch began, MiB resident)."""
        self._pid = pid
        self._every = every_seconds
        self._begun = time.monotonic()
        self._cpu_at_first = cpu_seconds(pid)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    @property
    def cpu_seconds(self) -> float:
        """CPU time that was used since the watch began."""
        return cpu_seconds(self._pid) - self._cpu_at_first

    @property
    def most_mib(self) -> float:
        """The most that was resident."""
        return max((mib for _, mib in self.memory), default=0.0)

    def mib_per_minute(self, since: float = 0.5) -> float:
        """How fast the resident memory grew, by least squares, after this share of the time."""
        late = [sample for sample in self.memory if sample[0] >= since * self.memory[-1][0]] if self.memory else []
        if len(late) < 2:
            return 0.0
        mean_t = sum(t for t, _ in late) / len(late)
        mean_m = sum(m for _, m in late) / len(late)
        spread = sum((t - mean_t) ** 2 for t, _ in late)
        return 60 * sum((t - mean_t) * (m - mean_m) for t, m in late) / spread if spread else 0.0

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join(5)

    def _work(self) -> None:
        while True:
            self.memory.append((time.monotonic() - self._begun, resident_mib(self._pid)))
            if self._ending.wait(self._every):
                return


def family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for one in found:
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += map(int, children.read_text().split())
            except OSError:
                continue
    return found


def resident_mib(pid: int) -> float:
    """Resident memory of a process and those below it; what they share counts for each."""
    return sum(_pages(one) for one in family(pid)) * _PAGE / _MIB


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and those below it, also of those that ended."""
    return sum(_ticks(one) for one in family(pid)) / _TICKS


def _pages(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0


def _ticks(pid: int) -> int:
    try:
        # The name may hold spaces and brackets; utime, stime, and those of children that ended follow it.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15]))
