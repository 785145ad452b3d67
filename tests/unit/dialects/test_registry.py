"""Other packages bring dialects of their own, and whatever they do costs them only."""

from __future__ import annotations

import logging
import subprocess
import sys
import textwrap
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from otel_processor.dialects import registry
from otel_processor.dialects.dialect import Dialect, Fields
from otel_processor.dialects.registry import Index, external_dialects
from otel_processor.model import RequestedCall, Role, SpanFacts
from tests.unit.dialects.spans import span

PLUGIN = """
from otel_processor.dialects.dialect import Dialect
from otel_processor.model import Role

def fields(span, role):
    return {"tool": span.attributes["acme.tool"], "arguments": span.attributes.get("acme.arguments")}

ACME = Dialect(
    name="acme",
    markers=frozenset({"acme.tool", "gen_ai.tool.name"}),
    role=lambda span: Role.TOOL if "acme.tool" in span.attributes else None,
    fields=fields,
)
NO_DIALECT = 7
"""

PROGRAM = """
import logging, sys
logging.basicConfig(level=logging.ERROR, format="%(message)s")
from otel_processor.dialects import read_span
from otel_processor.model import SpanRecord

assert "acme_spans" not in sys.modules, "imported before it was needed"

def read(attributes):
    return read_span(SpanRecord(
        trace_id="a" * 32, span_id="b" * 16, parent_span_id=None, name="x", kind="INTERNAL", start_ns=1, end_ns=2, status="UNSET",
        status_message="", service="", scope="", scope_version="", attributes=attributes, events=(), resource={}, links=(),
    ))

ours = read({"acme.tool": "search", "acme.arguments": '{"q": "x"}', "gen_ai.operation.name": "chat"})
print(ours.role.value, ours.dialect, ours.tool, ours.arguments)
both = read({"acme.tool": "search", "gen_ai.tool.name": "other", "gen_ai.tool.call.id": "c1"})
print(both.tool, both.call_id)
print(read({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}).model)
"""


def test_an_installed_distribution_brings_a_dialect(tmp_path: Path) -> None:
    metadata = tmp_path / "acme_spans-1.0.dist-info"
    metadata.mkdir()
    (tmp_path / "acme_spans.py").write_text(PLUGIN, encoding="utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-spans\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(
        textwrap.dedent(
            """
            [otel_processor_dialects]
            acme = acme_spans:ACME
            broken = acme_spans:MISSING
            no_dialect = acme_spans:NO_DIALECT
            not_there = no_such_module:DIALECT
            """
        ),
        encoding="utf-8",
    )
    root = Path(registry.__file__).parents[2]
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PYTHONPATH": f"{tmp_path}:{root}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.stdout.splitlines() == ["tool acme search {'q': 'x'}", "search c1", "m-1"], ran.stderr
    for name in ("broken", "no_dialect", "not_there"):
        assert ran.stderr.count(f"The dialect {name} is left out") == 1


class _Entry(EntryPoint):
    """An entry point that gives what it is told to, whatever that is."""

    def __new__(cls, found: Any) -> _Entry:
        self = EntryPoint.__new__(cls)
        vars(self)["_found"] = found
        return self

    def __init__(self, found: Any) -> None:
        super().__init__("acme", "acme:ACME", registry.ENTRY_POINTS)
        vars(self)["_found"] = found

    def load(self) -> Any:
        return vars(self)["_found"]


def _loaded(monkeypatch: pytest.MonkeyPatch, found: Any) -> tuple[Dialect, ...]:
    monkeypatch.setattr(registry, "entry_points", lambda group: [_Entry(found)])
    return external_dialects()


def _role(_span: SpanFacts) -> Role | None:
    return Role.MODEL


def _dialect(fields: Any, role: Any = _role) -> Dialect:
    return Dialect(name="acme", markers=frozenset({"acme.kind"}), role=role, fields=fields)


def _raise(*_: Any) -> Any:
    raise RuntimeError("mine")


def test_a_dialect_that_raises_costs_its_own_answer_and_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (dialect,) = _loaded(monkeypatch, _dialect(_raise, _raise))
    with caplog.at_level(logging.ERROR):
        assert (dialect.role(span()), dialect.guess(span()), dialect.fields(span(), Role.TOOL)) == (None, None, {})
    assert len(caplog.records) == 1


def test_what_it_tells_is_made_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    call = RequestedCall("c1", "search", {})
    told: Fields = {
        "input_tokens": "100",
        "output_tokens": -1,
        "cost_usd": "0.5",
        "agent": 7,
        "model": None,
        "requested": [call, "search"],
        "arguments": {"q": "x"},
    }
    (dialect,) = _loaded(monkeypatch, _dialect(lambda _span, _role: told))
    assert dialect.fields(span(), Role.MODEL) == {
        "input_tokens": 100,
        "cost_usd": 0.5,
        "agent": "7",
        "model": None,
        "requested": (call,),
        "arguments": {"q": "x"},
    }


@pytest.mark.parametrize("fields", [lambda _span, _role: {"run_id": "r1"}, lambda _span, _role: None, lambda _span, _role: 7])
def test_what_it_cannot_tell_is_left_out(monkeypatch: pytest.MonkeyPatch, fields: Any) -> None:
    (dialect,) = _loaded(monkeypatch, _dialect(fields))
    assert dialect.fields(span(), Role.MODEL) == {}


def test_a_role_may_be_given_as_its_word(monkeypatch: pytest.MonkeyPatch) -> None:
    (dialect,) = _loaded(monkeypatch, _dialect(lambda *_: {}, lambda _span: "tool"))
    assert dialect.role(span()) is Role.TOOL
    (dialect,) = _loaded(monkeypatch, _dialect(lambda *_: {}, lambda _span: "no role"))
    assert dialect.role(span()) is None


@pytest.mark.parametrize("markers", ["acme.kind", frozenset({7}), None])
def test_marks_that_are_no_texts_are_refused(monkeypatch: pytest.MonkeyPatch, markers: Any) -> None:
    assert _loaded(monkeypatch, Dialect(name="acme", markers=markers, role=_role, fields=lambda *_: {})) == ()


def test_metadata_that_cannot_be_listed_are_no_dialects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", _raise)
    assert external_dialects() == ()


def test_a_mark_may_speak_for_several_dialects() -> None:
    first, second = (Dialect(name=name, markers=frozenset({"kind"}), role=_role, fields=lambda *_: {}) for name in ("a", "b"))
    index = Index.of((first, second), ("declared",))
    assert index.present(index.markers["kind"]).dialects == (first, second)
    assert index.present(index.markers["declared"]).dialects == ()
