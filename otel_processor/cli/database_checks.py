"""The part of `doctor` that looks at a database: its place, what it holds, who writes, what waits or was lost."""

from __future__ import annotations

import os
from datetime import UTC
from typing import TYPE_CHECKING, Any

from otel_processor.cli.alert_checks import look_at_deliveries
from otel_processor.cli.checks import Check, ok, problem, warning
from otel_processor.cli.cost_checks import look_at_costs
from otel_processor.cli.size_checks import look_at_size
from otel_processor.cli.sizes import as_size
from otel_processor.errors import OtelProcessorError, StoreBusyError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import duckdb

    from otel_processor.store.sealing import Seal
    from otel_processor.store.surroundings import Surroundings

LOCK_SECONDS = 5.0
SPANS_THAT_SHOULD_HOLD_CALLS = 50

_FACTS = """
    select
        (select count(*) from spans) as spans,
        (select count(*) from calls where kind = 'tool') as tool_calls,
        (select count(*) from calls where kind = 'tool' and (signature is null or fingerprint is null)) as half_known_calls,
        (select count(*) from calls where kind = 'model') as model_calls,
        (select count(*) from runs) as runs,
        (select count(*) from runs where stop_reason = 'running') as open_runs,
        (select count(*) from alerts) as alerts,
        (select count(*) from alerts where resolved_at is null) as open_alerts,
        (select max(received_at)::VARCHAR from spans) as last_span,
        (select epoch(now()) - epoch(max(last_write_at)) from writers) as seconds_since_write
"""
_WRITERS = """
    select host, pid, written, duplicates, cut, spooled, dropped, lock_waits
    from writers order by last_write_at desc limit 20
"""
_COUNTERS = {
    "written": "spans written",
    "duplicates": "duplicates",
    "cut": "values cut",
    "spooled": "spooled",
    "dropped": "dropped",
    "lock_waits": "waits for the lock",
}


def look_at_database(db: Path) -> Iterator[Check]:
    """Check the database file, its folder, and what waits outside of it."""
    from otel_processor.store.surroundings import look_around

    around = look_around(db)
    yield _place(around) if not _is_sealed(db) else ok("folder", f"{db} is a sealed copy, for reading only")
    yield from _waiting(around)
    if not around.exists:
        yield problem(
            "database",
            f"there is none at {db}",
            "run an agent with it, try `otel-processor demo`, or give another path with --db",
        )
        return
    if not os.access(db, os.R_OK):
        yield problem("database", f"{db} cannot be read by this user", f"change its rights or owner: {db.absolute()}")
        return
    yield from _inside(db, around)


def _is_sealed(db: Path) -> bool:
    import duckdb

    from otel_processor.store.opening import open_read_only
    from otel_processor.store.sealing import is_sealed

    try:
        with open_read_only(db, timeout_seconds=0) as connection:
            return is_sealed(connection)
    except (OtelProcessorError, duckdb.Error):
        return False


def _place(around: Surroundings) -> Check:
    from otel_processor.store.surroundings import Room

    folder, free = around.folder, as_size(around.free_bytes)
    match around.room:
        case Room.NO_FOLDER:
            return problem("folder", f"{folder} does not exist", f"create it: mkdir -p {folder}")
        case Room.NOT_WRITABLE:
            return problem(
                "folder", f"{folder} or the database in it cannot be written by this user", "change its rights or owner"
            )
        case Room.FULL:
            return problem("folder", f"{folder} has {free} left", "make room: writers spool and then drop what does not fit")
        case Room.LITTLE:
            return warning("folder", f"{folder} has {free} left", "make room before writers run out of it")
        case Room.ENOUGH:
            return ok("folder", f"{folder} is writable, {free} free")


def _waiting(around: Surroundings) -> Iterator[Check]:
    if around.spool_files:
        yield warning(
            "spool",
            f"{_waiting_batches(around.spool_files)} beside the database ({as_size(around.spool_bytes)})",
            "they are written by the next writer that gets in; start an agent, or import any file",
        )
    elif around.exists:
        yield ok("spool", "nothing waits")
    if around.spool_bad:
        yield warning(
            "spool",
            f"{around.spool_bad:,} of its files cannot be read and were put aside, under names that end in .bad",
            "look at them; one that is whole JSON is read when `.bad` is taken off its name",
        )
    for status in around.shut_out:
        yield _unreachable(status)


def _waiting_batches(number: int) -> str:
    return "1 batch waits" if number == 1 else f"{number:,} batches wait"


def _unreachable(status: Mapping[str, Any]) -> Check:
    who = f"writer {status.get('writer_id', '?')} (process {status.get('pid', '?')} on {status.get('host', '?')})"
    lost = f"{status.get('spooled') or 0} spans spooled, {status.get('dropped') or 0} dropped"
    reason = status.get("last_error") or status.get("reason") or "no reason given"
    return problem(
        "shut out",
        f"{who} cannot reach the database since {status.get('since', '?')}: {reason}; {lost}",
        "end what holds the file or repair the path; the writer goes on by itself",
    )


