"""The tables and views of a database: made, or brought up to this version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_processor.errors import SchemaVersionError, SealedError
from otel_processor.store.scripts import creation_order, definition
from otel_processor.store.sealing import REFUSAL, SEAL
from otel_processor.store.totals import recount_all

if TYPE_CHECKING:
    import duckdb

SCHEMA_MAJOR, SCHEMA_MINOR = 1, 6

_MINOR_WITH_TOTALS = 4

_NOT_OURS = "the database has tables of the same names that are not ours; give another path with --db"


def create_schema(connection: duckdb.DuckDBPyConnection) -> None:
    """Create what is missing in an empty or older database; refuse a newer major version.

    Raises:
        SchemaVersionError: the file was written by a version of this package with another major schema.
        SealedError: it is a copy to be shared.
    """
    import duckdb

    from otel_processor.version import package_version

    taken = {
        name
        for (name,) in connection.execute(
            "select table_name from duckdb_tables() where database_name = 'store' "
            "union all select view_name from duckdb_views() where database_name = 'store' and not internal"
        ).fetchall()
    }
    minor = -1
    if SEAL in taken and "meta" in taken:
        raise SealedError(REFUSAL)
    if "meta" in taken:
        try:
            found = connection.execute("select schema_major, schema_minor from meta").fetchone()
        except duckdb.ProgrammingError as error:
            raise SchemaVersionError(_NOT_OURS) from error
        if found is not None:
            if found[0] != SCHEMA_MAJOR:
                raise SchemaVersionError(
                    f"the database has schema {found[0]}.{found[1]}, this otel-processor understands {SCHEMA_MAJOR}.x; "
                    "install the matching version, or give another path with --db"
                )
            minor = found[1]
    elif taken.intersection((*creation_order("schema"), *creation_order("views"))):
        raise SchemaVersionError(_NOT_OURS)
    if minor >= SCHEMA_MINOR:
        return
    _create(connection, is_older=minor >= 0)
    if 0 <= minor < _MINOR_WITH_TOTALS:
        recount_all(connection)
    if minor < 0:
        connection.execute(
            "insert into meta values ($major, $minor, $version, now(), null, null)",
            {"major": SCHEMA_MAJOR, "minor": SCHEMA_MINOR, "version": package_version()},
        )
    else:
        connection.execute("update meta set schema_minor = $minor", {"minor": SCHEMA_MINOR})


def _create(connection: duckdb.DuckDBPyConnection, *, is_older: bool) -> None:
    for name in creation_order("schema"):
        connection.execute(definition("schema", name))
    if is_older:
        _add_columns(connection)
    for name in creation_order("views"):
        connection.execute(definition("views", name))


_COLUMNS = "select table_name, column_name, data_type from duckdb_columns() where database_name = $database and not internal"


def _add_columns(connection: duckdb.DuckDBPyConnection) -> None:
    """Add the columns that the tables of an older database do not have; they are empty for what is in it."""
    import duckdb

    # One transaction writes to one database only: what the definitions say is asked of another engine.
    with duckdb.connect(":memory:") as fresh:
        for name in creation_order("schema"):
            fresh.execute(definition("schema", name))
        wanted = fresh.execute(_COLUMNS, {"database": "memory"}).fetchall()
    known = {(table, column) for table, column, _ in connection.execute(_COLUMNS, {"database": "store"}).fetchall()}
    for table, column, kind in wanted:
        if (table, column) not in known:
            connection.execute(f'alter table {table} add column "{column}" {kind}')
