from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.dialects.names import VALUE_LIMIT
from otel_processor.model import Alert, SpanEvent, SpanRecord, StopReason
from otel_processor.policy import Policy
from otel_processor.pricing import Pricer
from otel_processor.recording.bounds import MAX_VALUE_CHARS
from otel_processor.recording.delta_rows import alert_columns, call_columns, run_columns, trace_columns
from otel_processor.recording.preparing import Batch, batch_of_columns, kept_evidence, prepare
from otel_processor.recording.span_rows import append_row, spans_of_columns
from otel_processor.recording.spooling import batch_of_spooled, spooled_columns
from otel_processor.runs.ledger import Ledger
from otel_processor.runs.records import Delta, ReadSpan
from otel_processor.store.columns import CALLS, RUNS, SPANS, dump
from tests.unit.factory import agent_span, exception_event, make_span, model_span, read, tool_span

TEXT = st.text(max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
ATTRIBUTES = st.dictionaries(TEXT, JSON, max_size=4)
SPAN = st.builds(
    SpanRecord,
    trace_id=st.text("0123456789abcdef", min_size=32, max_size=32),
    span_id=st.text("0123456789abcdef", min_size=16, max_size=16),
    parent_span_id=st.none() | st.just("ab" * 8),
    name=TEXT,
    kind=st.sampled_from(["INTERNAL", "CLIENT"]),
    start_ns=st.integers(0, 2**63 - 1),
    end_ns=st.integers(0, 2**63 - 1),
    status=st.sampled_from(["UNSET", "OK", "ERROR"]),
    status_message=TEXT,
    service=TEXT,
    scope=TEXT,
    scope_version=TEXT,
    attributes=ATTRIBUTES,
    events=st.lists(st.builds(SpanEvent, TEXT, st.integers(0, 2**63 - 1), ATTRIBUTES), max_size=3),
    resource=ATTRIBUTES,
    links=st.lists(ATTRIBUTES, max_size=2),
    trace_state=TEXT,
    parent_is_remote=st.booleans(),
    extra=st.dictionaries(TEXT.filter(lambda key: key != "parent_is_remote"), JSON, max_size=2),
)


def through_the_spool(batch: Batch) -> Batch:
    """The batch as it comes back from disk."""
    text = "{" + ",".join(f'"{name}":{dump(columns)}' for name, columns in spooled_columns(batch).items()) + "}"
    return batch_of_spooled(orjson.loads(text), Policy())


def decide(reads: Sequence[ReadSpan]) -> Delta:
    return Ledger(Policy()).apply(reads)


@given(SPAN)
def test_a_span_comes_back_from_its_row_as_it_was(span: SpanRecord) -> None:
    columns = SPANS.empty()
    assert append_row(columns, span, 1) == 0
    (back,) = spans_of_columns(columns)
    extra = {**span.extra, "parent_is_remote": True} if span.parent_is_remote else span.extra
    assert back == replace(span, extra=extra)


@given(st.lists(SPAN, max_size=3))
def test_a_batch_comes_back_from_the_spool_as_it_was(spans: list[SpanRecord]) -> None:
    batch = prepare(spans, Policy())
    back = through_the_spool(batch)
    assert back.columns == batch.columns
    assert [item.reading for item in back.reads] == [item.reading for item in batch.reads]


def test_texts_are_cut_to_what_a_row_holds() -> None:
    columns = SPANS.empty()
    long = "x" * 100_000
    append_row(columns, make_span("a", name=long, status_message=long, events=[SpanEvent(long, -5, {})] * 1_500), 1)
    (back,) = spans_of_columns(columns)
    assert (len(back.name), len(back.status_message), len(back.events)) == (1_024, 16_384, 1_000)
    assert (len(back.events[0].name), back.events[0].time_ns) == (1_024, 0)
    assert orjson.loads(columns["cut"][0]) == {"events": {"kept": 1_000, "of": 1_500}}


@pytest.mark.parametrize("time", [-1, 2**63, 10**30])
def test_times_out_of_range_are_brought_into_it(time: int) -> None:
    columns = SPANS.empty()
    append_row(columns, replace(make_span("a"), start_ns=time, end_ns=time), 1)
    (back,) = spans_of_columns(columns)
    assert 0 <= back.start_ns <= 2**63 - 1


def test_a_span_that_no_row_can_be_made_of_stops_no_other() -> None:
    broken = replace(make_span("broken"), name=None)  # type: ignore[arg-type]
    batch = prepare([make_span("a"), broken, make_span("b")], Policy())
    assert [item.span.span_id for item in batch.reads] == ["a", "b"]
    assert batch.unusable == 1
    assert {len(values) for values in batch.columns.values()} == {2}


# Content that was cut is still compared as it was.

BIG = "é" * MAX_VALUE_CHARS


def altered_calls() -> list[SpanRecord]:
    return [
        tool_span("arguments", f"search:{BIG}one=found", at=0),
        tool_span("other arguments", f"search:{BIG}two=found", at=2),
        tool_span("result", f"fetch:a={BIG} one", at=4),
        tool_span("other result", f"fetch:a={BIG} and another end", at=6),
        make_span("plain", {"note": f"{BIG}!"}, at=8),
        model_span("model", more={"note": f"{BIG}!"}, at=10),
    ]


def uncut(spans: Sequence[SpanRecord]) -> list[ReadSpan]:
    """What would be compared if nothing were cut."""
    return [read(span) for span in spans]


def compared(delta: Delta) -> list[tuple[object, ...]]:
    return [(recorded.call.signature, recorded.call.evidence, recorded.outcome) for recorded in delta.calls]


def test_cut_calls_are_compared_as_they_were() -> None:
    batch = prepare(altered_calls(), Policy())
    assert batch.cut == 6
    delta = decide(batch.reads)
    assert len({recorded.call.signature for recorded in delta.calls[:2]}) == 2
    assert compared(delta) == compared(decide(uncut(altered_calls())))
    assert compared(decide(through_the_spool(batch).reads)) == compared(delta)


def test_cut_calls_are_compared_as_they_were_when_they_are_decided_anew_from_their_rows() -> None:
    batch = prepare(altered_calls(), Policy())
    columns = call_columns(decide(batch.reads).calls, Pricer(Policy()))
    kept = {
        (trace_id, span_id): kept_evidence(signature, text)
        for trace_id, span_id, signature, text in zip(
            *(columns[name] for name in ("trace_id", "span_id", "signature", "evidence")), strict=True
        )
        if text is not None
    }
    again = batch_of_columns(batch.columns, Policy(), kept)
    assert compared(decide(again.reads)) == compared(decide(uncut(altered_calls())))


def test_two_spans_of_one_call_keep_what_either_was_compared_by() -> None:
    server = tool_span("server", f"search:{BIG}one", parent="client")
    client = tool_span("client", f"search={BIG} result", seconds=2)
    batch = prepare([server, client], Policy())
    expected = compared(decide(uncut([server, client])))
    assert compared(decide(batch.reads)) == expected
    assert compared(decide(through_the_spool(batch).reads)) == expected


# Content that the SDK cut is not known.


def cut_by_sdk(limit: int, arguments: str, result: str) -> SpanRecord:
    span = tool_span("call", "search")
    texts = {"gen_ai.tool.call.arguments": arguments[:limit], "gen_ai.tool.call.result": result[:limit]}
    return replace(span, attributes={**span.attributes, **texts}, extra={VALUE_LIMIT: limit})


@pytest.mark.parametrize("limit", [64, 100_000])
def test_values_that_the_sdk_cut_count_as_unknown(limit: int) -> None:
    batch = prepare([cut_by_sdk(limit, json.dumps({"q": "x" * 200_000}), "y" * 200_000)], Policy())
    for reads in (batch.reads, through_the_spool(batch).reads):
        (recorded,) = decide(reads).calls
        assert (recorded.call.signature, recorded.call.evidence, recorded.outcome.progress) == (None, None, None)


def test_values_below_the_sdks_limit_are_known() -> None:
    batch = prepare([cut_by_sdk(64, json.dumps({"q": "cats"}), "found")], Policy())
    (recorded,) = decide(batch.reads).calls
    assert recorded.call.signature is not None
    assert recorded.call.evidence is not None


def test_a_short_result_that_stands_in_a_cut_value_is_known() -> None:
    (recorded,) = decide(prepare([cut_by_sdk(64, json.dumps({"q": "found " * 50}), "found")], Policy()).reads).calls
    assert recorded.call.signature is None
    assert recorded.call.evidence is not None


# What was decided, as columns.


def test_every_column_of_a_decision_has_a_value_for_each_row() -> None:
    spans = [
        model_span("model", parent="root", requests=[("c1", "search", "cats")]),
        tool_span("call", "search=x", call_id="c1", parent="root", at=1),
        make_span(
            "failed",
            {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "fetch"},
            parent="root",
            at=2,
            status="ERROR",
            events=[exception_event("TimeoutError", "timed out")],
        ),
        agent_span("root", seconds=9),
    ]
    delta = decide(prepare(spans, Policy()).reads)
    calls, runs, traces = (
        call_columns(delta.calls, Pricer(Policy())),
        run_columns(delta.runs),
        trace_columns(delta.traces),
    )
    assert list(calls) == list(CALLS.given)
    assert list(runs) == list(RUNS.given)
    assert calls["span_id"] == ["model", "call", "failed"]
    assert calls["arguments"] == [None, '{"q":"cats"}', None]
    assert calls["tool"] == [None, "search", "fetch"]
    assert calls["error_class"] == [None, None, "transient"]
    assert calls["evidence"] == [None, None, None]
    assert (runs["task"], runs["policy_hash"], runs["status"]) == (["clerk"], [Policy().hash], ["ok"])
    assert traces == {"trace_id": ["t1"], "run_id": ["t1"], "decided_by": ["agent_root"]}
    for columns in (calls, runs, traces):
        orjson.loads(dump(columns))


def _alerts() -> list[Alert]:
    return decide(prepare([tool_span(f"call {number}", at=number) for number in range(5)], Policy()).reads).alerts


def test_alerts_come_back_from_the_spool_as_they_were() -> None:
    alerts = _alerts()
    assert [alert.verdict.stop_reason for alert in alerts] == [StopReason.REPEATED_SIGNATURE, None]
    resolved = [replace(alert, resolved_ns=99) for alert in alerts]
    back = through_the_spool(Batch(alerts=[*alerts, *resolved])).alerts
    assert back == [*alerts, *resolved]
    assert alert_columns(back) == alert_columns([*alerts, *resolved])


def test_what_is_too_long_or_too_large_for_a_column_is_brought_into_it() -> None:
    long = "x" * 300_000
    span = tool_span("call", f"{'t' * 9_000}:{long}={long}", call_id="c" * 9_000)
    columns: dict[str, list[Any]] = call_columns(decide(prepare([span], Policy()).reads).calls, Pricer(Policy()))
    assert len(columns["tool"][0]) <= 512 >= len(columns["call_id"][0])
    assert len(columns["arguments"][0]) == len(columns["result"][0]) == MAX_VALUE_CHARS
    assert orjson.loads(columns["evidence"][0])["length"] == 300_000
