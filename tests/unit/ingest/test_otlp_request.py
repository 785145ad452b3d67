from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.ingest.otlp_json import Tally, spans_of_request
from otel_processor.model import SpanEvent, SpanRecord

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
PARENT = "00f067aa0ba902b7"
LEAST = {"traceId": TRACE, "spanId": SPAN, "startTimeUnixNano": "1700000000000000001"}


def request(*spans: Any, resource: Any = None, scope: Any = None, **scope_spans: Any) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": list(spans), **scope_spans}]}]}


def only(*spans: Any, **parts: Any) -> SpanRecord:
    (record,) = spans_of_request(request(*spans, **parts))
    return record


def value_of(value: Any) -> Any:
    return only(LEAST | {"attributes": [{"key": "k", "value": value}]}).attributes["k"]


def test_a_whole_span() -> None:
    record = only(
        LEAST
        | {
            "parentSpanId": PARENT.upper(),
            "name": "execute_tool search",
            "kind": 3,
            "endTimeUnixNano": 1700000000000000009,
            "status": {"code": 2, "message": "no backend"},
            "attributes": [{"key": "n", "value": {"intValue": "7"}}],
            "events": [{"name": "exception", "timeUnixNano": "5", "attributes": [{"key": "a", "value": {"stringValue": "b"}}]}],
            "links": [{"traceId": TRACE, "spanId": PARENT, "traceState": "k=v", "attributes": []}],
            "traceState": "a=b",
            "flags": 0x301,
            "droppedAttributesCount": 2,
            "droppedEventsCount": 0,
        },
        resource={"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
        scope={"name": "pydantic-ai", "version": "2.0", "attributes": [{"key": "s", "value": {"boolValue": True}}]},
        schemaUrl="https://example.org/1",
    )
    assert record == SpanRecord(
        trace_id=TRACE,
        span_id=SPAN,
        parent_span_id=PARENT,
        name="execute_tool search",
        kind="CLIENT",
        start_ns=1700000000000000001,
        end_ns=1700000000000000009,
        status="ERROR",
        status_message="no backend",
        service="shop",
        scope="pydantic-ai",
        scope_version="2.0",
        attributes={"n": 7},
        events=(SpanEvent("exception", 5, {"a": "b"}),),
        resource={"service.name": "shop"},
        links=({"trace_id": TRACE, "span_id": PARENT, "attributes": {}, "trace_state": "k=v"},),
        trace_state="a=b",
        parent_is_remote=True,
        extra={
            "schema_url": "https://example.org/1",
            "scope_attributes": {"s": True},
            "flags": 0x301,
            "dropped_attributes_count": 2,
        },
    )


def test_the_least_span() -> None:
    record = only(LEAST)
    assert (record.parent_span_id, record.kind, record.status, record.end_ns) == (None, "UNSPECIFIED", "UNSET", record.start_ns)
    assert (record.events, record.links, record.extra, record.parent_is_remote) == ((), (), {}, False)


def test_names_of_the_schema_are_understood() -> None:
    span = {
        "trace_id": TRACE,
        "span_id": SPAN,
        "parent_span_id": PARENT,
        "start_time_unix_nano": 5,
        "end_time_unix_nano": 6,
        "trace_state": "a=b",
        "dropped_links_count": 1,
        "attributes": [{"key": "k", "value": {"kvlist_value": {"values": [{"key": "a", "value": {"int_value": 1}}]}}}],
        "events": [{"name": "e", "time_unix_nano": 5}],
    }
    (record,) = spans_of_request({"resource_spans": [{"scope_spans": [{"spans": [span]}]}]})
    assert (record.parent_span_id, record.start_ns, record.end_ns, record.trace_state) == (PARENT, 5, 6, "a=b")
    assert (record.attributes, record.extra, record.events[0].time_ns) == ({"k": {"a": 1}}, {"dropped_links_count": 1}, 5)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (1, "INTERNAL"),
        ("2", "SERVER"),
        ("SPAN_KIND_CLIENT", "CLIENT"),
        ("producer", "PRODUCER"),
        (5, "CONSUMER"),
        (9, "UNSPECIFIED"),
        ([], "UNSPECIFIED"),
    ],
)
def test_kinds(kind: Any, name: str) -> None:
    assert only(LEAST | {"kind": kind}).kind == name


