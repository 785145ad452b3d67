"""What was promised to be kept is kept, once, whoever writes, reads or dies at the same time."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from typing import TYPE_CHECKING

import duckdb
import pytest

from otel_processor.errors import StoreError, StoreMemoryError
from otel_processor.policy import Policy
from otel_processor.recording.preparing import prepare
from otel_processor.recording.recorder import Recorder
from otel_processor.recording.spooling import spooled_columns
from otel_processor.recording.writing import insert_spans
from otel_processor.store import database, spool
from otel_processor.store.opening import open_read_only
from tests.integration import processes
from tests.integration.agents import loop
from tests.integration.records import record, tool_record
from tests.integration.stored import eventually, rows, stored_ids, value

if TYPE_CHECKING:
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

    from otel_processor.model import SpanRecord

SOAK = bool(os.environ.get("OTEL_PROCESSOR_TEST_SOAK"))
"""Set it for many more rounds."""

_WRITER = """
from otel_processor import instrument
installed = instrument(sys.argv[1])
tracer = trace.get_tracer("agent")
deadline = time.monotonic() + float(sys.argv[3])
told, number = [], 0
while time.monotonic() < deadline:
    number += 1
    with agent(tracer, f"agent-{sys.argv[4]}") as root:
        told += [call_tool(tracer, "search", {"q": f"{number} {turn}"}, f"hit {number} {turn}") for turn in range(8)]
    told.append(span_id(root))
    time.sleep(0.05)
installed.shutdown()
Path(sys.argv[2], f"{sys.argv[4]}.ids").write_text("\\n".join(told))
print(installed.exporter.counters)
"""


def test_eight_writers_two_readers_and_one_that_holds_the_file(db: Path, tmp_path: Path) -> None:
    """Eight processes write for a while, two readers poll, and a shell sits on the file for 20 seconds in between."""
    stop = threading.Event()
    counts: list[list[int]] = [[], []]

    def poll(seen: list[int]) -> None:
        while not stop.is_set():
            try:
                with open_read_only(db, timeout_seconds=30) as connection:
                    row = connection.execute("select count(*) from spans").fetchone()
                    seen.append(row[0] if row else -1)
            except (StoreError, duckdb.CatalogException):
                pass
            stop.wait(0.1)

    writers = [processes.start(_WRITER, db, tmp_path, 26, number) for number in range(8)]
    readers = [threading.Thread(target=poll, args=(seen,)) for seen in counts]
    for reader in readers:
        reader.start()
    try:
        eventually(db.exists, seconds=30, what="a first write")
        with processes.held(db):
            time.sleep(20)
        outs = [processes.finish(writer, seconds=100) for writer in writers]
    finally:
        stop.set()
        for reader in readers:
            reader.join(40)
    processes.run(_WRITER, db, tmp_path, 0.1, "last")
    told = sorted(line for path in tmp_path.glob("*.ids") for line in path.read_text().split())
    assert len(told) > 8 * 9 * 50
    assert stored_ids(db) == told
    assert value(db, "select count(*) from calls") == len(told) // 9 * 8
    assert rows(db, "select distinct steps, status, stop_reason from runs") == [(8, "ok", "completed")]
    assert spool.pending(db) == []
    assert value(db, "select sum(dropped) from writers") == 0
    assert value(db, "select sum(spooled) from writers") > 0
    assert all("Traceback" not in errors for _, errors in outs)
    for seen in counts:
        assert len(seen) > 1
        assert seen == sorted(seen)


_VICTIM = """
from otel_processor import instrument
installed = instrument(sys.argv[1])
tracer = trace.get_tracer("agent")
with open(sys.argv[2], "a") as promised:
    for number in range(100_000):
        with agent(tracer, "victim") as root:
            told = [call_tool(tracer, "search", {"q": turn}, f"hit {number} {turn}") for turn in range(5)]
        if installed.force_flush():
            promised.write("\\n".join([*told, span_id(root)]) + "\\n")
            promised.flush()
            os.fsync(promised.fileno())
