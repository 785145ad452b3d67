"""Whatever a span holds, the host goes on and the span is stored."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_processor import DuckDBSpanExporter, LoopSpanProcessor
from otel_processor.detection.fingerprint import examine
from otel_processor.detection.signature import sign
from otel_processor.model import SpanEvent
from otel_processor.recording.recorder import Recorder
from tests.integration.agents import agent, call_tool, tool_attributes
from tests.integration.records import START, record, tool_record
from tests.integration.stored import rows, stored_ids, value

if TYPE_CHECKING:
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

DEEP = 10_000


def nested(depth: int) -> list[Any]:
    """Lists in lists."""
    innermost: list[Any] = []
    for _ in range(depth):
        innermost = [innermost]
    return innermost


def endless() -> dict[str, Any]:
    """A mapping that contains itself."""
    made: dict[str, Any] = {}
    made["itself"] = made
    return made


class Unprintable:
    """An object that cannot even be written as text."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


VALUES: dict[str, Any] = {
    "nothing": None,
    "a number": 7,
    "a big number": 10**400,
    "a huge number": 10**5_000,
    "true": True,
    "not a number": math.nan,
    "infinite": -math.inf,
    "bytes": b"\xff\x00",
    "a tuple": ("a", None, 1.5, True),
    "mixed keys": {1: "a", None: "b", (1, 2): "c"},
    "a set": {"a", "b"},
    "an object": object(),
    "broken JSON": '{"q": [1, 2',
    "JSON of NaN": '{"q": NaN, "r": [Infinity]}',
    "JSON of a big number": '{"q": 1e999, "r": 123456789012345678901234567890}',
    "JSON with a key twice": '{"q": 1, "q": 2}',
    "JSON of a lone surrogate": '{"q": "\\ud800"}',
    "an escape as text": '{"q": "\\\\ud800 \\\\u0000"}',
    "a lone surrogate": "before \ud800 after",
    "lone surrogates in JSON": '{"\udfff": "\ud800"}',
    "NUL": "be\x00fore",
    "NUL in JSON": '{"q\\u0000": "be\\u0000fore"}',
    "odd characters": "\u202e\u200f\ufeff\uffff\U0010ffff\u0301e\r\n\x1b[31m",
    "deep JSON": "[" * DEEP + "]" * DEEP,
    "deep objects": '{"a":' * DEEP + "1" + "}" * DEEP,
    "deep lists": nested(DEEP),
    "unprintable": Unprintable(),
    "an empty text": "",
    "quotes": "'); drop table spans; --\\",
}

PLACES = [
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "gen_ai.tool.name",
    "gen_ai.tool.call.id",
    "gen_ai.operation.name",
    "gen_ai.agent.name",
    "gen_ai.conversation.id",
    "gen_ai.usage.input_tokens",
    "gen_ai.response.finish_reasons",
    "gen_ai.output.messages",
    "loop.run.id",
    "loop.task",
    "loop.progress.declared",
    "openinference.span.kind",
    "input.value",
    "error.type",
    "other",
]


@pytest.mark.parametrize("kind", VALUES)
def test_any_value_at_any_place_through_the_sdk(
    kind: str, provider: TracerProvider, db: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exporter = DuckDBSpanExporter(db)
    provider.add_span_processor(LoopSpanProcessor(on_alert=exporter.tell, on_reading=exporter.remember))
    seen = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(seen))
    tracer = provider.get_tracer("agent")
    for place in PLACES:
        with tracer.start_as_current_span("call", attributes=tool_attributes("search", {"q": 1}, "hit")) as span:
            try:
                span.set_attribute(place, VALUES[kind])
                span.add_event("exception", {"exception.message": VALUES[kind]})
            except (RuntimeError, RecursionError, ValueError, UnicodeError):
                # The SDK itself refuses some of them.
                continue
    assert exporter.export(seen.get_finished_spans()) is not None
    assert value(db, "select count(*) from spans") == len(PLACES)
    assert exporter.counters.dropped == 0
    assert [entry for entry in caplog.records if entry.name.startswith("otel_processor")] == []


