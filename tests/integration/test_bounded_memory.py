"""DuckDB has a bound on its memory in a service; what does not fit is stored all the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from otel_processor.errors import StoreUnavailableError
from otel_processor.recording.recorder import Recorder
from otel_processor.store.database import Database
from tests.integration.records import record, tool_record
from tests.integration.stored import value

if TYPE_CHECKING:
    from pathlib import Path


def test_what_does_not_fit_lifts_the_bound(db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The transaction that failed leaves nothing behind, and no file where the process was started."""
    database = Database(db, memory="32MB")
    large = "create or replace table large as select repeat('x', 1000) || i as x from range(100000) as r(i) order by random()"
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    with pytest.raises(StoreUnavailableError, match="Out of Memory"), database.write(timeout_seconds=5) as connection:
        connection.execute(large)
    with database.write(timeout_seconds=5) as connection:
        connection.execute(large)
    database.close()
    assert value(db, "select count(*) from large") == 100_000
    assert not list(here.iterdir())


def test_spans_that_do_not_fit_are_stored_all_the_same(db: Path) -> None:
    recorder = Recorder(db, memory="32MB")
    assert recorder.record([tool_record("search", {"q": 1}, "found")], timeout_seconds=5)
    large = [record({f"part{number}": os.urandom(20_000).hex() for number in range(80)}) for _ in range(8)]
    assert recorder.record(large, timeout_seconds=5)
    assert recorder.counters.spooled == 8, "they fit into 32 MB: make them larger"
    assert recorder.record([tool_record("search", {"q": 2}, "found")], timeout_seconds=5)
    recorder.close()
    assert value(db, "select count(*) from spans") == 10
    assert value(db, "select count(*) from calls") == 2
    assert not recorder.counters.dropped
