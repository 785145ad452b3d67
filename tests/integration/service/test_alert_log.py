"""What the service finds in spans that it is sent is a warning in its log, once."""

from __future__ import annotations

import logging
import queue
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

import pytest

from otel_processor.alerts import receivers
from tests.integration.agents import tool_attributes
from tests.integration.service.guarding import Agent
from tests.integration.service.serving import request_of, serving, serving_here
from tests.integration.service.test_guard_api import PARENT, TRACE, spans_of, stored
from tests.integration.stored import eventually, rows, value
from tests.unit.alerts.test_metrics import Measured

if TYPE_CHECKING:
    from pathlib import Path

LOOPS = "select count(*) from alerts where pattern = 'hard_loop'"


@pytest.fixture(autouse=True)
def _nothing_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receivers, "_announced", OrderedDict())


def said_of(caplog: pytest.LogCaptureFixture, pattern: str) -> list[str]:
    return [
        line
        for record in caplog.records
        if record.name == "otel_processor.alerts" and (line := record.getMessage()).startswith(pattern)
    ]


def looping(*, told: tuple[str, str] | None = None) -> bytes:
    """Spans of a loop without a root; the last bears what its process told: (pattern, action)."""
    request, _ = request_of(4)
    spans = request.resource_spans[0].scope_spans[0].spans
    for span in spans:
        for name, text in tool_attributes("search", {"q": "x"}, "nothing").items():
            span.attributes.add(key=name).value.string_value = text
    if told is not None:
        event = spans[-1].events.add(name="loop.alert", time_unix_nano=spans[-1].end_time_unix_nano)
        for name, text in zip(("pattern", "action"), told, strict=True):
            event.attributes.add(key=name).value.string_value = text
    body: bytes = request.SerializeToString()
    return body


def test_a_loop_in_spans_is_a_line_of_the_services_log_once(db: Path) -> None:
    began = time.time_ns()
    with serving(db) as service:
        for root in (False, False, True):
            assert service.post(spans_of(root=root, calls=4, began=began)).status == 200
        assert service.terminate() == 0
        lines = []
        for _ in range(100):
            try:
                lines.append(service.lines.get(timeout=0.2))
            except queue.Empty:
                break
    (line,) = [line for line in lines if "hard_loop in" in line]
    assert TRACE in line
    assert "search was called 3 times with the same arguments" in line


def test_what_the_guard_told_is_not_told_again(db: Path, caplog: pytest.LogCaptureFixture) -> None:
    began = time.time_ns()
    with caplog.at_level(logging.WARNING, "otel_processor.alerts"), serving_here(db) as service:
        agent = Agent(service, headers={"traceparent": PARENT})
        agent.loop(4)
        eventually(lambda: stored(db, "alerts"), seconds=5, what="the guard's alert")
        assert len(said_of(caplog, "hard_loop")) == 1
        assert service.post(spans_of(root=True, calls=4, began=began)).status == 200
    assert value(db, LOOPS) == 1
    assert len(said_of(caplog, "hard_loop")) == 1


def test_what_its_own_process_told_is_not_told_again(db: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "otel_processor.alerts"), serving_here(db) as service:
        assert service.post(looping()).status == 200
        assert len(said_of(caplog, "hard_loop")) == 1
        ((action,),) = rows(db, "select action from alerts where pattern = 'hard_loop'")
        assert service.post(looping(told=("hard_loop", action))).status == 200
        assert (value(db, LOOPS), len(said_of(caplog, "hard_loop"))) == (2, 1)
        assert service.post(looping(told=("no_progress", action))).status == 200
        assert (value(db, LOOPS), len(said_of(caplog, "hard_loop"))) == (3, 2)


def test_it_is_a_metric_until_the_run_is_over(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = Measured()
    monkeypatch.setattr("otel_processor.alerts.metrics._made", measured.metrics)
    began = time.time_ns()
    with serving_here(db) as service:
        assert service.post(spans_of(root=False, calls=4, began=began)).status == 200
        assert measured.read("otel_processor.alerts.open") == [(1, {"pattern": "hard_loop", "severity": "critical"})]
        assert service.post(spans_of(root=True, calls=0, began=began)).status == 200
        assert measured.read("otel_processor.alerts.open") == []
    measured.provider.shutdown()


def test_an_alert_gets_the_names_of_its_run_when_they_are_known(db: Path) -> None:
    names = "select distinct task, agent from alerts"
    began = time.time_ns()
    with serving_here(db) as service:
        assert service.post(spans_of(root=False, calls=4, began=began)).status == 200
        assert rows(db, names) == [(None, None)]
        assert service.post(spans_of(root=True, calls=0, began=began)).status == 200
        assert rows(db, names) == [("asker", "asker")]
        assert rows(db, "select task, agent from runs") == [("asker", "asker")]
