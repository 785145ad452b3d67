"""What lies around a database and can be seen without opening it: its files, the room there is, what waits beside it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from otel_processor.store.spool import bad_ones, pending
from otel_processor.store.status import read_status

LITTLE_SPACE_BYTES = 1_000_000_000
NO_SPACE_BYTES = 50_000_000


class Room(StrEnum):
    """Whether a database can grow where it lies."""

    NO_FOLDER = "no_folder"
    NOT_WRITABLE = "not_writable"
    FULL = "full"
    LITTLE = "little"
    ENOUGH = "enough"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The files of a database, as they were found."""

    folder: Path
    exists: bool
    """Whether there is a database file."""
    room: Room
    free_bytes: int
    """0 where there is no folder."""
    size_bytes: int
    wal_bytes: int
    """What the last writer left to be taken over into the file."""
    spool_files: int
    """Batches that wait to be written."""
    spool_bytes: int
    spool_oldest_at: datetime | None
    spool_bad: int
    """Files there that make no sense and were put aside."""
    shut_out: tuple[dict[str, Any], ...]
    """What writers say that cannot reach the database, the latest last."""

    @property
    def total_bytes(self) -> int:
        """The database with what was left to be taken over."""
        return self.size_bytes + self.wal_bytes


def look_around(db: str | Path) -> Surroundings:
    """Look at the files of a database; whatever cannot be looked at counts as not there."""
    path = Path(db).absolute()
    batches = pending(path)
    room, free = _room(path)
    return Surroundings(
        folder=path.parent,
        exists=path.exists(),
        room=room,
        free_bytes=free,
        size_bytes=_bytes(path),
        wal_bytes=_bytes(path.with_name(path.name + ".wal")),
        spool_files=len(batches),
        spool_bytes=sum(_bytes(batch) for batch in batches),
        spool_oldest_at=_put_there_at(batches[0]) if batches else None,
        spool_bad=len(bad_ones(path)),
        shut_out=tuple(read_status(path)),
    )


def _room(path: Path) -> tuple[Room, int]:
    folder = path.parent
    if not folder.is_dir():
        return Room.NO_FOLDER, 0
    free = shutil.disk_usage(folder).free
    if not os.access(folder, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        return Room.NOT_WRITABLE, free
    if free < NO_SPACE_BYTES:
        return Room.FULL, free
    return (Room.LITTLE if free < LITTLE_SPACE_BYTES else Room.ENOUGH), free


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _put_there_at(batch: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(batch.stat().st_mtime, UTC)
    except OSError:
        # It was taken along in this moment.
        return None
