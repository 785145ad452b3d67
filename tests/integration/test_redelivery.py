"""Spans that come again, in any order, through any writer, are stored once and mean what they meant."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from otel_processor.recording import stored_traces
from otel_processor.recording.recorder import Recorder
from otel_processor.runs import memory
from tests.integration.records import record, tool_record
from tests.integration.stored import rows, value

if TYPE_CHECKING:
    from pathlib import Path

    from otel_processor.model import SpanRecord

_CALLS = "select run_id, span_id, step, tool, signature, progress, repeats, flat_steps from calls order by all"

_STORED = "select count(*), count(distinct (trace_id, span_id)) from spans"


def _spans() -> list[SpanRecord]:
    """Four traces with calls that repeat, one without any, and one of a single span."""
    spans = [
        tool_record("search", {"q": number // 3}, f"result {number // 3}", trace=f"{trace:032x}")
        for number in range(8)
        for trace in range(1, 5)
    ]
    return [*spans, *(record(trace="e" * 32) for _ in range(4)), record(trace="f" * 32)]


def _deliver(spans: list[SpanRecord], recorders: list[Recorder], chance: random.Random) -> None:
    """Every span at least once, in its order, in batches of any size that bring back any of those before."""
    position = 0
    while position < len(spans):
        upto = min(len(spans), position + chance.randint(1, 9))
        again = chance.sample(spans[:position], min(position, chance.randint(0, 6)))
        batch = [*spans[position:upto], *again, *chance.sample(spans[position:upto], 1)]
        recorder = chance.choice(recorders)
        before = recorder.counters
        assert recorder.record(batch, timeout_seconds=5)
        after = recorder.counters
        assert (after.written - before.written, after.duplicates - before.duplicates) == (upto - position, len(again) + 1)
        position = upto


@pytest.mark.parametrize("writers", [1, 2])
@pytest.mark.parametrize("remembered", [memory.SPAN_IDS, 3])
@pytest.mark.parametrize("alone", [1, 1_000])
@pytest.mark.parametrize("seed", range(3))
def test_what_comes_again_counts_once(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writers: int, remembered: int, alone: int, seed: int
) -> None:
    """Whether the writer remembers all ids of a trace, or has too many to keep, or another one wrote in between.

    And whether it knows which traces are stored, after so many transactions of its own, or asks each time.
    """
    monkeypatch.setattr(memory, "SPAN_IDS", remembered)
    monkeypatch.setattr(stored_traces, "ALONE", alone)
    spans = _spans()
    recorders = [Recorder(db) for _ in range(writers)]
    _deliver(spans, recorders, random.Random(seed))
    for recorder in recorders:
        recorder.close()
    plain = Recorder(tmp_path / "plain.duckdb")
    assert plain.record(spans, timeout_seconds=5)
    plain.close()
    assert rows(db, _STORED) == [(len(spans), len(spans))]
    assert rows(db, _CALLS) == rows(tmp_path / "plain.duckdb", _CALLS)


@pytest.mark.parametrize("alone", [1, 1_000])
def test_what_was_stored_before_a_restart_counts_once(db: Path, monkeypatch: pytest.MonkeyPatch, alone: int) -> None:
    """A writer that remembers nothing asks the store, also about a span of a trace that goes on."""
    monkeypatch.setattr(stored_traces, "ALONE", alone)
    spans = _spans()
    for portion in (spans[:20], spans[10:30], spans):
        recorder = Recorder(db)
        assert recorder.record(portion, timeout_seconds=5)
        recorder.close()
    assert rows(db, _STORED) == [(len(spans), len(spans))]
    assert value(db, "select count(*) from calls") == 32


def test_what_a_writer_stored_and_forgot_counts_once(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of traces that went out of its memory it still knows that they may be stored."""
    monkeypatch.setattr(stored_traces, "ALONE", 1)
    monkeypatch.setattr(memory, "OPEN_RUNS", 1)
    monkeypatch.setattr(memory, "PLAIN_TRACES", 1)
    recorder = Recorder(db)
    spans = _spans()
    for span in [*spans, *spans]:
        assert recorder.record([span], timeout_seconds=5)
    assert (recorder.counters.written, recorder.counters.duplicates) == (len(spans), len(spans))
    assert recorder.counters.put_away
    assert rows(db, _STORED) == [(len(spans), len(spans))]
