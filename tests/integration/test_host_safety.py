"""Whatever is wrong on our side, the agent runs to its end."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import duckdb
import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_processor import DuckDBSpanExporter, LoopSpanProcessor, Policy, bug_reports, instrument
from otel_processor.alerts.log import LOGGER
from otel_processor.detection.run_state import RunState
from otel_processor.dialects import read_span
from otel_processor.runs.ledger import Ledger
from otel_processor.store import spool
from otel_processor.store.database import Database
from otel_processor.store.status import read_status
from tests.integration import processes
from tests.integration.agents import agent, call_tool, loop
from tests.integration.stored import rows, stored_ids, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.sdk.trace import TracerProvider


@pytest.fixture(autouse=True)
def first_report() -> Iterator[None]:
    """Let each test see the first report of a bug, which is the only one for a minute."""
    bug_reports._reported.clear()
    yield
    bug_reports._reported.clear()


@pytest.fixture
def seen(provider: TracerProvider) -> InMemorySpanExporter:
    """What another exporter of the process sees."""
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter


def fail(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError("a bug of ours")


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What we log of ourselves; alerts are of the agent."""
    ours = (entry for entry in caplog.records if entry.name.startswith("otel_processor"))
    return [entry.getMessage() for entry in ours if entry.name != LOGGER]


