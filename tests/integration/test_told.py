"""What one span tells of another's call is in the database, also where the telling span was cut."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from otel_processor.recording.recorder import Recorder
from tests.integration.records import START, record, tool_record
from tests.integration.stored import rows, value

if TYPE_CHECKING:
    from pathlib import Path

    from otel_processor.model import SpanRecord

CALLS = "select span_id, result, progress, fingerprint, is_error from calls where kind = 'tool' order by end_unix_nano"


def model(result: str, history: str = "", **fields: int | str) -> SpanRecord:
    messages = [
        {"role": "user", "parts": [{"type": "text", "content": history}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "I look it up"}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": result}]},
    ]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": json.dumps(messages)}
    return record(attributes, **fields)  # type: ignore[arg-type]


def call(**fields: int | str) -> SpanRecord:
    told = tool_record("search", {"q": "cats"}, **fields)
    return record({**told.attributes, "gen_ai.tool.call.id": "c1"}, span=told.span_id, at=told.start_ns, end=told.end_ns)


def test_a_row_is_replaced_once_its_result_is_told(db: Path) -> None:
    recorder = Recorder(db)
    assert recorder.record([call(span="call")], timeout_seconds=5)
    assert rows(db, CALLS) == [("call", None, None, None, False)]
    assert recorder.record([model("three cats")], timeout_seconds=5)
    assert [row[:3] for row in rows(db, CALLS)] == [("call", "three cats", True)]


def test_what_a_long_conversation_tells_is_known_also_when_it_is_read_again(db: Path) -> None:
    at = START + 10**15
    asked = call(span="call", at=at, end=at + 1)
    told = model("three cats", "x" * 200_000, at=at + 2, end=at + 3)
    late = tool_record("search", {"q": "dogs"}, "no dogs", at=at - 9, end=at - 8)
    recorder = Recorder(db)
    for batch in ([asked], [told]):
        assert recorder.record(batch, timeout_seconds=5)
    first = rows(db, CALLS)
    assert first[0][1] == "three cats"
    # One that belongs before all of them: everything is read from the store and decided anew.
    assert recorder.record([late], timeout_seconds=5)
    assert rows(db, CALLS)[1:] == first
    whole = db.with_name("whole.duckdb")
    assert Recorder(whole).record([late, asked, told], timeout_seconds=5)
    assert rows(whole, CALLS) == rows(db, CALLS)


def test_a_told_result_that_is_longer_than_what_is_kept_compares_to_nothing(db: Path) -> None:
    recorder = Recorder(db)
    assert recorder.record([call(span="call"), model("x" * 100_000)], timeout_seconds=5)
    assert value(db, "select length(result) from calls where kind = 'tool'") == 65_536
    assert rows(db, CALLS)[0][2:4] == (None, None)
