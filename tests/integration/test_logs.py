"""Coding agents' log records, alone and beside their spans: loops are seen, a call and its cost count once."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from otel_processor.ingest.log_json import logs_of_request
from otel_processor.ingest.origin import Tally
from otel_processor.ingest.otlp_request import spans_of_request
from otel_processor.policy import Policy
from otel_processor.recording.recorder import Recorder
from otel_processor.recording.replaying import Replay
from tests.integration.stored import CALLS, RUNS, rows, value
from tests.made_logs import START, TURNS, WRITERS, claude_code, codex, gemini_cli

if TYPE_CHECKING:
    from pathlib import Path

    from otel_processor.model import SpanRecord
    from tests.made_logs import Session

LOOP = "loop_detected:repeated_tool_signature"
TOKENS = (
    "select step, kind, input_tokens, output_tokens, cache_read_tokens, reasoning_tokens, cost_usd, model from calls order by all"
)
USED = "select input_tokens, output_tokens, cache_read_tokens, reasoning_tokens, model from calls where kind = 'model'"
DECIDED_BY = "select trace_id, run_id, decided_by from trace_runs order by all"


def records_of(session: Session) -> list[SpanRecord]:
    return list(logs_of_request(session.logs_request(), Tally()))


def spans_of(session: Session) -> list[SpanRecord]:
    return list(spans_of_request(session.traces_request()))


def written(db: Path, *batches: list[SpanRecord]) -> Path:
    recorder = Recorder(db)
    for batch in batches:
        assert recorder.record(batch, timeout_seconds=10)
    return db


def tables(db: Path) -> list[list[tuple[Any, ...]]]:
    return [rows(db, query) for query in (CALLS, RUNS, TOKENS, DECIDED_BY, "select * from run_totals order by all")]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_loop_is_seen_in_logs_alone(writer: str, tmp_path: Path) -> None:
    db = written(tmp_path / "agents.duckdb", records_of(WRITERS[writer](traced=False)))
    ((task, steps, tools, models, flagged),) = rows(db, "select task, steps, tool_calls, model_calls, flagged_reason from runs")
    assert (task, steps, tools, models, flagged) == (writer.replace("_", "-"), 5, 4, 5, LOOP)
    assert rows(db, "select pattern, count(*) from alerts group by all") == [("hard_loop", 1)]
    assert rows(db, "select repeats, is_error from calls where kind = 'tool' order by step")[:3] == [
        (1, False),
        (2, False),
        (3, False),
    ]
    assert rows(db, "select distinct dialect from calls") == [(f"{writer}_log",)]


def test_what_claude_code_says_that_a_request_cost_is_its_cost(tmp_path: Path) -> None:
    db = written(tmp_path / "agents.duckdb", records_of(claude_code(traced=False)))
    assert value(db, "select cost_usd from runs") == pytest.approx(0.001 * 5 + 0.001)
    assert value(db, "select tokens from runs") == sum(100 + n + 20 for n in range(5))
    assert rows(db, "select run_id, is_error, error_message from calls where is_error") == [("p-1", True, "File does not exist.")]


def test_prompts_of_one_claude_code_session_are_runs_of_their_own(tmp_path: Path) -> None:
    sessions = [claude_code(traced=False, prompt=f"p-{n}", start=START + n * 20_000_000_000) for n in range(3)]
    db = written(tmp_path / "agents.duckdb", [record for session in sessions for record in records_of(session)])
    assert rows(db, "select run_id, tool_calls from runs order by run_id") == [("p-0", 4), ("p-1", 4), ("p-2", 4)]
    assert value(db, "select count(distinct conversation_id) from run_rows") == 1


def test_a_codex_session_is_a_run_and_what_it_used_is_priced(tmp_path: Path) -> None:
    db = written(tmp_path / "agents.duckdb", records_of(codex(traced=False)))
    assert rows(db, "select progress from calls where kind = 'tool' order by step") == [(True,), (False,), (False,), (True,)]
    assert rows(db, f"{USED} order by 1") == [(100 + n, 20, 50, 7, "gpt-5") for n in range(5)]
    assert value(db, "select count(*) from calls where kind = 'model' and cost_source = 'price_list' and cost_usd > 0") == 5


@pytest.mark.parametrize("order", ["logs first", "spans first"])
@pytest.mark.parametrize("writer", WRITERS)
def test_spans_and_logs_of_one_session_tell_each_call_once(writer: str, order: str, tmp_path: Path) -> None:
    session = WRITERS[writer](traced=True)
    records, spans = records_of(session), spans_of(session)
    batches = {"logs first": [records, spans], "spans first": [spans, records]}[order]
    db = written(tmp_path / "agents.duckdb", *batches)
    assert rows(db, "select tool_calls, model_calls, flagged_reason from runs") == [(4, 5, LOOP)]
    # The span is what stands for the call.
    ids = {span.span_id for span in spans}
    assert {span_id for (span_id,) in rows(db, "select span_id from calls")} <= ids
    key = "cmd" if writer == "codex" else "file_path"
    told = [f"cat {name}" if writer == "codex" else name for name in TURNS]
    assert [row for (row,) in rows(db, f"select arguments->>'{key}' from calls where kind = 'tool' order by step")] == told
    assert value(db, "select count(*) from spans") == len(records) + len(spans)


def test_what_only_logs_tell_is_added_to_the_calls_of_spans(tmp_path: Path) -> None:
    claude = claude_code(traced=True)
    db = written(tmp_path / "claude.duckdb", spans_of(claude), records_of(claude))
    assert value(db, "select cost_usd from runs") == pytest.approx(0.006)
    assert value(db, "select tokens from runs") == sum(100 + n + 20 for n in range(5))
    gemini = gemini_cli(traced=True)
    db = written(tmp_path / "gemini.duckdb", records_of(gemini) + spans_of(gemini))
    assert rows(db, f"{USED} order by 1") == [(100 + n, 27, 50, 7, "gemini-2.5-pro") for n in range(5)]
    # With thoughts the count is whole, and has a price.
    assert value(db, "select cost_usd > 0 from runs")


@pytest.mark.parametrize("writer", WRITERS)
def test_rows_are_the_same_in_whatever_order_logs_and_spans_come(writer: str, tmp_path: Path) -> None:
    session = WRITERS[writer](traced=True)
    everything = records_of(session) + spans_of(session)
    at_once = tables(written(tmp_path / "at_once.duckdb", everything))
    random.Random(writer).shuffle(everything)
    size = len(everything) // 3
    db = written(tmp_path / "shuffled.duckdb", *(everything[at : at + size] for at in range(0, len(everything), size)))
    assert tables(db) == at_once
    for _ in Replay(db, Policy(), clock=lambda: START).run(timeout_seconds=10):
        pass
    assert tables(db) == at_once


def test_what_is_sent_again_counts_once(tmp_path: Path) -> None:
    records = records_of(codex(traced=False))
    db = written(tmp_path / "agents.duckdb", records, list(reversed(records)), records[3:])
    assert value(db, "select count(*) from spans") == len(records)
    assert rows(db, "select tool_calls, model_calls from runs") == [(4, 5)]


def test_a_run_of_plain_spans_is_no_business_of_logs(tmp_path: Path) -> None:
    """A record and a span of other writers that end together are two calls."""
    session = codex(traced=False)
    other = [span for span in spans_of(gemini_cli(traced=True, session="c-1")) if "ask" in span.name or "llm" in span.name]
    db = written(tmp_path / "agents.duckdb", records_of(session) + other)
    assert value(db, "select sum(model_calls) from runs") == 10
