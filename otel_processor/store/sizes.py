"""How large a database is: its file, the blocks in use, and what of these belongs to rows that are there still."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_BLOCKS = """
    select total_blocks * block_size, used_blocks * block_size
    from pragma_database_size() where database_name = current_database()
"""
_ROWS = """
    select
        (select count(*) from spans) as spans,
        (select count(*) from call_rows) as calls,
        coalesce(sum(estimated_size), 0)
    from duckdb_tables()
    where database_name = current_database() and table_name in ('spans', 'call_rows')
"""


@dataclass(frozen=True, slots=True)
class StoreSize:
    """Sizes of a database, in bytes."""

    file_bytes: int
    """The blocks of the file."""
    used_bytes: int
    """Those that hold something: DuckDB takes the others for what comes, and gives none back to the disk."""
    live_bytes: int
    """What of these belongs to rows that are there still, about: DuckDB frees blocks for many thousands of rows at once."""
    spans: int

    @property
    def free_bytes(self) -> int:
        """What `compact` would give back, about."""
        return max(self.file_bytes - self.live_bytes, 0)


def measure(connection: duckdb.DuckDBPyConnection) -> StoreSize:
    """Return how large the database is.

    Args:
        connection: to the database, before anything is written in its transaction.
    """
    file_bytes, used_bytes = connection.execute(_BLOCKS).fetchall()[0]
    spans, calls, with_dead = connection.execute(_ROWS).fetchall()[0]
    # DuckDB's estimate counts the rows that were deleted and still take their place.
    live_share = min((spans + calls) / with_dead, 1.0) if with_dead else 1.0
    return StoreSize(int(file_bytes), int(used_bytes), int(used_bytes * live_share), int(spans))
