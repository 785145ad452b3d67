"""The service removes old runs by itself where its environment says so."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

from otel_processor import DuckDBSpanExporter
from otel_processor.retention import Retention
from tests.integration.processes import environment
from tests.integration.service.serving import request_of, serving
from tests.integration.stored import eventually, value

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_old_spans_go_and_those_of_today_stay(db: Path) -> None:
    with serving(db, env={"OTEL_PROCESSOR_KEEP_DAYS": "1"}) as service:
        today, _ = request_of(3, trace=b"\1" * 16)
        for span in today.resource_spans[0].scope_spans[0].spans:
            span.start_time_unix_nano = span.end_time_unix_nano = time.time_ns()
        old, _ = request_of(3, trace=b"\2" * 16)
        assert service.post(old.SerializeToString()).status == 200
        assert service.post(today.SerializeToString()).status == 200
        eventually(lambda: value(db, "select count(*) from spans") == 3, seconds=20, what="old spans go")
        assert value(db, "select min(trace_id) from spans") == "01" * 16
        assert "runs older than 1 day are removed\n" in service.said
        removed = service.lines.get(timeout=20)
        assert "INFO" in removed
        assert removed.endswith("1 trace without a run: 3 spans, 0 calls, 0 alerts, 0 messages, older than 1 day\n")


def test_a_wrong_setting_is_told_at_the_start(db: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "otel_processor", "serve", "--db", str(db)],
        env=environment({"OTEL_PROCESSOR_MAX_SIZE": "big"}), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert "OTEL_PROCESSOR_MAX_SIZE is 'big'" in ended.stderr
    assert not db.exists()


def test_an_agents_exporter_goes_by_the_same_settings(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_PROCESSOR_KEEP_DAYS", "7")
    exporter = DuckDBSpanExporter(db)
    assert exporter._recorder._retention == Retention(7 * 86_400)
    exporter.shutdown()
