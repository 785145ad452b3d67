"""What a writer knows of the traces in the store without asking it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.recording import stored_traces
from otel_processor.recording.recorder import Recorder
from otel_processor.recording.stored_traces import StoredTraces
from otel_processor.store.database import Database
from tests.integration.records import record

if TYPE_CHECKING:
    from pathlib import Path

TRACES = [f"{number:032x}" for number in range(1, 200)]


def stored(db: Path, traces: list[str]) -> None:
    recorder = Recorder(db)
    assert recorder.record([record(trace=trace) for trace in traces], timeout_seconds=5)
    recorder.close()


def ready(db: Path, filter_: StoredTraces, transactions: int) -> None:
    for _ in range(transactions):
        with Database(db).write(timeout_seconds=5) as connection:
            filter_.get_ready(connection)


@given(st.sets(st.text(max_size=40), max_size=200), st.sampled_from([8, 64, 4_096]))
def test_what_was_added_may_always_be_there(names: set[str], bits: int) -> None:
    filter_ = StoredTraces(bits)
    with duckdb.connect() as connection:
        connection.execute("create table spans (trace_id varchar)")
        for _ in range(stored_traces.ALONE):
            filter_.get_ready(connection)
    filter_.add(names)
    assert all(map(filter_.may_hold, names))


def test_traces_that_are_stored_may_be_there_and_nearly_all_others_are_not(db: Path) -> None:
    stored(db, TRACES)
    filter_ = StoredTraces()
    ready(db, filter_, stored_traces.ALONE)
    filter_.add(["added"])
    assert all(map(filter_.may_hold, [*TRACES, "added"]))
    others = [f"{number:032x}" for number in range(1_000, 11_000)]
    assert sum(map(filter_.may_hold, others)) < 20


def test_nothing_is_ruled_out_before_a_writer_was_alone_for_a_while(db: Path) -> None:
    stored(db, TRACES)
    filter_ = StoredTraces()
    ready(db, filter_, stored_traces.ALONE - 1)
    assert filter_.may_hold("other")
    ready(db, filter_, 1)
    assert not filter_.may_hold("other")
    filter_.others_wrote()
    ready(db, filter_, stored_traces.ALONE - 1)
    assert filter_.may_hold("other")


def test_a_large_store_is_not_read_for_it(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_traces, "MOST_SPANS", len(TRACES) - 1)
    stored(db, TRACES)
    filter_ = StoredTraces()
    ready(db, filter_, 2 * stored_traces.ALONE)
    assert filter_.may_hold("other")


def test_what_could_not_be_read_to_the_end_rules_nothing_out() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "create view spans as select if(i < 5_000, i::varchar, error('no room')) as trace_id from range(9_000) r(i)"
        )
        filter_ = StoredTraces()
        for _ in range(stored_traces.ALONE - 1):
            filter_.get_ready(connection)
        with pytest.raises(duckdb.Error, match="no room"):
            filter_.get_ready(connection)
        assert filter_.may_hold("17")
        filter_.get_ready(connection)
        assert filter_.may_hold("17")
