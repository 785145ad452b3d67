"""A copy of a database as it was at one moment, with what waits in its spool, made while others write."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from otel_processor.errors import StoreError, StoreUnavailableError
from otel_processor.store import spool
from otel_processor.store.database import identity
from otel_processor.store.opening import open_read_only, quoted, resolved
from otel_processor.store.placing import check_target, placed, remove, sync
from otel_processor.store.upgrading import is_older, why_unlike

_TRIES = 10


@dataclass(frozen=True, slots=True)
class BackedUp:
    """What was copied."""

    file_bytes: int
    spans: int
    spooled: int
    """Batches of the spool that were taken along."""


def backup(db: str | Path, target: Path, *, overwrite: bool, timeout_seconds: float) -> BackedUp:
    """Copy a database, and its spool beside the copy; whoever opens the copy sees one moment, and whole transactions.

    The bytes are copied while a reader's lock keeps the writers of other processes out: they wait, or spool, for as long as that
    takes. This process must not write to the database itself meanwhile.

    Args:
        db: the database file.
        target: the copy; its spool becomes `TARGET.spool`.
        overwrite: whether a file that is there may go.
        timeout_seconds: how long to wait for whoever writes.

    Raises:
        StoreError: there is no such database, it is none of ours, or the target is taken or cannot be written.
        StoreBusyError: a writer held it for longer than that.
    """
    path = resolved(db)
    target = resolved(target)
    if target == path or (identity(target) is not None and identity(target) == identity(path)):
        raise StoreError(f"{target} is the database itself; give another place")
    check_target(target, of=path, overwrite=overwrite)
    _check_is_database(target)
    with placed(target) as partial:
        waiting = partial.with_name(f"{partial.name}.spool")
        try:
            # Before the file: a batch that is taken into it meanwhile is in both then, and spans count once.
            spooled = _copy_spool(path, waiting)
            _copy(path, partial, timeout_seconds)
            spans = _check(partial)
            partial.chmod(path.stat().st_mode & 0o7777)
            _put_spool(waiting, spool.folder_of(target))
            # What belonged to the file that goes says nothing about this one.
            target.with_name(f"{target.name}.wal").unlink(missing_ok=True)
        finally:
            remove(waiting)
    return BackedUp(target.stat().st_size, spans, spooled)


def _copy(path: Path, partial: Path, timeout_seconds: float) -> None:
    for _ in range(_TRIES):
        before = identity(path)
        with open_read_only(path, timeout_seconds=timeout_seconds) as connection:
            if (unlike := why_unlike(connection)) is not None and not is_older(connection):
                raise StoreError(f"{path}: {unlike}")
            if identity(path) != before:
                # It was replaced while it was being opened: the lock is on the old one.
                continue
            log = path.with_name(f"{path.name}.wal")
            # To close a file of ours ends the lock that DuckDB has on it: the log first, the database last.
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(log, partial.with_name(f"{partial.name}.wal"))
            shutil.copyfile(path, partial)
            return
    raise StoreError(f"{path} is being replaced again and again; try again")


def _check(partial: Path) -> int:
    """Take the write-ahead log into the copy, see that it is whole, and return how many spans are in it."""
    import duckdb

    try:
        with duckdb.connect(":memory:") as engine:
            engine.execute(f"attach '{quoted(partial)}' as copied")
            engine.execute("checkpoint copied")
            engine.execute("use copied")
            return int(engine.execute("select count(*) from spans").fetchall()[0][0])
    except duckdb.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise StoreUnavailableError(f"the copy cannot be read: {reason}; nothing was put there") from error


def _check_is_database(target: Path) -> None:
    """Refuse to put a database in the place of something else, whatever the user says."""
    if target.exists():
        with target.open("rb") as file:
            if file.read(12)[8:] != b"DUCK":
                raise StoreError(f"{target} is no DuckDB database; give another place, or remove it yourself")


def _copy_spool(path: Path, waiting: Path) -> int:
    batches = spool.pending(path)
    for batch in batches:
        waiting.mkdir(exist_ok=True)
        # Somebody may take it along in this moment; then it is in the file.
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(batch, waiting / batch.name)
    return len(batches)


def _put_spool(waiting: Path, place: Path) -> None:
    """Put the batches beside the copy; those of an earlier copy go, since what they hold is no part of this one."""
    remove(place)
    if waiting.exists():
        sync(waiting)
        waiting.rename(place)
