"""Log records and spans of one session in any batches, any order, and with any of them missing: the same rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_processor.ingest.log_json import logs_of_request
from otel_processor.ingest.origin import Tally
from otel_processor.ingest.otlp_request import spans_of_request
from otel_processor.model import Role, SpanRecord
from tests.made_logs import START, WRITERS, claude_code
from tests.unit.runs.small_store import SmallStore


def everything_of(writer: str, *, traced: bool) -> list[SpanRecord]:
    """Two sessions that go on at the same time, of which the second begins a little later."""
    sessions = [WRITERS[writer](traced=traced), WRITERS[writer](traced=traced, start=START + 30_000_000, **{
        "claude_code": {"prompt": "p-2"}, "codex": {"conversation": "c-2"}, "gemini_cli": {"session": "g-2"},
    }[writer])]  # fmt: skip
    tally = Tally()
    return [
        span
        for session in sessions
        for span in (*logs_of_request(session.logs_request(), tally), *spans_of_request(session.traces_request(), tally))
    ]


EVERYTHING = {(writer, traced): everything_of(writer, traced=traced) for writer in WRITERS for traced in (True, False)}


def stored(*batches: list[SpanRecord]) -> tuple[Any, ...]:
    store = SmallStore()
    for batch in batches:
        store.record(batch)
    # A run that lost all that belonged to it leaves no row, as in the database.
    return store.outcomes(), store.traces, {run_id: run for run_id, run in store.runs.items() if run.last_ns >= 0}


@st.composite
def deliveries(draw: st.DrawFn) -> list[list[SpanRecord]]:
    spans = EVERYTHING[draw(st.sampled_from(sorted(EVERYTHING)))]
    lost = draw(st.sets(st.integers(0, len(spans) - 1), max_size=12))
    order = draw(st.permutations([span for number, span in enumerate(spans) if number not in lost]))
    cuts = sorted(draw(st.sets(st.integers(1, len(order)), max_size=5)))
    return [order[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(order)], strict=True)]


@settings(max_examples=60, deadline=None)
@given(deliveries())
def test_rows_do_not_depend_on_how_logs_and_spans_came(batches: list[list[SpanRecord]]) -> None:
    assert stored(*batches) == stored([span for batch in batches for span in batch])


@pytest.mark.parametrize("writer", WRITERS)
def test_each_call_of_two_sessions_counts_once(writer: str) -> None:
    alone, beside = (stored(EVERYTHING[writer, traced])[0] for traced in (False, True))
    assert len(alone) == len(beside) == 18
    told = [
        sorted((call.kind, call.reading.input_tokens or 0, str(call.reading.arguments)) for _, call, _ in outcomes.values())
        for outcomes in (alone, beside)
    ]
    assert told[0] == told[1]


def test_a_span_without_its_record_and_a_record_without_its_span_are_two_calls() -> None:
    spans = EVERYTHING["claude_code", True]
    first = next(span for span in spans if span.name == "claude_code.llm_request")
    last = [span for span in spans if span.name == "claude_code.api_request"][4]
    calls = stored([first, last])[0]
    assert {key[1] for key in calls} == {first.span_id, last.span_id}


@pytest.mark.parametrize("by_ms", [-400, 400])
def test_the_nearest_span_is_the_one_that_a_record_without_an_id_tells(by_ms: int) -> None:
    """Also where it comes after the record and another span, which were together until then."""
    spans = EVERYTHING["gemini_cli", True]
    near = next(span for span in spans if span.name == "llm_call")
    record = next(span for span in spans if span.name == "gemini_cli.api_response")
    start_ns, end_ns = near.start_ns + by_ms * 1_000_000, near.end_ns + by_ms * 1_000_000
    far = replace(near, span_id="e" * 16, trace_id="e" * 32, start_ns=start_ns, end_ns=end_ns)
    for order in permutations([near, far, record]):
        calls = stored(*([span] for span in order))[0]
        told = {key[1]: call.reading.reasoning_tokens for key, (_, call, _) in calls.items()}
        assert told == {near.span_id: 7, far.span_id: None}


def test_a_span_in_its_records_place_does_not_hide_that_something_older_came_with_it() -> None:
    """The call that comes late lies before all that can be folded again."""
    session = claude_code(traced=True)
    asked = [span for span in logs_of_request(session.logs_request(), Tally()) if span.name == "claude_code.api_request"]
    told = [span for span in spans_of_request(session.traces_request()) if span.name == "claude_code.llm_request"]
    batches = [[asked[1], told[1], asked[2]], [told[2], asked[0]]]
    assert stored(*batches) == stored([span for batch in batches for span in batch])


@pytest.mark.parametrize("first", ["logs", "spans"])
@pytest.mark.parametrize("writer", WRITERS)
def test_logs_and_spans_that_come_in_turns_are_joined_as_they_come(writer: str, first: str) -> None:
    """Every two seconds each exporter sends what it has: the rows are right, and hardly anything is decided anew for it."""
    session = WRITERS[writer](traced=True, turns=[f"{number}.txt" for number in range(30)])
    records = list(logs_of_request(session.logs_request(), Tally()))
    spans = list(spans_of_request(session.traces_request()))
    store = SmallStore()
    for begin in range(START - 2_000_000_000, START + 50_000_000_000, 2_000_000_000):
        for sent in (records, spans) if first == "logs" else (spans, records):
            store.record([span for span in sent if begin <= span.end_ns < begin + 2_000_000_000])
    assert (store.outcomes(), store.traces, store.runs) == stored(records + spans)
    assert len(store.calls) == 61
    assert store.decided_anew <= 8


def test_what_a_model_said_is_told_by_another_record() -> None:
    tally = Tally()
    records = list(logs_of_request(claude_code(traced=False).logs_request(), tally))
    calls = stored(records[::2], records[1::2])[0]
    said = {call.reading.text for _, call, _ in calls.values() if call.kind is Role.MODEL}
    assert said == {f"Let me look, {number}." for number in range(5)}
