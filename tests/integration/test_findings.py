"""Promises that were broken once: bursts, foreign files, other names of one file, an older copy put in its place."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest

from otel_processor import instrument
from otel_processor.errors import ConfigError, StoreError
from otel_processor.recording.recorder import Recorder
from otel_processor.store import spool
from otel_processor.store.opening import open_read_only, resolved
from tests.integration.records import SECOND, START, record, tool_record
from tests.integration.stored import rows, value

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

    from otel_processor.model import SpanRecord


def test_a_burst_of_spans_is_stored(provider: TracerProvider, db: Path) -> None:
    installed = instrument(db=db, tracer_provider=provider)
    tracer = provider.get_tracer("agent")
    for _ in range(6_000):
        tracer.start_span("step").end()
    assert installed.force_flush()
    assert value(db, "select count(*) from spans") == 6_000


def test_spans_that_found_no_room_in_the_queue_are_counted_and_told(
    provider: TracerProvider, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "32")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "32")
    installed = instrument(db=db, tracer_provider=provider)
    assert installed.exporter is not None
    tracer = provider.get_tracer("agent")
    for _ in range(3_000):
        tracer.start_span("step").end()
    assert not installed.force_flush()
    stored = value(db, "select count(*) from spans")
    assert installed.exporter.counters.dropped == 3_000 - stored > 0
    tracer.start_span("step").end()
    assert installed.force_flush(), "what was lost is told once"


@pytest.mark.parametrize("name", ["spans.json", "spans.jsonl", "spans.csv", "spans.parquet"])
def test_a_file_that_duckdb_can_read_is_no_database(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"a": 1}\n')
    recorder = Recorder(path)
    assert recorder.record([record()], timeout_seconds=1)
    assert recorder.counters.spooled == 1
    assert recorder.counters.written == 0
    assert path.read_text() == '{"a": 1}\n'


def test_a_link_is_the_file_it_leads_to(tmp_path: Path) -> None:
    db, link = tmp_path / "agents.duckdb", tmp_path / "link.duckdb"
    link.symlink_to(db)
    assert spool.folder_of(link) == spool.folder_of(db)
    assert Recorder(link).record([record()], timeout_seconds=1)
    assert value(db, "select count(*) from spans") == value(link, "select count(*) from spans") == 1


@pytest.mark.parametrize("name", ["what?.duckdb", "back\\slash.duckdb"])
def test_a_name_that_duckdb_reads_its_own_way_is_refused_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="another path"):
        resolved(tmp_path / name)


def test_a_relative_name_with_a_colon_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Recorder(":memory:").record([record()], timeout_seconds=1)
    with open_read_only(":memory:") as connection:
        assert connection.execute("select count(*) from spans").fetchone() == (1,)


def test_an_older_copy_put_in_place_of_the_file_is_noticed(tmp_path: Path) -> None:
    db, copy = tmp_path / "agents.duckdb", tmp_path / "copy.duckdb"
    calls = [tool_record("search", {"q": 1}, "nothing", at=START + number * SECOND) for number in range(6)]
    recorder = Recorder(db)
    recorder.record(calls[:1], timeout_seconds=1)
    shutil.copy(db, copy)
    for call in calls[1:5]:
        recorder.record([call], timeout_seconds=1)
    shutil.copy(copy, db)
    recorder.record(calls[5:], timeout_seconds=1)
    assert rows(db, "select step, repeats from calls order by step") == [(1, 1), (2, 2)]


def talk(minute: int) -> SpanRecord:
    """A call that is a trace of its own, in one conversation."""
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.conversation.id": "talk"}
    return record(attributes, trace=f"{minute:032x}", span=f"{minute:016x}", at=START + minute * 60 * SECOND)


@pytest.mark.parametrize("order", [(1, 2, 1, 2), (2, 1, 2, 1), (1, 1, 2, 2)])
def test_a_conversation_is_cut_the_same_whoever_writes_its_calls(tmp_path: Path, order: tuple[int, ...]) -> None:
    """Calls 25 minutes apart are one run, in one batch as through two writers."""
    db = tmp_path / "agents.duckdb"
    writers = {1: Recorder(db), 2: Recorder(db)}
    for number, writer in enumerate(order):
        writers[writer].record([talk(25 * number)], timeout_seconds=1)
    assert value(db, "select count(distinct run_id) from calls") == 1
    assert value(db, "select steps from runs") == 4


def test_a_late_call_joins_the_run_it_belongs_to(tmp_path: Path) -> None:
    """Also after others wrote, also where it lies between two runs or before one."""
    db = tmp_path / "agents.duckdb"
    for minutes in ((0,), (50,), (500,), (1_000,), (25,), (490,), (20,)):
        Recorder(db).record([talk(minute) for minute in minutes], timeout_seconds=1)
    assert rows(db, "select count(*) from calls group by run_id order by min(started_at)") == [(4,), (2,), (1,)]
    assert value(db, "select count(*) from runs") == 3


def test_a_span_delivered_again_with_a_rounded_time_counts_once(db: Path) -> None:
    recorder = Recorder(db)
    recorder.record([record(span="1" * 16, at=START)], timeout_seconds=1)
    recorder.record([record(span="1" * 16, at=START + 1)], timeout_seconds=1)
    assert value(db, "select count(*) from spans") == 1


def test_links_events_and_names_have_a_bound(db: Path) -> None:
    long = "x" * 3_000_000
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t" + long, "gen_ai.agent.name": "a" + long}
    odd = record(attributes | {"loop.run.id": "r" + long, "gen_ai.tool.call.arguments": "{}"})
    linked = [{"trace_id": "b" * 32, "span_id": "b" * 16, "attributes": {"long": long}}]
    from dataclasses import replace

    recorder = Recorder(db)
    assert recorder.record([replace(odd, links=linked, extra={"scope_attributes": {"long": long}})], timeout_seconds=5)
    longest = rows(db, "select length(links), length(extra), length(attributes), cut from spans")[0]
    assert max(longest[:3]) < 400_000
    assert {"links.0.attributes", "extra.scope_attributes"} <= set(orjson.loads(longest[3]))
    assert rows(db, "select length(tool) <= 512, length(agent) <= 512, length(run_id) <= 512 from calls") == [(True, True, True)]


def test_a_policy_that_is_none_is_refused_at_once(provider: TracerProvider, db: Path) -> None:
    with pytest.raises(ConfigError, match="Policy"):
        instrument(db=db, tracer_provider=provider, policy={"hard_loop_repeats": 2})  # type: ignore[arg-type]
