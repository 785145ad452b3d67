"""A file that appears whole or not at all: made under another name beside its place, flushed to disk, then renamed."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from otel_processor.errors import StoreError, StoreUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

_ABANDONED_SECONDS = 24 * 3_600.0
"""What lies half made for longer than this, nobody makes any more."""


_BESIDE = (".wal", ".tmp", ".spool", ".compacting", ".compacting.wal", ".compacting.tmp")
"""Endings of what lies beside a database and is its own: whoever writes next takes it for that."""


def check_target(target: Path, *, of: Path, overwrite: bool, folder: bool = False) -> None:
    """Refuse a place that is taken, or that nothing can be put in.

    Args:
        target: where something is to be put.
        of: the database that it is made of.
        overwrite: whether what is there may go.
        folder: whether a folder is to be put there; else it is a file.

    Raises:
        StoreError: it is taken, it is a name of the database's own, or its folder is not there.
    """
    if (
        any(target == of.with_name(f"{of.name}{ending}") for ending in _BESIDE)
        or of.with_name(f"{of.name}.spool") in target.parents
    ):
        raise StoreError(f"{target} belongs to the database itself; give another place")
    if not target.parent.is_dir():
        raise StoreError(f"{target.parent} does not exist; create it: mkdir -p '{target.parent}'")
    if not os.path.lexists(target):
        return
    if not overwrite:
        raise StoreError(f"{target} exists already; give another place, or --force to put this in its place")
    if folder and (not target.is_dir() or target.is_symlink()):
        raise StoreError(f"{target} is no folder; give another place")
    if not folder and target.is_dir():
        raise StoreError(f"{target} is a folder; give the name of a file")


@contextmanager
def placed(target: Path) -> Iterator[Path]:
    """Give the name of a file, or folder, to make; put it in its place when the block ends, and away when it raises.

    Args:
        target: its place; what is there is replaced.

    Raises:
        StoreUnavailableError: it could not be written.
    """
    remove_abandoned(target)
    partial = target.with_name(f".{target.name}.{os.getpid()}-{time.time_ns()}.partial")
    try:
        with private():
            yield partial
        sync(partial)
        if partial.is_dir() and target.is_dir():
            old = partial.with_name(f"{partial.name}.old.partial")
            target.rename(old)
            partial.rename(target)
            remove(old)
        else:
            partial.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise StoreUnavailableError(f"{target} cannot be written: {error.strerror or error}; nothing was put there") from error
    finally:
        remove(partial)
        remove(partial.with_name(f"{partial.name}.wal"))


@contextmanager
def private() -> Iterator[None]:
    """Let nobody else read the files that this process makes in the block; for commands, which do one thing at a time."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def remove_abandoned(target: Path) -> None:
    """Remove what was left half made for this place by who died."""
    with contextlib.suppress(OSError):
        for path in target.parent.iterdir():
            is_ours = path.name.startswith(f".{target.name}.") and ".partial" in path.name
            if is_ours and time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                remove(path)


def remove(path: Path) -> None:
    """Remove a file, or a folder with what is in it, if it is there."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Have the disk keep a file, or a folder with its files; a file system that cannot is left alone."""
    if path.is_dir():
        for file in path.iterdir():
            _sync(file)
    _sync(path)


def sync_folder(folder: Path) -> None:
    """Have the disk keep the names in a folder."""
    _sync(folder)


def _sync(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
