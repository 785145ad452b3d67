"""What stays of an object when its content goes: never what was not known to be harmless."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_processor.dialects import names
from otel_processor.sharing import harmless
from otel_processor.sharing.stripping import prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "zq0Secret密"
secrets = st.builds(lambda before, after: f"{before}{SECRET}{after}", st.text(max_size=5), st.text(max_size=5))
values = st.recursive(
    secrets | st.integers() | st.floats() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | secrets, inner, max_size=3),
    max_leaves=8,
)
CONTENT = sorted(harmless.KNOWN - harmless.KEPT)
# Hypothesis likes words that it finds in our code, and some of them are names whose values stay.
keys = secrets | st.sampled_from(CONTENT) | st.text(max_size=8).filter(lambda name: name not in harmless.KEPT)

events = st.fixed_dictionaries(
    {"name": secrets, "time_unix_nano": st.integers(0, 1 << 62), "attributes": st.dictionaries(keys, values, max_size=3)}
)


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:") as connection:
        prepare(connection)
        yield connection


def stripped(engine: duckdb.DuckDBPyConnection, how: str, value: Any) -> Any:
    text = json.dumps(value)
    (found,) = engine.execute(f"select {how}($text::JSON)::VARCHAR", {"text": text}).fetchall()[0]
    return None if found is None else json.loads(found)


@settings(max_examples=150, deadline=None)
@given(attributes=st.dictionaries(keys, values, max_size=6))
def test_no_content_stays_in_attributes(engine: duckdb.DuckDBPyConnection, attributes: dict[str, Any]) -> None:
    found = stripped(engine, "stripped_attributes", attributes)
    assert SECRET not in json.dumps(found, ensure_ascii=False)
    assert len(found) <= len(attributes)
    assert all(isinstance(value, dict) or value is None or name in harmless.NUMBERS for name, value in found.items())


@settings(max_examples=60, deadline=None)
@given(st.lists(events, max_size=3))
def test_no_content_stays_in_events(engine: duckdb.DuckDBPyConnection, told: list[dict[str, Any]]) -> None:
    found = stripped(engine, "stripped_events", told)
    assert SECRET not in json.dumps(found, ensure_ascii=False)
    assert [event["time_unix_nano"] for event in found] == [event["time_unix_nano"] for event in told]


@settings(max_examples=40, deadline=None)
@given(values)
def test_whatever_has_another_shape_is_no_way_out(engine: duckdb.DuckDBPyConnection, value: Any) -> None:
    for how in ("stripped_attributes", "stripped_events", "stripped_links", "stripped_cuts"):
        assert SECRET not in json.dumps(stripped(engine, how, value), ensure_ascii=False)


def test_numbers_names_and_ends_stay(engine: duckdb.DuckDBPyConnection) -> None:
    kept = {
        names.TOOL_NAME: "search",
        names.REQUEST_MODEL: "gpt-5",
        names.INPUT_TOKENS: 12,
        names.OI_COST: 0.25,
        names.FINISH_REASONS: ["stop", "length"],
        names.LOOP_PROGRESS: True,
        names.LOOP_SIGNATURE: "ab" * 32,
        "service.name": "shop",
        "dropped_attributes_count": 3,
    }
    assert stripped(engine, "stripped_attributes", kept) == kept


def test_texts_leave_their_length_and_hash(engine: duckdb.DuckDBPyConnection) -> None:
    said = {"length": 9, "sha256": hashlib.sha256("Wo ist 密?".encode()).hexdigest()}
    assert stripped(engine, "stripped_attributes", {names.TOOL_ARGUMENTS: "Wo ist 密?"}) == {names.TOOL_ARGUMENTS: said}


def test_a_name_that_is_a_novel_goes(engine: duckdb.DuckDBPyConnection) -> None:
    found = stripped(engine, "stripped_attributes", {names.TOOL_NAME: "search " * 50, names.INPUT_TOKENS: "12 of them"})
    assert found[names.TOOL_NAME]["length"] == 350
    assert found[names.INPUT_TOKENS]["length"] == 10


def test_no_name_of_content_is_among_those_that_stay() -> None:
    for name in harmless.KEPT - {names.CLAUDE_PROMPT_ID}:
        assert not any(word in name for word in ("arguments", "result", "messages", "prompt", "content")), name
    assert not harmless.KEPT & {
        names.OI_INPUT,
        names.TL_INPUT,
        names.INPUT_MESSAGES,
        names.ERROR_MESSAGE,
        names.EXCEPTION_MESSAGE,
    }
