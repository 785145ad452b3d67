"""The spool: batches that could not get into the database wait beside it, on disk, until somebody gets in.

A batch is one file in `DATABASE.spool/`, written under another name, flushed to disk and then renamed, so that a reader
finds it whole or not at all. Whoever next writes to the database takes the batches along and removes them once the
transaction is committed; dying between the two does no harm, since spans delivered twice count once.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import time
from pathlib import Path
from typing import Any

import orjson

from otel_processor.store.columns import dump

_log = logging.getLogger(__name__)

MAX_BYTES = 1 << 30
"""The spool grows no larger than this; what comes then is dropped and counted."""

_ABANDONED_SECONDS = 600.0

_SUFFIX = ".batch.json"
_TRIES = 100
"""Times that the folder may be removed from under a batch that is being written."""

_number = itertools.count()


def folder_of(db: str | Path) -> Path:
    """Return where batches for this database wait."""
    path = Path(db).absolute().resolve()
    return path.with_name(path.name + ".spool")


def pending(db: str | Path) -> list[Path]:
    """Return the batches that wait, oldest first."""
    try:
        return sorted(path for path in folder_of(db).iterdir() if path.name.endswith(_SUFFIX))
    except OSError:
        return []


def bad_ones(db: str | Path) -> list[Path]:
    """Return what was put aside since it makes no sense."""
    try:
        return sorted(path for path in folder_of(db).iterdir() if path.name.endswith(f"{_SUFFIX}.bad"))
    except OSError:
        return []


def extent(db: str | Path) -> tuple[int, int]:
    """Return how many batches wait, and their bytes."""
    paths = pending(db)
    return len(paths), sum(map(size_of, paths))


def save(db: str | Path, batch: dict[str, Any]) -> Path:
    """Put a batch (named column sets) on disk and return its file once it is durable.

    Raises:
        OSError: it cannot be written, or the spool is full.
    """
    folder = folder_of(db)
    content = ("{" + ",".join(f'"{name}":{dump(columns)}' for name, columns in batch.items()) + "}").encode()
    _, used = extent(db)
    if used + len(content) > MAX_BYTES:
        raise OSError(f"the spool {folder} holds {used >> 20} MiB already")
    for _ in range(_TRIES):
        try:
            return _write_durably(folder, content)
        except (FileNotFoundError, FileExistsError):
            # Somebody took the last batch along and removed the empty folder just now.
            continue
    raise OSError(f"the spool {folder} is removed again and again")


def _write_durably(folder: Path, content: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    # Names sort by time; the process id and a counter keep them apart.
    final = folder / f"{time.time_ns():020d}-{os.getpid()}-{next(_number)}{_SUFFIX}"
    partial = final.with_suffix(".partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(final)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    _sync_folder(folder)
    return final


def size_of(path: Path) -> int:
    """Return the bytes of a batch; 0 where it is gone."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def load(path: Path) -> dict[str, Any] | None:
    """Return a waiting batch, or None when it is gone; what is no batch is put aside under `.bad`.

    Raises:
        MemoryError: there is too little memory for it now.
        OSError: it cannot be read now.
    """
    try:
        batch = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        # Nothing is wrong with what there was no memory for.
        if "memory" in str(error):
            raise MemoryError(str(error)) from error
        batch = None
    if isinstance(batch, dict):
        return batch
    put_aside(path)
    return None


def put_aside(path: Path) -> None:
    """Keep a batch that makes no sense under `.bad`, out of the way of the others."""
    with contextlib.suppress(OSError):
        path.rename(path.with_name(path.name + ".bad"))
        _log.warning("the spooled batch %s cannot be read; it is kept as %s.bad", path, path.name)


def remove(paths: list[Path]) -> None:
    """Remove batches that are in the database now, and the folder when nothing else waits."""
    for path in paths:
        path.unlink(missing_ok=True)
    if paths:
        with contextlib.suppress(OSError):
            _remove_abandoned(paths[0].parent)
            paths[0].parent.rmdir()


def _remove_abandoned(folder: Path) -> None:
    """Remove what writers left half written when they died; nobody was told that it is kept."""
    for path in folder.glob("*.partial"):
        if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
            path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)