@pytest.mark.parametrize("kind", VALUES)
def test_any_value_at_any_place_as_records(kind: str, db: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Together in one batch with a healthy span, again one by one, and read back from the store by another writer."""
    spans = [record(tool_attributes("search", {"q": 1}, "hit") | {place: VALUES[kind]}) for place in PLACES]
    spans += [record(events=[SpanEvent("exception", START, {"exception.message": VALUES[kind]})])]
    spans += [tool_record("search", {"q": 2}, "another hit")]
    writer = Recorder(db)
    assert writer.record(spans[::2], timeout_seconds=5)
    assert Recorder(db).record(spans[1::2], timeout_seconds=5)
    assert stored_ids(db) == sorted(span.span_id for span in spans)
    assert rows(db, f"select tool, result from calls where span_id = '{spans[-1].span_id}'") == [("search", "another hit")]
    assert value(db, "select count(*) from spans where json_type(attributes) <> 'OBJECT' or not json_valid(events)") == 0
    assert caplog.records == []
    # Nothing but the value itself suffers.
    kept = rows(db, "select json_extract_string(attributes, '$.\"gen_ai.tool.name\"') from spans where name = 'span'")
    assert len([tool for (tool,) in kept if tool == "search"]) >= len(PLACES)


def test_a_value_that_contains_itself(db: Path) -> None:
    """It takes a second to see that it never ends; the other attributes of the span are kept."""
    span = record(tool_attributes("search", {"q": 1}, "hit") | {"endless": endless()})
    assert Recorder(db).record([span], timeout_seconds=5)
    assert value(db, "select json_extract_string(attributes, '$.endless') from spans") == "<class 'dict'>"
    assert rows(db, "select tool, result from calls") == [("search", "hit")]


def test_ten_thousand_attributes(db: Path) -> None:
    many = tool_attributes("search", {"q": 1}, "hit") | {f"key.{number}": "x" * 50 for number in range(10_000)}
    span = record(many)
    assert Recorder(db).record([span], timeout_seconds=5)
    assert value(db, "select len(json_keys(attributes)) from spans") == len(many)
    assert value(db, "select count(*) from calls") == 1


@pytest.mark.parametrize("live", [True, False])
def test_fifty_megabytes_are_cut_and_compared_whole(live: bool, provider: TracerProvider, db: Path) -> None:
    """Two results that differ only at their very end are different; length and hash of what was cut are kept."""
    arguments = orjson.dumps({"text": "a" * 1_000_000}).decode()
    results = ["r" * 50_000_000 + str(number) for number in range(2)]
    if live:
        exporter = DuckDBSpanExporter(db)
        provider.add_span_processor(LoopSpanProcessor(on_reading=exporter.remember))
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        with agent(provider.get_tracer("agent")):
            for result in results:
                call_tool(provider.get_tracer("agent"), "read", arguments, result)
    else:
        spans = [tool_record("read", arguments, result) for result in results]
        assert Recorder(db).record(spans, timeout_seconds=20)
        # Another writer decides anew from what is stored.
        assert Recorder(db).record([tool_record("read", {"q": 1}, "hit")], timeout_seconds=20)
    found = rows(
        db, "select signature, fingerprint, length(result), length(arguments) from calls where step < 3 order by ended_at"
    )
    assert [row[:2] for row in found] == [
        (sign("read", orjson.loads(arguments)), examine(result).fingerprint) for result in results
    ]
    assert all(length <= 65_536 for row in found for length in row[2:])
    cuts = [orjson.loads(row[0]) for row in rows(db, "select cut from spans where cut is not null order by end_unix_nano")]
    for cut, result in zip(cuts, results, strict=True):
        assert cut["attributes.gen_ai.tool.call.result"] == {
            "length": len(result),
            "sha256": hashlib.sha256(result.encode()).hexdigest(),
        }
        assert cut["attributes.gen_ai.tool.call.arguments"]["length"] == len(arguments)
    assert value(db, "select max(length(attributes)) from spans") < 200_000


TIMES = [0, 1, START, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, -5]


def test_any_time(db: Path) -> None:
    """Zero, negative, beyond what the store can say, and ends before their starts."""
    spans = [tool_record("search", {"q": 1}, "hit", at=at, end=end) for at in TIMES for end in TIMES]
    assert Recorder(db).record(spans[::2], timeout_seconds=5)
    assert Recorder(db).record(spans[1::2], timeout_seconds=5)
    assert Recorder(db).record(spans, timeout_seconds=5)
    assert stored_ids(db) == sorted(span.span_id for span in spans)
    assert value(db, "select count(*) from calls where started_at is not null and ended_at is not null") == len(spans)
    assert value(db, "select count(*) from runs") == 1
    rows(db, "select start_time, end_time from spans")
    rows(db, "select * from runs")


def test_any_time_through_the_sdk(provider: TracerProvider, db: Path) -> None:
    exporter = DuckDBSpanExporter(db)
    provider.add_span_processor(LoopSpanProcessor(on_alert=exporter.tell))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("agent")
    for at in TIMES:
        for end in TIMES:
            tracer.start_span("call", start_time=at, attributes=tool_attributes("search", {"q": 1}, "hit")).end(end_time=end)
    assert value(db, "select count(*) from spans") == len(TIMES) ** 2
    assert exporter.counters.dropped == 0


@pytest.mark.parametrize("number", [2**62, 2**63 - 1, 10**12])
def test_any_usage(db: Path, number: int) -> None:
    """Counts that fit where one is kept, and whose sums would not."""
    usage = {"gen_ai.usage.input_tokens": number, "gen_ai.usage.output_tokens": number, "gen_ai.usage.cost": 1e308}
    spans = [
        record(usage | {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5-mini"}, name="chat") for _ in range(3)
    ]
    writer = Recorder(db)
    assert writer.record(spans, timeout_seconds=5)
    assert writer.counters.dropped == 0
    assert value(db, "select tokens from runs") == (6 * number if number <= 10**12 else None)
    assert rows(db, "select sum(cost_usd) from runs")[0][0] in (None, pytest.approx(3 * number * (0.25 + 2) / 1e6))


def test_any_family(db: Path) -> None:
    """Parents that never come, that are the span itself, that go in a circle; empty ids and names."""
    spans = [
        tool_record("search", {"q": 1}, "hit", parent="f" * 16),
        tool_record("search", {"q": 2}, "hit", span="1" * 16, parent="1" * 16),
        tool_record("search", {"q": 3}, "hit", span="2" * 16, parent="3" * 16),
        tool_record("read", {"q": 4}, "hit", span="3" * 16, parent="2" * 16),
        tool_record("search", {"q": 5}, "hit", trace="", span="4" * 16),
        tool_record("search", {"q": 6}, "hit", parent="", name=""),
        record({"gen_ai.operation.name": "invoke_agent"}, span="5" * 16, parent="6" * 16),
        record({"gen_ai.operation.name": "invoke_agent"}, span="6" * 16, parent="5" * 16),
        tool_record("search", {"q": 7}, "hit", parent="5" * 16),
    ]
    for number in range(0, len(spans), 2):
        assert Recorder(db).record(spans[number : number + 2], timeout_seconds=5)
    assert stored_ids(db) == sorted(span.span_id for span in spans)
    assert value(db, "select count(*) from calls where kind = 'tool'") == 7


def test_a_record_that_no_row_can_be_made_of_is_counted_and_the_others_are_stored(db: Path) -> None:
    good = [record(), record()]
    bad = record(name=None)  # type: ignore[arg-type]
    writer = Recorder(db)
    assert not writer.record([good[0], bad, good[1]], timeout_seconds=5)
    assert stored_ids(db) == sorted(span.span_id for span in good)
    assert writer.counters.dropped == 1


def test_a_deep_chain_of_spans(provider: TracerProvider, db: Path) -> None:
    exporter = DuckDBSpanExporter(db)
    provider.add_span_processor(LoopSpanProcessor())
    seen = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(seen))
    tracer = provider.get_tracer("agent")
    from opentelemetry import trace

    context = None
    chain = []
    for _ in range(2_000):
        chain.append(tracer.start_span("level", context=context))
        context = trace.set_span_in_context(chain[-1])
    call_tool(tracer, "search", {"q": 1}, "hit", context=context)
    for span in reversed(chain):
        span.end()
    exporter.export(seen.get_finished_spans())
    assert value(db, "select count(*) from spans") == 2_001
    assert rows(db, "select tool, step from calls") == [("search", 1)]