@pytest.mark.parametrize(
    ("code", "status"), [(0, "UNSET"), (1, "OK"), ("STATUS_CODE_ERROR", "ERROR"), ("2", "ERROR"), ("x", "UNSET"), (None, "UNSET")]
)
def test_statuses(code: Any, status: str) -> None:
    assert only(LEAST | {"status": {"code": code}}).status == status


def test_ids_in_base64_and_in_capitals() -> None:
    encoded = {
        "traceId": base64.b64encode(bytes.fromhex(TRACE)).decode(),
        "spanId": base64.b64encode(bytes.fromhex(SPAN)).decode(),
        "parentSpanId": PARENT.upper(),
    }
    record = only(LEAST | encoded)
    assert (record.trace_id, record.span_id, record.parent_span_id) == (TRACE, SPAN, PARENT)


@pytest.mark.parametrize("flags", [0, 1, 0x100, 0x200, "256"])
def test_a_parent_is_remote_only_when_that_is_known(flags: Any) -> None:
    assert not only(LEAST | {"flags": flags}).parent_is_remote


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"stringValue": ""}, ""),
        ({"intValue": "-5"}, -5),
        ({"intValue": 5}, 5),
        ({"doubleValue": 0.5}, 0.5),
        ({"doubleValue": "Infinity"}, float("inf")),
        ({"boolValue": False}, False),
        ({"bytesValue": "YWI="}, b"ab"),
        ({"arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "a"}, {}]}}, [1, "a", None]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"arrayValue": {"values": [{"boolValue": True}]}}}]}}, {"a": [True]}),
        ({}, None),
        (None, None),
        ({"intValue": "many"}, None),
        ({"intValue": "9" * 9000}, None),
        ({"intValue": str(2**63)}, None),
        ({"bytesValue": "?"}, None),
        ({"newValue": 1}, None),
        ("text", None),
    ],
)
def test_attribute_values(value: Any, expected: Any) -> None:
    assert value_of(value) == expected


@pytest.mark.parametrize(
    "broken",
    [
        {"traceId": None},
        {"traceId": "abc"},
        {"traceId": "0" * 32},
        {"traceId": "g" * 32},
        {"spanId": 7},
        {"spanId": "0" * 16},
        {"startTimeUnixNano": None},
        {"startTimeUnixNano": "soon"},
        {"startTimeUnixNano": -5},
        {"startTimeUnixNano": 2**64},
        {"startTimeUnixNano": []},
    ],
)
def test_a_malformed_span_is_counted_and_the_others_are_read(broken: dict[str, Any]) -> None:
    tally = Tally()
    records = list(spans_of_request(request(LEAST | broken, 7, LEAST), tally))
    assert [record.span_id for record in records] == [SPAN]
    assert (tally.spans, tally.malformed_spans) == (1, 2)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from([TRACE, SPAN, "5"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [*LEAST, "resourceSpans", "scopeSpans", "resource", "scope", "spans", "attributes", "key", "value", "values"]
            )
            | st.sampled_from(
                ["events", "links", "status", "code", "flags", "kind", "arrayValue", "kvlistValue", "intValue", "bytesValue"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(
    st.dictionaries(st.sampled_from([*LEAST, "attributes", "events", "links", "status", "kind", "flags", "name"]), json_values),
    json_values,
)
def test_nothing_raises(fields: dict[str, Any], anything: Any) -> None:
    list(spans_of_request(request(LEAST | fields, fields, anything, resource=anything, scope=anything, schemaUrl=anything)))
    list(spans_of_request({"resourceSpans": anything}))
    list(spans_of_request({"resourceSpans": [{"scopeSpans": anything}, anything]}))
