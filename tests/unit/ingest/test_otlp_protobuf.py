"""Protobuf and JSON make the same records, and nothing of a span is left behind."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from otel_processor.errors import TelemetryFormatError
from otel_processor.ingest import otlp_json, otlp_protobuf
from otel_processor.ingest.origin import Tally
from otel_processor.ingest.otlp_request import spans_of_request
from otel_processor.model import SpanRecord
from otel_processor.recording.span_rows import append_row, span_of_row
from otel_processor.store.columns import SPANS

ONLY_IN_PROFILES = {"AnyValue.string_value_strindex", "KeyValue.key_strindex"}
"""Indexes into a table of texts that trace requests do not have; the schema forbids them there."""

FIXED: dict[str, Any] = {
    "Span.trace_id": bytes(range(1, 17)),
    "Span.span_id": bytes(range(21, 29)),
    "Span.parent_span_id": bytes(range(31, 39)),
    "Link.trace_id": bytes(range(41, 57)),
    "Link.span_id": bytes(range(61, 69)),
    "Span.kind": Span.SPAN_KIND_CONSUMER,
    "Status.code": Status.STATUS_CODE_ERROR,
    "AnyValue.bool_value": True,
    "AnyValue.bytes_value": b"bytes of a value",
}
STORED = {"Span.kind": "CONSUMER", "Status.code": "ERROR", "AnyValue.bool_value": "true"}


class Filled:
    """A request in which every field of the schema says something that nothing else says."""

    def __init__(self) -> None:
        self.wanted: dict[str, str] = {}
        self._numbers = itertools.count(1)
        self.request = ExportTraceServiceRequest()
        self._fill(self.request)

    def _fill(self, message: Any) -> None:
        descriptor: Descriptor = message.DESCRIPTOR
        for field in descriptor.fields:
            name = f"{descriptor.name}.{field.name}"
            if name in ONLY_IN_PROFILES:
                continue
            if name == "KeyValue.value":
                # Each attribute is a list of one value of each kind.
                for kind in AnyValue.DESCRIPTOR.fields:
                    if f"AnyValue.{kind.name}" not in ONLY_IN_PROFILES:
                        self._fill_value(message.value.array_value.values.add(), kind)
            elif field.message_type is not None:
                self._fill(getattr(message, field.name).add() if field.is_repeated else getattr(message, field.name))
            elif field.is_repeated:
                getattr(message, field.name).append(self._leaf(name, field))
            else:
                setattr(message, field.name, self._leaf(name, field))

    def _fill_value(self, value: AnyValue, kind: FieldDescriptor) -> None:
        if kind.name == "array_value":
            value.array_value.values.add().string_value = self._text("ArrayValue.values")
        elif kind.name == "kvlist_value":
            pair = value.kvlist_value.values.add()
            pair.key = self._text("KeyValueList.values")
            pair.value.string_value = "x"
        else:
            setattr(value, kind.name, self._leaf(f"AnyValue.{kind.name}", kind))

    def _text(self, name: str) -> str:
        self.wanted[name] = f"told-{next(self._numbers)}"
        return self.wanted[name]

    def _leaf(self, name: str, field: FieldDescriptor) -> Any:
        if name in FIXED:
            value = FIXED[name]
            is_id = isinstance(value, bytes) and name.endswith("_id")
            self.wanted[name] = STORED.get(name) or (value.hex() if is_id else "Ynl0ZXMgb2YgYSB2YWx1ZQ")
            return value
        if field.type == FieldDescriptor.TYPE_STRING:
            return self._text(name)
        if field.type == FieldDescriptor.TYPE_DOUBLE:
            self.wanted[name] = "0.8125"
            return 0.8125
        number = 910_000_000 + next(self._numbers)
        self.wanted[name] = str(number)
        return number


def stored_text(record: SpanRecord) -> str:
    columns = SPANS.empty()
    assert append_row(columns, record, 0) == 0
    return "\n".join(str(values[0]) for values in columns.values())


def test_every_field_of_the_schema_is_stored() -> None:
    """Whatever the schema has a field for is found in the row of `spans`; a field that is added to the schema fails here."""
    filled = Filled()
    (record,) = otlp_protobuf.spans_of_message(filled.request)
    text = stored_text(record)
    assert len(filled.wanted) > 35
    missing = {name for name, wanted in filled.wanted.items() if wanted not in text}
    assert missing == set()


def test_a_row_is_the_same_span_again() -> None:
    """Also what has no column of its own comes back from the row."""
    (record,) = otlp_protobuf.spans_of_message(Filled().request)
    columns = SPANS.empty()
    append_row(columns, record, 0)
    again = span_of_row({name: values[0] for name, values in columns.items()})
    assert stored_text(again) == stored_text(record)
    assert again.events[0].dropped_attributes == record.events[0].dropped_attributes > 0


def _array(items: list[AnyValue]) -> AnyValue:
    value = AnyValue()
    value.array_value.values.extend(items)
    value.array_value.SetInParent()
    return value


def _pairs(pairs: list[tuple[str, AnyValue]]) -> AnyValue:
    value = AnyValue()
    value.kvlist_value.SetInParent()
    for key, inner in pairs:
        value.kvlist_value.values.add(key=key, value=inner)
    return value


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
whole = st.integers(-(2**63), 2**63 - 1)
values = st.recursive(
    st.one_of(
        st.just(AnyValue()),
        texts.map(lambda text: AnyValue(string_value=text)),
        whole.map(lambda number: AnyValue(int_value=number)),
        st.booleans().map(lambda truth: AnyValue(bool_value=truth)),
        st.floats(allow_nan=False).map(lambda number: AnyValue(double_value=number)),
        st.binary(max_size=6).map(lambda raw: AnyValue(bytes_value=raw)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(_array),
        st.lists(st.tuples(texts, inner), max_size=3).map(_pairs),
    ),
    max_leaves=5,
)
attributes = st.lists(st.builds(lambda key, value: KeyValue(key=key, value=value), texts, values), max_size=3)
trace_ids = st.one_of(st.binary(min_size=16, max_size=16), st.just(bytes(16)), st.binary(max_size=4))
span_ids = st.one_of(st.binary(min_size=8, max_size=8), st.just(bytes(8)), st.binary(max_size=4))
counts = st.integers(0, 2**32 - 1)
times = st.one_of(st.integers(0, 2**63 - 1), st.integers(0, 2**64 - 1), st.just(0))
events = st.builds(Span.Event, time_unix_nano=times, name=texts, attributes=attributes, dropped_attributes_count=counts)
links = st.builds(
    Span.Link,
    trace_id=trace_ids, span_id=span_ids, trace_state=texts, attributes=attributes, dropped_attributes_count=counts, flags=counts,
)  # fmt: skip
spans = st.builds(
    Span,
    trace_id=trace_ids, span_id=span_ids, parent_span_id=span_ids, trace_state=texts, flags=counts, name=texts,
    kind=st.integers(0, 9), start_time_unix_nano=times, end_time_unix_nano=times, attributes=attributes,
    dropped_attributes_count=counts, events=st.lists(events, max_size=2), dropped_events_count=counts,
    links=st.lists(links, max_size=2), dropped_links_count=counts,
    status=st.builds(Status, message=texts, code=st.integers(0, 5)),
)  # fmt: skip


@st.composite
def requests(draw: st.DrawFn) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    for _ in range(draw(st.integers(0, 2))):
        resource = request.resource_spans.add(schema_url=draw(texts))
        resource.resource.attributes.extend(draw(attributes))
        resource.resource.attributes.add(key="service.name").value.CopyFrom(draw(values))
        resource.resource.dropped_attributes_count = draw(counts)
        resource.resource.entity_refs.add(type=draw(texts), schema_url=draw(texts), id_keys=draw(st.lists(texts, max_size=2)))
        scope = resource.scope_spans.add(schema_url=draw(texts))
        scope.scope.name, scope.scope.version = draw(texts), draw(texts)
        scope.scope.attributes.extend(draw(attributes))
        scope.scope.dropped_attributes_count = draw(counts)
        scope.spans.extend(draw(st.lists(spans, max_size=3)))
    return request


@given(requests())
def test_both_encodings_say_the_same(request: ExportTraceServiceRequest) -> None:
    """The spans of a request in protobuf equal those of the same request in JSON, and as many are left out."""
    tallies = Tally(), Tally()
    of_protobuf = list(otlp_protobuf.spans_of_body(request.SerializeToString(), tallies[0]))
    of_json = list(spans_of_request(MessageToDict(request), tallies[1]))
    assert of_protobuf == of_json
    assert tallies[0] == tallies[1]


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    """Whatever comes is spans or an error of ours, in both encodings."""
    for read in (otlp_protobuf.spans_of_body, otlp_json.spans_of_body):
        try:
            list(read(body, Tally()))
        except TelemetryFormatError:
            continue


@pytest.mark.parametrize("body", [b"", b"[]", b"7", b"{", b'{"resourceSpans": {}}', b"\xff\xfe"])
def test_what_is_no_request_in_json_is_refused(body: bytes) -> None:
    """The sender is told that it sends something else."""
    with pytest.raises(TelemetryFormatError):
        list(otlp_json.spans_of_body(body, Tally()))


@pytest.mark.parametrize("place", ["resource", "scope"])
def test_values_nested_beyond_reason_cost_their_spans_only(place: str) -> None:
    """They are counted as left out; the other spans are read."""
    deep = '{"arrayValue":{"values":[' * 330 + "]}}" * 330
    attribute = f'"{place}":{{"attributes":[{{"key":"a","value":{deep}}}]}}'
    span = '{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","startTimeUnixNano":"7"}'
    resource = attribute + "," if place == "resource" else ""
    scope = attribute + "," if place == "scope" else ""
    bad = f'{{{resource}"scopeSpans":[{{{scope}"spans":[{span},{span}]}}]}}'
    good = f'{{"scopeSpans":[{{"spans":[{span}]}}]}}'
    tally = Tally()
    found = list(otlp_json.spans_of_body(f'{{"resourceSpans":[{bad},{good}]}}'.encode(), tally))
    assert (len(found), tally.malformed_spans) in {(1, 2), (3, 0)}
