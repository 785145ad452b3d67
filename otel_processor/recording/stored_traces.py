"""Which traces may have spans in the store, so that new ones, which most are, need not be looked for in all that is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_BITS = 1 << 25
"""4 MiB: of two million traces one in five hundred is looked for in vain; of more, more."""

_PROBES = 4

ALONE = 16
"""Transactions after which a writer that saw nobody else's reads which traces there are."""

MOST_SPANS = 2_000_000
"""In a larger store they are not read: that would hold it for a second."""


class StoredTraces:
    """A Bloom filter of the trace ids in the store (Bloom, 1970): says surely not, or perhaps. Owned by the judge."""

    def __init__(self, bits: int = _BITS) -> None:
        self._size = bits
        self._bits: bytearray | None = None
        self._alone = 0

    def others_wrote(self) -> None:
        """Know nothing: they may have stored any trace."""
        self._bits = None
        self._alone = 0

    def get_ready(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Read which traces are stored where that is worth it; called once in each transaction, before it stores spans."""
        if self._bits is not None:
            return
        self._alone += 1
        if self._alone != ALONE:
            return
        ((spans,),) = connection.execute("select count(*) from spans").fetchall()
        if spans > MOST_SPANS:
            return
        bits = bytearray(self._size // 8)
        found = connection.execute("select distinct trace_id from spans")
        while rows := found.fetchmany(10_000):
            self._mark(bits, (trace_id for (trace_id,) in rows))
        # Not before: what is read half would rule out the other half.
        self._bits = bits

    def add(self, trace_ids: Iterable[str]) -> None:
        """Take in traces that are about to be stored."""
        if self._bits is not None:
            self._mark(self._bits, trace_ids)

    def _mark(self, bits: bytearray, trace_ids: Iterable[str]) -> None:
        for trace_id in trace_ids:
            for place in self._places(trace_id):
                bits[place >> 3] |= 1 << (place & 7)

    def may_hold(self, trace_id: str) -> bool:
        """Return False only where no span of the trace is stored."""
        bits = self._bits
        return bits is None or all(bits[place >> 3] & (1 << (place & 7)) for place in self._places(trace_id))

    def _places(self, trace_id: str) -> Iterator[int]:
        # Two halves of one hash stand for as many as are wanted (Kirsch, Mitzenmacher, 2006).
        mixed = hash(trace_id) & 0xFFFF_FFFF_FFFF_FFFF
        first, second = mixed >> 32, (mixed & 0xFFFF_FFFF) | 1
        return ((first + number * second) % self._size for number in range(_PROBES))
