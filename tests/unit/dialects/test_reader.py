from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import otel_processor.dialects as package
from otel_processor.dialects import names, read_span
from otel_processor.dialects.reader import DIALECTS
from otel_processor.model import NOTHING, Reading, Role, SpanEvent
from tests.unit.dialects.spans import read, span

KEYS = {name: value for name, value in vars(names).items() if name.isupper()}


def test_a_span_of_someone_else_is_nothing() -> None:
    assert read({"http.request.method": "GET", "url.full": "https://example.org"}) is NOTHING
    assert read({}) is NOTHING


def test_what_the_user_declares_is_read_on_any_span() -> None:
    reading = read({"loop.run.id": "r1", "loop.task": "t", "loop.task.type": "code", "loop.progress.declared": "true"})
    assert reading == Reading(run_id="r1", task="t", task_type="code", progress_declared=True)
    assert read({"loop.run.id": "r1", "gen_ai.operation.name": "chat"}).run_id == "r1"
    assert read({"loop.progress.declared": False}).progress_declared is False


def test_our_own_tags_are_no_evidence() -> None:
    tags = {"loop.signature": "x", "loop.progress": True, "loop.repeats": 3, "loop.verdict": "stop", "loop.step": 4}
    assert read(tags) is NOTHING


def test_every_key_is_spelled_once() -> None:
    assert len(set(KEYS.values())) == len(KEYS)


def test_no_module_spells_a_key_of_its_own() -> None:
    prefixes = """gen_ai llm traceloop openinference loop tool input output session agent
    langsmith langfuse mlflow mastra spring lmnr agentops lk""".split()
    literal = re.compile(rf"""["'](?:{"|".join(prefixes)})\.[a-z_.]*["']""")
    for path in Path(package.__path__[0]).glob("*.py"):
        if path.name != "names.py":
            assert not literal.findall(path.read_text(encoding="utf-8")), path.name


def test_dialects_have_names_of_their_own() -> None:
    assert len({dialect.name for dialect in DIALECTS}) == len(DIALECTS)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
texts = st.sampled_from(
    [
        "",
        "{",
        "[]",
        "{}",
        "null",
        '{"args": 1, "kwargs": {}}',
        '[{"parts": [1]}]',
        '{"error": 1}',
        "NaN",
        "chat",
        "execute_tool",
        "TOOL",
        "LLM",
        "tool",
        "[" * 9999,
    ]
)
values = st.recursive(
    scalars | texts, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner), max_leaves=8
)
known_keys = st.sampled_from(sorted(KEYS.values()))
flat_keys = st.builds(
    lambda prefix, rest: prefix + ".".join(rest),
    st.sampled_from([names.OI_OUTPUT_MESSAGES_PREFIX, names.TL_COMPLETION_PREFIX]),
    st.lists(
        st.sampled_from(
            ["0", "1", "x", "message", "content", "contents", "tool_calls", "tool_call", "function", "name", "role", ""]
        ),
        max_size=6,
    ),
)
attribute_maps = st.dictionaries(known_keys | flat_keys | st.text(), values, max_size=12)
events = st.lists(st.builds(SpanEvent, known_keys | st.text(), st.just(1), st.none() | attribute_maps), max_size=3)


scopes = st.sampled_from(["", "x.agno", *sorted({scope for dialect in DIALECTS for scope in dialect.scopes})])
span_names = st.sampled_from(
    [
        "",
        "agent run",
        "agent_run [a]",
        "tool_call [",
        "tool_response",
        "call_llm",
        "claude_code.tool",
        "claude_code.llm_request",
        "haystack.component.run",
        "haystack.agent.step.llm",
        "haystack.agent.step.tool",
        "x.kickoff",
    ]
)


@given(attribute_maps, events, scopes, span_names, st.sampled_from(["UNSET", "OK", "ERROR"]))
def test_no_attributes_whatever_raise(
    attributes: dict[str, Any], some_events: list[SpanEvent], scope: str, name: str, status: str
) -> None:
    assert isinstance(read(attributes, scope=scope, name=name, status=status, events=some_events), Reading)


@given(attribute_maps, st.sampled_from(DIALECTS), st.sampled_from(Role), scopes, span_names)
def test_no_dialect_raises(attributes: dict[str, Any], dialect: Any, role: Role, scope: str, name: str) -> None:
    a_span = span(attributes, scope=scope, name=name)
    dialect.role(a_span)
    dialect.guess(a_span)
    assert isinstance(dialect.fields(a_span, role), dict)


@pytest.mark.parametrize("key", [7, None, ("a",), b"gen_ai"])
def test_keys_that_are_no_text_are_passed_over(key: Any) -> None:
    attributes: dict[Any, Any] = {key: 1, "openinference.span.kind": "LLM", "llm.model_name": "m"}
    assert read_span(span(attributes)).role is Role.MODEL
