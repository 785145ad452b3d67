"""What writers say of themselves when they cannot reach the database: a small file in the temp directory each.

A database that cannot be written cannot hold the news that it cannot be written; `doctor` reads these instead.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import orjson


def write_status(db: str | Path, writer_id: str, values: dict[str, Any]) -> None:
    """Say what is wrong; a place that cannot be written to either is nobody's fault."""
    with contextlib.suppress(OSError, TypeError, ValueError):
        folder = _folder(db)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = folder / f"{writer_id}.partial"
        plain = {name: _plain(value) for name, value in values.items()}
        partial.write_bytes(orjson.dumps({"writer_id": writer_id, "pid": os.getpid(), **plain}))
        partial.rename(folder / f"{writer_id}.json")


def clear_status(db: str | Path, writer_id: str) -> None:
    """Take back what was said: the database can be reached again."""
    with contextlib.suppress(OSError):
        (_folder(db) / f"{writer_id}.json").unlink(missing_ok=True)


def read_status(db: str | Path) -> list[dict[str, Any]]:
    """Return what writers say of this database, latest last."""
    found: list[dict[str, Any]] = []
    try:
        paths = sorted(_folder(db).glob("*.json"), key=lambda path: path.stat().st_mtime)
    except OSError:
        return found
    for path in paths:
        with contextlib.suppress(OSError, ValueError):
            values = orjson.loads(path.read_bytes())
            if isinstance(values, dict):
                found.append(values)
    return found


def _plain(value: Any) -> Any:
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _folder(db: str | Path) -> Path:
    name = hashlib.sha256(str(Path(db).absolute().resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    owner = os.getuid() if hasattr(os, "getuid") else 0
    return Path(tempfile.gettempdir()) / f"otel-processor-{owner}" / name
