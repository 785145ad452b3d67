"""A sealed copy of a database: a DuckDB file that nobody writes to, or a folder of Parquet files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from otel_processor.errors import StoreBusyError, StoreError, StoreUnavailableError
from otel_processor.sharing.stripping import prepare, rows_of
from otel_processor.store.compacting import limit_memory
from otel_processor.store.creating import create_schema
from otel_processor.store.database import STORAGE_VERSION, identity
from otel_processor.store.opening import READERS_PAUSE_SECONDS, missing, quoted, resolved, retry_while_busy, translate
from otel_processor.store.placing import check_target, placed, remove
from otel_processor.store.scripts import creation_order, sharing_statement
from otel_processor.store.sealing import is_sealed
from otel_processor.store.upgrading import why_unlike
from otel_processor.version import package_version

if TYPE_CHECKING:
    import duckdb

    from otel_processor.sharing.choice import Choice

MANIFEST = "export.json"
"""The file of a folder that says what the others hold, and by which we know a folder of ours."""

RELATIONS = ("spans", "trace_runs", "alerts", "policies")
"""What is written to Parquet beside all views."""

_READ_ONLY = 0o444


class Format(StrEnum):
    """What a copy is made as."""

    DUCKDB = "duckdb"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class Exported:
    """What a copy holds."""

    runs: int
    calls: int
    spans: int
    size_bytes: int


def export(
    db: str | Path,
    target: Path,
    *,
    kind: Format,
    choice: Choice,
    without_content: bool,
    overwrite: bool,
    timeout_seconds: float,
) -> Exported:
    """Make a sealed copy of a database, without what waits in its spool. Writers of other processes wait, or spool, meanwhile.

    Args:
        db: the database file.
        target: the file, or for Parquet the folder, to make.
        kind: which of the two.
        choice: which runs it holds.
        without_content: whether texts are replaced by their lengths and hashes: arguments, results, messages, whatever is not
            known to be harmless.
        overwrite: whether an earlier export that is there may go; nothing else does.
        timeout_seconds: how long to wait for whoever writes.

    Raises:
        StoreError: there is no such database, it is none of ours, no run is chosen, or the target is taken or cannot be written.
        StoreBusyError: a writer held it for longer than that.
    """
    path = resolved(db)
    target = resolved(target)
    if target == path or (identity(target) is not None and identity(target) == identity(path)):
        raise StoreError(f"{target} is the database itself; give another place")
    if not path.exists():
        raise missing(path)
    check_target(target, of=path, overwrite=overwrite, folder=kind is Format.PARQUET)
    _check_is_export(target)
    with placed(target) as partial:
        file = partial if kind is Format.DUCKDB else partial / ".making.duckdb"
        if kind is Format.PARQUET:
            partial.mkdir()
        found = _make(path, file, choice, without_content=without_content, timeout_seconds=timeout_seconds)
        if kind is Format.PARQUET:
            _write_parquet(file, partial)
            remove(file)
            (partial / MANIFEST).write_text(json.dumps(_manifest(choice, without_content, found), indent=2), encoding="utf-8")
        for one in partial.iterdir() if partial.is_dir() else (partial,):
            one.chmod(_READ_ONLY)
        if partial.is_dir():
            partial.chmod(0o755)
    size = sum(one.stat().st_size for one in target.iterdir()) if target.is_dir() else target.stat().st_size
    return Exported(found["runs"], found["calls"], found["spans"], size)


def _check_is_export(target: Path) -> None:
    """Refuse to put an export in the place of anything but another one, whatever the user says."""
    import duckdb

    if not target.exists():
        return
    if target.is_dir():
        names = {one.name for one in target.iterdir()}
        if names and (MANIFEST not in names or any(name != MANIFEST and not name.endswith(".parquet") for name in names)):
            raise StoreError(f"{target} holds files that are no export; give another place, or remove it yourself")
        return
    try:
        with duckdb.connect(str(target), read_only=True) as connection:
            is_export = is_sealed(connection)
    except duckdb.Error:
        is_export = False
    if not is_export:
        raise StoreError(f"{target} is no export; give another place, or remove it yourself")


def _make(path: Path, file: Path, choice: Choice, *, without_content: bool, timeout_seconds: float) -> dict[str, int]:
    """Make the DuckDB file, and return how many runs, calls and spans are in it."""
    import duckdb

    spill: Path | None = None
    with duckdb.connect(":memory:", config={"threads": 2, "autoinstall_known_extensions": "false"}) as engine:
        try:
            spill = limit_memory(engine, file)

            def attach() -> None:
                try:
                    engine.execute(f"attach '{quoted(path)}' as source (read_only)")
                except duckdb.Error as error:
                    raise translate(error, path) from error

            retry_while_busy(attach, timeout_seconds=timeout_seconds, longest_pause_seconds=READERS_PAUSE_SECONDS)
            engine.execute("use source")
            if (unlike := why_unlike(engine)) is not None:
                raise StoreError(f"{path}: {unlike}")
            _choose(engine, choice)
            prepare(engine)
            engine.execute(f"attach '{quoted(file)}' as store (type duckdb, storage_version '{STORAGE_VERSION}')")
            engine.execute("use store")
            engine.execute("begin")
            create_schema(engine)
            for table in creation_order("schema"):
                if (rows := rows_of(table, without_content=without_content)) is not None:
                    engine.execute(f"insert into store.{table} by name {rows}")
            engine.execute(
                sharing_statement("seal"),
                {"made_by": f"otel-processor {package_version()}", "without_content": without_content, "what": str(choice)},
            )
            engine.execute("commit")
            engine.execute("checkpoint store")
            counts = "select (select count(*) from run_rows), (select count(*) from call_rows), (select count(*) from spans)"
            found = engine.execute(counts).fetchall()[0]
        except duckdb.Error as error:
            translated = translate(error, path)
            if isinstance(translated, StoreBusyError):
                raise translated from error
            raise StoreUnavailableError(f"the export failed: {str(error).strip().splitlines()[0]}") from error
        finally:
            if spill is not None:
                remove(spill)
    return dict(zip(("runs", "calls", "spans"), found, strict=True))


def _choose(engine: duckdb.DuckDBPyConnection, choice: Choice) -> None:
    """Say which rows are wanted."""
    for name, kind, value in (
        ("everything", "BOOLEAN", choice.is_everything),
        ("since_us", "BIGINT", choice.since_us),
        ("tasks", "VARCHAR[]", list(choice.tasks)),
        ("run_ids", "VARCHAR[]", list(choice.run_ids)),
    ):
        engine.execute(f"set variable {name} = $value::{kind}", {"value": value})
    engine.execute(sharing_statement("chosen_runs"))
    engine.execute(sharing_statement("chosen_traces"))
    if not choice.is_everything and not engine.execute("select count(*) from chosen_runs").fetchall()[0][0]:
        raise StoreError(f"there are no {choice}; the page Runs, or `otel-processor sql`, shows which there are")


def _write_parquet(file: Path, folder: Path) -> None:
    import duckdb

    spill: Path | None = None
    try:
        with duckdb.connect(str(file), read_only=True, config={"threads": 2}) as connection:
            spill = limit_memory(connection, file)
            for relation in (*RELATIONS, *creation_order("views")):
                place = quoted(folder / f"{relation}.parquet")
                connection.execute(f"copy (from {relation}) to '{place}' (format parquet, compression zstd)")
    except duckdb.Error as error:
        raise StoreUnavailableError(f"the export failed: {str(error).strip().splitlines()[0]}") from error
    finally:
        if spill is not None:
            remove(spill)


def _manifest(choice: Choice, without_content: bool, found: dict[str, int]) -> dict[str, object]:
    return {
        "sealed_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "made_by": f"otel-processor {package_version()}",
        "without_content": without_content,
        "what": str(choice),
        **found,
    }