"""


def test_what_was_flushed_survives_kill_9(db: Path, tmp_path: Path) -> None:
    """Two writers at a time are killed at random moments, sometimes while the file is held, so that they spool."""
    seed = random.SystemRandom().randrange(1 << 30) if SOAK else 7
    chance = random.Random(seed)
    promised: list[Path] = []
    for number in range(60 if SOAK else 5):
        sides = [tmp_path / f"{number}-{which}.promised" for which in "ab"]
        victims = [processes.start(_VICTIM, db, side, env={"OTEL_PROCESSOR_BUSY_TIMEOUT": "0.3"}) for side in sides]
        try:
            for side in sides:
                eventually(lambda: side.exists() and side.stat().st_size, seconds=40, what="a flush")  # noqa: B023 - called here
            if number % 2:
                with processes.held(db):
                    time.sleep(chance.uniform(0.2, 1.0))
                    victims[0].send_signal(signal.SIGKILL)
            time.sleep(chance.uniform(0, 0.3))
        finally:
            for victim in victims:
                victim.kill()
                victim.communicate()
        promised += sides
    processes.run(_WRITER, db, tmp_path, 0.1, "last")
    stored = stored_ids(db)
    assert len(stored) == len(set(stored)), f"doubled (seed {seed})"
    whole = [line for side in promised for line in side.read_text().split("\n")[:-1]]
    assert len(whole) > 50
    assert set(whole) <= set(stored), f"lost (seed {seed})"
    assert spool.pending(db) == []
    assert value(db, "select count(*) from (select run_id from runs group by run_id having count(*) > 1)") == 0


def test_delivered_twice_counts_once(db: Path) -> None:
    """In one batch, in two, from two writers, in another order, and out of the spool."""
    spans = [tool_record("search", {"q": number % 3}, "nothing") for number in range(20)]
    first, second = Recorder(db), Recorder(db)
    assert first.record([*spans[:10], *spans[:10]], timeout_seconds=5)
    assert second.record(spans[5:], timeout_seconds=5)
    assert first.record(list(reversed(spans)), timeout_seconds=5)
    spool.save(db, spooled_columns(prepare(spans, Policy())))
    assert first.record([], timeout_seconds=5)
    assert stored_ids(db) == sorted(span.span_id for span in spans)
    assert value(db, "select count(*) from calls") == 20
    assert rows(db, "select steps, tool_calls from runs") == [(20, 20)]
    assert first.counters.duplicates + second.counters.duplicates == 10 + 5 + 20 + 20
    assert spool.pending(db) == []


def test_what_one_process_spooled_another_one_writes(db: Path) -> None:
    with processes.held(db):
        out, errors = processes.run(
            """
from otel_processor import instrument
installed = instrument(sys.argv[1])
told = loop(trace.get_tracer("agent"), 6)
assert installed.force_flush()
print(*told)
""",
            db,
            env={"OTEL_PROCESSOR_BUSY_TIMEOUT": "0.2"},
        )
        assert "is held by process" in errors
        assert spool.pending(db)
    assert Recorder(db).record([record()], timeout_seconds=5)
    assert rows(db, "select span_id from calls order by ended_at") == [(told,) for told in out.split()]
    assert rows(db, "select task, flat_steps, flagged_reason from runs") == [
        ("looper", 5, "loop_detected:repeated_tool_signature")
    ]
    assert rows(db, "select pattern, count(*) from alerts group by all order by all") == [("hard_loop", 1), ("no_progress", 1)]
    assert spool.pending(db) == []
    assert not spool.folder_of(db).exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[]",
        b'{"spans": 5}',
        b'{"spans": {"trace_id": ["a"], "span_id": []}}',
        b'{"spans": {"trace_id": ["a"]}}',
        b'{"spans": {"trace_id": [{"a": 1}], "span_id": ["b"]}}',
        b'{"alerts": {"alert_id": ["a"]}}',
        b'{"kept": {"trace_id": ["a"]}}',
    ],
)
def test_a_corrupt_spool_file_is_put_aside(content: bytes, db: Path, caplog: pytest.LogCaptureFixture) -> None:
    good = tool_record("search", {"q": 1}, "hit")
    spool.save(db, spooled_columns(prepare([good], Policy())))
    bad = spool.folder_of(db) / "00000000000000000000-1-0.batch.json"
    bad.write_bytes(content)
    writer = Recorder(db)
    span = record()
    assert writer.record([span], timeout_seconds=5)
    assert writer.record([record()], timeout_seconds=5)
    assert spool.pending(db) == []
    assert {good.span_id, span.span_id} <= set(stored_ids(db))
    assert bad.with_name(bad.name + ".bad").read_bytes() == content
    assert len(caplog.records) == 1


def test_a_spooled_row_that_duckdb_refuses_does_not_block(db: Path) -> None:
    """Somebody's batch holds one row without a name: the others of it, and what comes after, are stored."""
    spans = [record() for _ in range(5)]
    columns = spooled_columns(prepare(spans, Policy()))
    columns["spans"]["name"][2] = None
    spool.save(db, columns)
    writer = Recorder(db)
    mine = [record(), record()]
    assert writer.record(mine, timeout_seconds=5)
    assert set(stored_ids(db)) == {span.span_id for span in [*spans, *mine]} - {spans[2].span_id}
    assert spool.pending(db) == []
    assert writer.counters.dropped == 1


def too_large_at_once(count: int = 200) -> list[SpanRecord]:
    """Spans of 64 KB each, which 40 MB of memory are enough for one by one."""
    return [record(attributes={"text": "a few words " * 5_400}) for _ in range(count)]


