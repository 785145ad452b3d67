"""Whoever runs an agent and looks nowhere else is told in the log of its process."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from opentelemetry.sdk.trace import TracerProvider

from otel_processor import LoopSpanProcessor
from tests.integration.agents import agent, call_tool, loop, trace_id
from tests.unit.alerts.test_metrics import Measured

if TYPE_CHECKING:
    import pytest


def test_an_alert_is_a_warning_in_the_log_once(caplog: pytest.LogCaptureFixture) -> None:
    provider = TracerProvider()
    provider.add_span_processor(LoopSpanProcessor())
    with caplog.at_level(logging.WARNING, "otel_processor.alerts"):
        loop(provider.get_tracer("t"), 4)
    told = [record.getMessage() for record in caplog.records if record.name == "otel_processor.alerts"]
    assert [line.split(" in looper (run ")[0] for line in told] == ["hard_loop"] + ["no_progress"] * (len(told) - 1)
    assert told[0].endswith("lookup_order was called 3 times with the same arguments and nothing new came back")


def test_what_a_tool_is_called_cannot_move_the_cursor(caplog: pytest.LogCaptureFixture) -> None:
    provider = TracerProvider()
    provider.add_span_processor(LoopSpanProcessor())
    tracer = provider.get_tracer("t")
    with caplog.at_level(logging.WARNING, "otel_processor.alerts"), agent(tracer, "a\x1b[2Jgent\u202e") as span:
        for _ in range(3):
            call_tool(tracer, "look\n\x1b[31m", {"q": 1}, "none")
        run = trace_id(span)
    (line,) = [record.getMessage() for record in caplog.records if record.name == "otel_processor.alerts"]
    assert line.isprintable()
    assert run in line


def test_an_alert_is_open_as_a_metric_until_something_new_comes_or_the_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = Measured()
    monkeypatch.setattr("otel_processor.alerts.metrics._made", measured.metrics)
    provider = TracerProvider()
    provider.add_span_processor(LoopSpanProcessor())
    tracer = provider.get_tracer("t")
    is_open = [(1, {"pattern": "hard_loop", "severity": "critical"})]
    with agent(tracer):
        for _ in range(3):
            call_tool(tracer, "search", {"q": 1}, "none")
        assert measured.read("otel_processor.alerts.open") == is_open
        call_tool(tracer, "search", {"q": 2}, "a page of quite another kind, with much that is new")
        assert measured.read("otel_processor.alerts.open") == []
    with agent(tracer):
        for _ in range(3):
            call_tool(tracer, "search", {"q": 1}, "none")
        assert measured.read("otel_processor.alerts.open") == is_open
    assert measured.read("otel_processor.alerts.open") == []
    assert measured.read("otel_processor.alerts.resolved") == [(2, {"pattern": "hard_loop"})]
    measured.provider.shutdown()
