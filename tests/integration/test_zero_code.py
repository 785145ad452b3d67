"""`OTEL_TRACES_EXPORTER=duckdb opentelemetry-instrument python agent.py`: the agent knows nothing of us."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from otel_processor.store import spool
from tests.integration import processes
from tests.integration.otlp_receiver import http_receiver
from tests.integration.stored import rows, value

if TYPE_CHECKING:
    from collections.abc import Mapping

INSTRUMENT = Path(sys.executable).with_name("opentelemetry-instrument")

AGENT = """
import sys
from opentelemetry import trace
from tests.integration.agents import loop
told = loop(trace.get_tracer("agent"), 6)
print(*told)
"""

QUIET = {"OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none", "OTEL_SERVICE_NAME": "shop"}


STUBBORN_AGENT = """
from opentelemetry import trace
from tests.integration.agents import agent, call_tool
tracer, ran = trace.get_tracer("agent"), 0
try:
    with agent(tracer, "clerk"):
        for _ in range(9):
            call_tool(tracer, "lookup", {"order_id": "demo-001"}, "not found")
            ran += 1
except Exception as error:
    print("ended", type(error).__name__, ran)
else:
    print("made", ran)
"""


def run_agent(folder: Path, env: Mapping[str, str], *, code: str = AGENT, seconds: float = 60) -> tuple[list[str], str]:
    script = folder / "agent.py"
    script.write_text(code)
    done = subprocess.run(
        [str(INSTRUMENT), sys.executable, str(script)],
        env=processes.environment({**QUIET, **env}),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


@pytest.mark.skipif(not INSTRUMENT.exists(), reason="the extra `auto` is not installed")
class TestZeroCode:
    @pytest.mark.parametrize("exporter", ["duckdb", "console"])
    def test_a_mode_alone_stops_a_loop(self, exporter: str, db: Path, tmp_path: Path) -> None:
        """With our exporter, and with any other: asking for a mode is asking for the span processor."""
        env = {"OTEL_TRACES_EXPORTER": exporter, "OTEL_PROCESSOR_DB": str(db)}
        out, _ = run_agent(tmp_path, env | {"OTEL_PROCESSOR_MODE": "enforce"}, code=STUBBORN_AGENT)
        assert out[:3] == ["ended", "LoopNudge", "2"]
        out, _ = run_agent(tmp_path, env | {"OTEL_PROCESSOR_MODE": "nudge"}, code=STUBBORN_AGENT)
        assert out[:2] == ["made", "9"]

    def test_rows_tags_and_alerts_are_in_the_database(self, db: Path, tmp_path: Path) -> None:
        told, errors = run_agent(tmp_path, {"OTEL_TRACES_EXPORTER": "duckdb", "OTEL_PROCESSOR_DB": str(db)})
        assert [line.split(" in looper ")[0] for line in errors.splitlines()] == ["hard_loop", "no_progress", "no_progress"]
        assert rows(db, "select span_id from calls order by ended_at") == [(span_id,) for span_id in told]
        tags = "json_extract_string(attributes, '$.\"loop.{}\"')"
        assert rows(
            db,
            f"select {tags.format('repeats')}, {tags.format('flat_steps')} from spans where name like 'e%' order by end_time",
        ) == [(str(number + 1), str(number)) for number in range(6)]
        assert rows(
            db, f"select {tags.format('stop_reason')}, {tags.format('task')} from spans where parent_span_id is null"
        ) == [("completed", "looper")]
        assert rows(db, "select pattern, count(*), count(resolved_at) from alerts group by all order by all") == [
            ("hard_loop", 1, 1),
            ("no_progress", 1, 1),
        ]
        assert rows(db, "select task, service, steps, flat_steps from runs") == [("looper", "shop", 6, 5)]
        assert spool.pending(db) == []

    def test_a_wrong_address_for_alerts_costs_no_spans(self, db: Path, tmp_path: Path) -> None:
        """Nobody can catch an error here: one line says what to correct, and everything else is there."""
        env = {"OTEL_TRACES_EXPORTER": "duckdb", "OTEL_PROCESSOR_DB": str(db), "OTEL_PROCESSOR_ALERT_COOLDOWN": "5 min"}
        told, errors = run_agent(tmp_path, env)
        assert errors.splitlines()[0].startswith("OTEL_PROCESSOR_ALERT_COOLDOWN is '5 min'; it takes a number; until then")
        assert "Traceback" not in errors
        assert value(db, "select count(*) from calls") == len(told)
        assert value(db, "select count(*) from alerts") == 2

    def test_the_database_is_agents_duckdb_here_when_nothing_says_otherwise(self, tmp_path: Path) -> None:
        told, _ = run_agent(tmp_path, {"OTEL_TRACES_EXPORTER": "duckdb"})
        assert value(tmp_path / "agents.duckdb", "select count(*) from calls") == len(told)

    def test_beside_another_exporter_both_see_the_tags(self, db: Path, tmp_path: Path) -> None:
        with http_receiver() as received:
            run_agent(
                tmp_path,
                {
                    "OTEL_TRACES_EXPORTER": "otlp,duckdb",
                    "OTEL_PROCESSOR_DB": str(db),
                    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
                    "OTEL_EXPORTER_OTLP_ENDPOINT": received.endpoint,
                },
            )
        assert [tool["loop.repeats"] for tool in received.tools()] == [1, 2, 3, 4, 5, 6]
        assert value(db, "select count(*) from calls") == 6

    def test_nothing_happens_when_we_are_not_asked_for(self, db: Path, tmp_path: Path) -> None:
        run_agent(tmp_path, {"OTEL_TRACES_EXPORTER": "none", "OTEL_PROCESSOR_DB": str(db)})
        assert not db.exists()

    def test_a_bad_setting_is_said_and_the_agent_runs(self, db: Path, tmp_path: Path) -> None:
        told, errors = run_agent(
            tmp_path,
            {"OTEL_TRACES_EXPORTER": "duckdb", "OTEL_PROCESSOR_DB": str(db), "OTEL_PROCESSOR_BUSY_TIMEOUT": "soon"},
        )
        assert len(told) == 6
        assert "OTEL_PROCESSOR_BUSY_TIMEOUT is 'soon'" in errors

    def test_a_database_that_cannot_be_is_said_and_the_agent_runs(self, tmp_path: Path, temp_folder: Path) -> None:
        (tmp_path / "file").write_text("x")
        told, errors = run_agent(
            tmp_path, {"OTEL_TRACES_EXPORTER": "duckdb", "OTEL_PROCESSOR_DB": str(tmp_path / "file" / "a.duckdb")}
        )
        assert len(told) == 6
        assert errors.count("cannot be used") == 1
        assert "Traceback" not in errors