def _inside(db: Path, around: Surroundings) -> Iterator[Check]:
    import duckdb

    from otel_processor.store.opening import open_read_only
    from otel_processor.store.sealing import seal_of

    try:
        connection = open_read_only(db, timeout_seconds=LOCK_SECONDS)
    except StoreBusyError as error:
        yield problem(
            "database",
            f"{error} for over {LOCK_SECONDS:g} s",
            "end that process or close its connection; writers spool meanwhile",
        )
        return
    except OtelProcessorError as error:
        yield problem("database", str(error), "give the path of a database of otel-processor with --db")
        return
    try:
        seal = seal_of(connection)
        schema = _schema(db, around, connection, is_sealed=seal is not None)
        yield schema
        if schema.state == "ok" and seal is not None:
            yield _sealed(seal, connection)
        elif schema.state == "ok":
            yield from look_at_size(db, connection)
            yield from _content(connection)
            yield from look_at_costs(connection)
            yield from look_at_deliveries(connection)
            yield from _writers(connection)
    except duckdb.Error as error:
        sentence = str(error).strip().splitlines()[0]
        yield problem("database", f"{db} cannot be queried: {sentence}", "upgrade otel-processor, or give another path with --db")
    finally:
        connection.close()


def _sealed(seal: Seal, connection: duckdb.DuckDBPyConnection) -> Check:
    what = f"{seal.what}{', without content' if seal.without_content else ''}"
    made = f"{seal.sealed_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC by {seal.made_by}"
    return ok("sealed copy", f"made {made}: {what}; {_counts(_rows(connection, _FACTS)[0])}; nothing is to be done")


def _schema(db: Path, around: Surroundings, connection: duckdb.DuckDBPyConnection, *, is_sealed: bool) -> Check:
    from otel_processor.store.creating import SCHEMA_MAJOR, SCHEMA_MINOR

    tables = {name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()}
    found = connection.execute("select schema_major, schema_minor, created_by from meta").fetchone() if "meta" in tables else None
    if found is None:
        return problem("schema", f"{db} is a DuckDB database, but not one of ours", "give another path with --db")
    major, minor, created_by = found
    size = f"{as_size(around.total_bytes)}, created by {created_by}"
    if major != SCHEMA_MAJOR:
        remedy = "install the otel-processor that wrote it, or give another path with --db"
        return problem("schema", f"version {major}.{minor}, this otel-processor understands {SCHEMA_MAJOR}.x", remedy)
    if minor < SCHEMA_MINOR and not is_sealed:
        return ok("schema", f"version {major}.{minor}, becomes {SCHEMA_MAJOR}.{SCHEMA_MINOR} with the next write; {size}")
    return ok("schema", f"version {major}.{minor}; {size}")


def _counts(facts: Mapping[str, Any]) -> str:
    return (
        f"{facts['spans']:,} spans, {facts['tool_calls']:,} tool calls, {facts['model_calls']:,} model calls, "
        f"{facts['runs']:,} runs ({facts['open_runs']:,} open), {facts['alerts']:,} alerts ({facts['open_alerts']:,} open)"
    )


def _content(connection: duckdb.DuckDBPyConnection) -> Iterator[Check]:
    facts = _rows(connection, _FACTS)[0]
    counts = _counts(facts)
    if facts["spans"] and not facts["tool_calls"]:
        say = problem if facts["spans"] >= SPANS_THAT_SHOULD_HOLD_CALLS else warning
        yield say(
            "content",
            f"{counts}: in none of them a tool call was recognised",
            "instrument the agent framework (not only HTTP), and let it record tool spans; spans are kept, so nothing is lost",
        )
    else:
        yield ok("content", counts)
    if facts["half_known_calls"] * 2 > facts["tool_calls"]:
        yield warning(
            "recording",
            f"{facts['half_known_calls']:,} of {facts['tool_calls']:,} tool calls come without arguments or without a result: "
            "loops in them are hard to see",
            "let your instrumentation record content, for example OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
        )
    if facts["seconds_since_write"] is None:
        yield warning("last write", "nobody has written yet", "run an agent with this database")
    else:
        yield ok("last write", f"{_ago(facts['seconds_since_write'])}; newest span received {facts['last_span'] or 'never'}")


def _writers(connection: duckdb.DuckDBPyConnection) -> Iterator[Check]:
    for row in _rows(connection, _WRITERS):
        counts = ", ".join(f"{row[column] or 0:,} {said}" for column, said in _COUNTERS.items())
        told = f"process {row['pid']} on {row['host']}: {counts}"
        if row["dropped"]:
            yield problem(
                "writer", told, "spans were lost: look for what held the file or filled the disk, and at the writer's log"
            )
        else:
            yield ok("writer", told)


def _rows(connection: duckdb.DuckDBPyConnection, question: str) -> list[dict[str, Any]]:
    cursor = connection.execute(question)
    names = [column[0] for column in cursor.description or []]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _ago(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{seconds:.0f} seconds ago" if seconds >= 2 else "just now"