def test_a_batch_that_memory_is_too_small_for_is_stored_in_parts(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(database._ENGINE, "memory_limit", "40MB")
    spans = too_large_at_once()
    writer = Recorder(db)
    assert writer.record([record()], timeout_seconds=5)
    with pytest.raises(StoreMemoryError), writer.database.write(timeout_seconds=5) as connection:
        insert_spans(connection, writer.prepared(spans))
    assert writer.record(spans, timeout_seconds=5)
    assert (writer.counters.written, writer.counters.spooled, writer.counters.dropped) == (201, 0, 0)
    assert value(db, "select count(*) from spans") == 201


@pytest.mark.parametrize("comes", [0, 1])
def test_a_spooled_batch_that_memory_is_too_small_for_does_not_block(
    db: Path, monkeypatch: pytest.MonkeyPatch, comes: int
) -> None:
    """Whether more comes, or the house is kept while nothing does."""
    spans = too_large_at_once()
    with processes.held(db):
        assert Recorder(db).record(spans, timeout_seconds=0)
    monkeypatch.setitem(database._ENGINE, "memory_limit", "40MB")
    writer = Recorder(db)
    if comes:
        assert writer.record([record()], timeout_seconds=5)
    assert writer.fold_spool(timeout_seconds=5)
    assert spool.pending(db) == []
    assert value(db, "select count(*) from spans") == 200 + comes


@pytest.mark.parametrize("is_spooled", [False, True])
def test_a_span_that_no_memory_is_enough_for_waits_alone(db: Path, monkeypatch: pytest.MonkeyPatch, is_spooled: bool) -> None:
    """It comes out of the spool once there is more memory; the others of its batch do not wait for that."""
    others = [record() for _ in range(64)]
    large = record(attributes={f"text {number}": "word " * 12_800 for number in range(60)})
    batch = [*others[:5], large, *others[5:]]
    if is_spooled:
        with processes.held(db):
            assert Recorder(db).record(batch, timeout_seconds=0)
    with monkeypatch.context() as little:
        little.setitem(database._ENGINE, "memory_limit", "14MB")
        writer = Recorder(db)
        assert writer.record([] if is_spooled else batch, timeout_seconds=5)
        assert not writer.fold_spool(timeout_seconds=5)
        assert set(stored_ids(db)) == {span.span_id for span in others}
        writer.close()
    writer = Recorder(db)
    assert writer.fold_spool(timeout_seconds=5)
    assert set(stored_ids(db)) == {span.span_id for span in batch}
    assert writer.counters.written == 1


def test_what_a_dead_writer_left_half_written_is_removed_in_time(db: Path) -> None:
    spool.save(db, spooled_columns(prepare([record()], Policy())))
    old, young = (spool.folder_of(db) / f"{name}.batch.partial" for name in ("old", "young"))
    for path in (old, young):
        path.write_bytes(b"{")
    os.utime(old, (1_000_000_000, 1_000_000_000))
    assert Recorder(db).record([record()], timeout_seconds=5)
    assert not old.exists()
    assert young.exists()


def test_a_full_spool_is_a_loss_that_is_counted(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MAX_BYTES", 3_000)
    with processes.held(db):
        writer = Recorder(db)
        kept = [writer.record([record(), record()], timeout_seconds=0) for _ in range(10)]
    assert kept[0]
    assert not kept[-1]
    assert writer.counters.dropped == 2 * kept.count(False)
    assert writer.record([], timeout_seconds=5)
    assert value(db, "select count(*) from spans") == 2 * kept.count(True)


def test_many_spooled_batches_are_folded_by_the_end(provider: TracerProvider, db: Path) -> None:
    for _ in range(100):
        spool.save(db, spooled_columns(prepare([tool_record("search", {"q": 1}, "hit")], Policy())))
    from otel_processor import instrument

    installed = instrument(db, tracer_provider=provider)
    loop(provider.get_tracer("agent"), 1)
    installed.shutdown()
    assert spool.pending(db) == []
    assert value(db, "select count(*) from spans") == 102


def test_a_batch_is_spooled_while_others_remove_the_empty_folder(db: Path) -> None:
    """Whoever folds the last batch removes the folder, maybe just when another is about to write into it."""
    stop = threading.Event()

    def sweep() -> None:
        while not stop.is_set():
            spool.remove(spool.pending(db))

    sweepers = [threading.Thread(target=sweep) for _ in range(2)]
    for sweeper in sweepers:
        sweeper.start()
    try:
        for _ in range(300):
            spool.save(db, {"spans": {"trace_id": []}})
    finally:
        stop.set()
        for sweeper in sweepers:
            sweeper.join()