def test_a_callback_that_raises_is_told_every_alert(
    provider: TracerProvider, seen: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    told = []

    def on_alert(alert: Any) -> None:
        told.append(alert.verdict.pattern)
        raise RuntimeError("a bug of the user's")

    provider.add_span_processor(LoopSpanProcessor(on_alert=on_alert))
    for _ in range(2):
        loop(provider.get_tracer("agent"), 6)
    assert set(told) == {"hard_loop", "no_progress"}
    roots = [dict(span.attributes or {}) for span in seen.get_finished_spans() if span.parent is None]
    assert [root["loop.stop_reason"] for root in roots] == ["completed", "completed"]
    assert len(messages(caplog)) == 1


def test_a_detector_that_raises_costs_tags_and_no_spans(
    provider: TracerProvider,
    seen: InMemorySpanExporter,
    db: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Detection fails in the live path and in the recorder: the spans are stored as received, and judged once it works again."""
    installed = instrument(db, tracer_provider=provider)
    tracer = provider.get_tracer("agent")
    with monkeypatch.context() as broken:
        broken.setattr(RunState, "observe", fail)
        with agent(tracer, "patient"):
            for _ in range(3):
                call_tool(tracer, "search", {"q": "x"}, "nothing")
                assert installed.force_flush()
    assert len(seen.get_finished_spans()) == 4
    assert len(messages(caplog)) == 2
    assert installed.force_flush()
    assert value(db, "select count(*) from spans") == 3 + 1
    loop(tracer, 3)
    assert installed.force_flush()
    assert rows(db, "select task, steps from runs where task = 'looper'") == [("looper", 3)]
    assert installed.exporter is not None
    assert installed.exporter.counters.dropped == 0


def test_a_policy_that_raises_is_survived(provider: TracerProvider, seen: InMemorySpanExporter, db: Path) -> None:
    class BadPolicy(Policy):
        @property
        def effects(self) -> Any:
            raise RuntimeError("a bug of the user's")

        @effects.setter
        def effects(self, value: Any) -> None:
            object.__setattr__(self, "_effects", value)

    policy = Policy()
    bad = object.__new__(BadPolicy)
    for name in Policy.__dataclass_fields__:
        if name != "effects":
            object.__setattr__(bad, name, getattr(policy, name))
    provider.add_span_processor(LoopSpanProcessor(bad))
    exporter = DuckDBSpanExporter(db, policy=policy)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    loop(provider.get_tracer("agent"), 3)
    assert len(seen.get_finished_spans()) == 4
    assert value(db, "select count(*) from calls") == 3


def test_an_exporter_that_fails_counts_what_it_lost(
    provider: TracerProvider, db: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    exporter = DuckDBSpanExporter(db)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with monkeypatch.context() as broken:
        broken.setattr(Database, "write", fail)
        loop(provider.get_tracer("agent"), 4)
    assert exporter.counters.dropped == 5
    assert len(messages(caplog)) == 1
    loop(provider.get_tracer("agent"), 4)
    assert exporter.counters.written == 5
    assert value(db, "select dropped from writers") == 5


def test_one_span_that_cannot_be_read_does_not_stop_the_others(
    provider: TracerProvider, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def picky(span: Any) -> Any:
        return fail() if span.name == "execute_tool bad" else read_span(span)

    monkeypatch.setattr("otel_processor.recording.preparing.read_span", picky)
    exporter = DuckDBSpanExporter(db)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("agent")
    with agent(tracer):
        call_tool(tracer, "bad", {"q": 1}, "hit")
        call_tool(tracer, "good", {"q": 1}, "hit")
    assert value(db, "select count(*) from spans") == 3
    assert rows(db, "select tool from calls where kind = 'tool'") == [("good",)]


def unreachable(kind: str, tmp_path: Path) -> Path:
    """A path that no database can be at, also for root."""
    if kind == "directory":
        (tmp_path / "agents.duckdb").mkdir()
        return tmp_path / "agents.duckdb"
    if kind == "below a file":
        (tmp_path / "file").write_text("x")
        return tmp_path / "file" / "agents.duckdb"
    return Path("/proc/agents.duckdb")


@pytest.mark.parametrize("kind", ["below a file", "proc"])
def test_a_place_that_cannot_be_written_is_said_once(
    kind: str, provider: TracerProvider, tmp_path: Path, temp_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the database nor the spool can be written: drops are counted, and `doctor` can read why."""
    db = unreachable(kind, tmp_path)
    exporter = DuckDBSpanExporter(db, busy_timeout_seconds=0.1)
    provider.add_span_processor(LoopSpanProcessor(on_alert=exporter.tell))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    for _ in range(3):
        loop(provider.get_tracer("agent"), 4)
    assert exporter.force_flush()
    assert exporter.counters.dropped == 15
    assert len(messages(caplog)) == 1
    assert str(db) in messages(caplog)[0]
    (status,) = read_status(db)
    assert status["dropped"] == 15
    assert str(db) in status["reason"]


def test_a_directory_in_place_of_the_database_is_said_once_and_spans_wait_beside_it(
    provider: TracerProvider, tmp_path: Path, temp_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    db = unreachable("directory", tmp_path)
    installed = instrument(db, tracer_provider=provider)
    told = loop(provider.get_tracer("agent"), 4)
    assert installed.force_flush()
    loop(provider.get_tracer("agent"), 4)
    assert installed.force_flush()
    assert len(messages(caplog)) == 1
    assert len(spool.pending(db)) >= 2
    assert read_status(db)
    db.rmdir()
    told += loop(provider.get_tracer("agent"), 1)
    assert installed.force_flush()
    assert spool.pending(db) == []
    assert len(stored_ids(db)) == 12
    assert set(told) <= set(stored_ids(db))
    assert read_status(db) == []
    assert "can be written again" in messages(caplog)[-1]


def test_a_file_that_is_no_database_is_left_as_it_is(
    provider: TracerProvider, db: Path, caplog: pytest.LogCaptureFixture
) -> None:
    content = b"this is somebody's notebook\n" * 1_000
    db.write_bytes(content)
    installed = instrument(db, tracer_provider=provider)
    loop(provider.get_tracer("agent"), 4)
    assert installed.force_flush()
    assert db.read_bytes() == content
    assert len(messages(caplog)) == 1
    assert "not a DuckDB database" in messages(caplog)[0]


@pytest.mark.parametrize("name", ["runs", "calls", "spans", "alerts", "meta"])
@pytest.mark.parametrize("kind", ["table", "view"])
def test_a_database_with_things_of_our_names_is_left_as_it_is(
    name: str, kind: str, provider: TracerProvider, db: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with duckdb.connect(str(db)) as connection:
        connection.execute(f"create {kind} {name} as select 42 as mine")
    installed = instrument(db, tracer_provider=provider)
    loop(provider.get_tracer("agent"), 4)
    assert installed.force_flush()
    assert rows(db, f"select * from {name}") == [(42,)]
    assert value(db, "select count(*) from duckdb_tables()") == (1 if kind == "table" else 0)
    assert len(messages(caplog)) == 1
    assert "not ours" in messages(caplog)[0]
    assert spool.pending(db)


def test_a_newer_schema_is_refused_with_the_remedy(provider: TracerProvider, db: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Database(db).write(timeout_seconds=5) as connection:
        connection.execute("update meta set schema_major = 2")
    installed = instrument(db, tracer_provider=provider)
    loop(provider.get_tracer("agent"), 4)
    assert installed.force_flush()
    assert len(messages(caplog)) == 1
    assert "has schema 2." in messages(caplog)[0]
    assert "--db" in messages(caplog)[0]
    assert value(db, "select count(*) from spans") == 0
    assert len(spool.pending(db)) >= 1


def test_a_database_that_is_removed_while_running_is_made_again(provider: TracerProvider, db: Path) -> None:
    installed = instrument(db, tracer_provider=provider)
    tracer = provider.get_tracer("agent")
    with agent(tracer):
        call_tool(tracer, "search", {"q": 1}, "hit 1")
        assert installed.force_flush()
        db.unlink()
        call_tool(tracer, "search", {"q": 2}, "hit 2")
        assert installed.force_flush()
    assert installed.force_flush()
    assert rows(db, "select tool, step, progress from calls") == [("search", 1, True)]
    assert value(db, "select count(*) from spans") == 2


_FULL_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
from otel_processor import instrument
installed = instrument(sys.argv[1])
tracer = trace.get_tracer("agent")
for number in range(6):
    with agent(tracer):
        for turn in range(40):
            call_tool(tracer, "read", {"page": f"{number} {turn}"}, os.urandom(5_000).hex())
    installed.force_flush()
if sys.argv[3] == "room again":
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    loop(tracer, 3)
    assert installed.force_flush()
print(installed.exporter.counters.dropped)
"""


def test_a_full_disk_costs_spans_and_nothing_else(db: Path) -> None:
    """Neither the database nor the spool can grow: what is lost is counted."""
    started = time.monotonic()
    out, errors = processes.run(_FULL_DISK, db, 100_000, "full for ever")
    assert time.monotonic() - started < 30
    assert int(out) > 0
    assert errors.count("spans go to") == 1
    assert "Traceback" not in errors
    (status,) = read_status(db)
    assert status["dropped"] >= int(out)


@pytest.mark.parametrize("limit", [100_000, 1_500_000])
def test_a_disk_that_has_room_again_is_written_again(limit: int, db: Path) -> None:
    """With little room everything is lost and counted; with some, the spool keeps what the database cannot."""
    out, errors = processes.run(_FULL_DISK, db, limit, "room again")
    assert "can be written again" in errors
    assert value(db, "select count(*) from spans where name = 'execute_tool lookup_order'") == 3
    assert value(db, "select max(dropped) from writers") == int(out)
    assert value(db, "select count(*) from spans") == 6 * 41 + 4 - int(out)
    assert (int(out) == 0) == (limit > 1_000_000)
    assert spool.pending(db) == []
    assert read_status(db) == []


_HELD_FOR_EVER = """
from otel_processor import instrument
installed = instrument(sys.argv[1])
tracer = trace.get_tracer("agent")
for number in range(100):
    loop(tracer, 30)
print("done", flush=True)
"""


def test_a_file_that_is_held_for_ever_costs_no_span_and_little_time(db: Path) -> None:
    """3,100 spans at once against a locked file: none lost, the agent does not wait, and its end is bounded."""
    with processes.held(db):
        started = time.monotonic()
        _, errors = processes.run(_HELD_FOR_EVER, db, env={"OTEL_BSP_MAX_QUEUE_SIZE": "8192"})
        assert time.monotonic() - started < 25
        assert errors.count("spans wait in") == 1
        assert spool.pending(db)
    processes.run(_HELD_FOR_EVER.replace("range(100)", "range(1)"), db)
    assert spool.pending(db) == []
    assert value(db, "select count(*) from spans") == value(db, "select count(distinct span_id) from spans") == 101 * 31


def test_a_ledger_bug_does_not_lose_what_was_spooled(
    provider: TracerProvider, db: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    installed = instrument(db, tracer_provider=provider)
    with processes.held(db):
        assert installed.exporter is not None
        installed.exporter._timeout = 0.1
        told = loop(provider.get_tracer("agent"), 2)
        assert installed.force_flush()
    with monkeypatch.context() as broken:
        broken.setattr(Ledger, "apply", fail)
        told += loop(provider.get_tracer("agent"), 2)
        assert installed.force_flush()
    assert set(told) <= set(stored_ids(db))
    assert spool.pending(db) == []


def test_nothing_is_printed_when_all_is_well(provider: TracerProvider, db: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    installed = instrument(db, tracer_provider=provider)
    loop(provider.get_tracer("agent"), 6)
    assert installed.force_flush()
    assert messages(caplog) == []


def test_a_trace_that_cannot_be_judged_costs_those_that_came_along_with_it_nothing(
    provider: TracerProvider, db: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    observe = RunState.observe

    def fail_for_one(state: RunState, call: Any) -> Any:
        return fail() if call.reading.tool == "poison" else observe(state, call)

    monkeypatch.setattr(RunState, "observe", fail_for_one)
    installed = instrument(db, tracer_provider=provider)
    tracer = provider.get_tracer("agent")
    for name, tool in (("first", "search"), ("bad", "poison"), ("second", "search"), ("third", "search")):
        loop(tracer, 3, name=name, tool=tool)
    assert installed.force_flush()
    assert value(db, "select count(*) from spans") == 4 * (3 + 1)
    assert rows(db, "select task, tool_calls from runs order by task") == [("first", 3), ("second", 3), ("third", 3)]
    assert [said for said in messages(caplog) if "could not be judged" in said] == ["4 spans are stored, but could not be judged"]
