"""`instrument(db=None, otlp_endpoint=…)`: tagged here and stored by a service elsewhere, as if stored here."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.integration import processes
from tests.integration.service.serving import serving
from tests.integration.stored import CALLS, RUNS, rows

AGENT = """
import itertools
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import set_span_in_context
from otel_processor import instrument

numbers = itertools.count(1)

class Counted(IdGenerator):
    def generate_trace_id(self): return next(numbers) << 64 | 1
    def generate_span_id(self): return next(numbers)

provider = TracerProvider(id_generator=Counted(), shutdown_on_exit=False)
place = dict(db=sys.argv[2]) if sys.argv[1] == "here" else dict(db=None, otlp_endpoint=sys.argv[2])
watching = instrument(**place, tracer_provider=provider)
tracer = provider.get_tracer("agent")
clock = itertools.count(int(sys.argv[3]), 1_000_000)

def spans(parent, name, attributes, result=None):
    span = tracer.start_span(name, parent, attributes=attributes, start_time=next(clock))
    if result is not None:
        span.set_attribute("gen_ai.tool.call.result", result)
    return span

for run in range(3):
    more = {"loop.run.id": "declared"} if run == 2 else {}
    root = spans(None, "invoke_agent", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "looper", **more})
    inside = set_span_in_context(root)
    for step in range(6):
        usage = {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 10}
        spans(inside, "chat", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", **usage}).end(next(clock))
        result = "nothing" if run else f"a page of news, number {step} " + " ".join(f"w{step}x{n}" for n in range(30))
        spans(inside, "execute_tool", tool_attributes("search", {"q": step * (run == 0)}), result).end(next(clock))
    root.end(next(clock))
assert watching.force_flush()
watching.shutdown()
print("duckdb loaded" if "duckdb" in sys.modules else "no duckdb")
print(sorted(path.name for path in Path().iterdir()))
"""

ALERTS = """
    select alert_id, run_id, trace_id, span_id, "at", task, agent, tool, pattern, severity, action, stop_reason, message,
           evidence, resolved_at
    from alerts order by all
"""


def told(where: str, place: object, folder: Path, began: int) -> list[str]:
    out, errors = processes.run(f"os.chdir({str(folder)!r})\n{AGENT}", where, place, began)
    assert "Traceback" not in errors
    return out.splitlines()


def tables(db: Path) -> dict[str, list[tuple[Any, ...]]]:
    found = {"calls": rows(db, CALLS), "runs": rows(db, RUNS), "alerts": rows(db, ALERTS)}
    found["trace_runs"] = rows(db, "from trace_runs order by all")
    found["spans"] = rows(db, "select trace_id, span_id, name, attributes, json_array_length(events) from spans order by all")
    return found


@pytest.mark.parametrize("way", ["instrument", "without code"])
def test_the_docs_say_how(db: Path, tmp_path: Path, way: str) -> None:
    """The example of `docs/serve.md`, and the line beside it, with a service that wants a token."""
    folder = tmp_path / "agent"
    folder.mkdir()
    text = (processes.ROOT / "docs/serve.md").read_text(encoding="utf-8")
    section = text.partition("## Remote mode")[2].partition("\n## ")[0]
    assert "http://127.0.0.1:4318" in section
    agent = "import sys\nfrom opentelemetry import trace\nfrom tests.integration.agents import loop\n"
    command = [sys.executable]
    with serving(db, env={"OTEL_PROCESSOR_TOKEN": "a-word"}) as service:
        address = f"http://127.0.0.1:{service.http_port}"
        env = {"OTEL_EXPORTER_OTLP_HEADERS": section.partition('OTLP_HEADERS="')[2].partition('"')[0].replace("WORD", "a-word")}
        if way == "instrument":
            agent += section.partition("```python")[2].partition("```")[0].replace("http://127.0.0.1:4318", address)
        else:
            line = section.partition("| without code | `")[2].partition(" opentelemetry-instrument")[0]
            env |= dict(one.split("=", 1) for one in line.split())
            env |= {"OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}
            command = [str(Path(sys.executable).with_name("opentelemetry-instrument")), *command]
        agent += "loop(trace.get_tracer('agent'), 4)\ntrace.get_tracer_provider().force_flush()\nprint('duckdb' in sys.modules)\n"
        done = subprocess.run(
            [*command, "-c", agent],
            cwd=folder,
            env=processes.environment(env),
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    assert done.stdout == "False\n", done.stderr
    assert list(folder.iterdir()) == []
    assert rows(db, "select tool_calls, flagged_reason from runs") == [(4, "loop_detected:repeated_tool_signature")]
    assert rows(db, "select pattern, count(*) from alerts group by all") == [("hard_loop", 1)]
    assert rows(db, "select count(*) from spans where contains(attributes::varchar, 'loop.repeats')") == [(4,)]


def test_the_rows_are_those_of_an_agent_that_stores_itself(tmp_path: Path) -> None:
    """Tagged before they were sent, alerts once; the agent's process has no database and does not load one."""
    folder = tmp_path / "agent"
    folder.mkdir()
    here, there = tmp_path / "here.duckdb", tmp_path / "there.duckdb"
    began = time.time_ns() - 1_000_000_000
    assert told("here", here, folder, began)[0] == "duckdb loaded"
    with serving(there) as service:
        assert told("remote", f"http://127.0.0.1:{service.http_port}", folder, began) == ["no duckdb", "[]"]
    assert tables(there) == tables(here)
    assert {run_id for (run_id,) in rows(there, "select run_id from alerts")} == {"declared", f"{15 << 64 | 1:032x}"}
    assert rows(there, "select count(*) from spans where contains(attributes::varchar, 'loop.signature')") == [(18,)]
