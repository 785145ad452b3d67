"""The oldest OpenTelemetry SDK that is supported, in a venv of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.integration.processes import ROOT, environment
from tests.integration.stored import rows, value

OLDEST = "1.27.0"

_SCRIPT = """
import importlib.metadata, sys
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from otel_processor import LoopDetected, LoopSpanProcessor, instrument
from tests.integration.agents import loop

assert importlib.metadata.version("opentelemetry-sdk") == sys.argv[2]
before, after = InMemorySpanExporter(), InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(before))
installed = instrument(sys.argv[1], tracer_provider=provider)
provider.add_span_processor(SimpleSpanProcessor(after))
loop(provider.get_tracer("agent"), 6)
assert installed.force_flush()
for exporter in (before, after):
    spans = exporter.get_finished_spans()
    calls = [dict(span.attributes) for span in spans if span.name.startswith("execute_tool")]
    assert [call["loop.repeats"] for call in calls] == [1, 2, 3, 4, 5, 6], calls
    assert [call["loop.flat_steps"] for call in calls] == [0, 1, 2, 3, 4, 5], calls
    assert calls[-1]["loop.verdict"] == "stop", calls[-1]
    alerts = {event.attributes["pattern"] for span in spans for event in span.events}
    assert alerts == {"hard_loop", "no_progress"}, alerts
    (root,) = [dict(span.attributes) for span in spans if span.parent is None]
    assert (root["loop.stop_reason"], root["loop.task"]) == ("completed", "looper"), root
provider.shutdown()

before, after = InMemorySpanExporter(), InMemorySpanExporter()
strict = TracerProvider()
strict.add_span_processor(SimpleSpanProcessor(before))
strict.add_span_processor(LoopSpanProcessor(mode="enforce"))
strict.add_span_processor(SimpleSpanProcessor(after))
try:
    loop(strict.get_tracer("agent"), 6)
except LoopDetected as error:
    assert error.stop_reason == "loop_detected:repeated_tool_signature", error
else:
    raise AssertionError("the third call was made")
for exporter in (before, after):
    *calls, root = exporter.get_finished_spans()
    assert [call.status.status_code.name for call in calls] == ["UNSET", "UNSET", "ERROR"], calls
    assert root.name == "invoke_agent looper", root
strict.shutdown()
print("all is well")
"""


def installed(folder: Path) -> Path:
    """A Python with the oldest SDK and the other dependencies; skips when no package index can be reached."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--python", str(python)),
            *("install", "--quiet", "--disable-pip-version-check", "--retries", "1"),
            *(f"opentelemetry-sdk=={OLDEST}", f"opentelemetry-api=={OLDEST}", "duckdb>=1.5", "orjson>=3.10", "pytz>=2024.1"),
            "google-re2>=1.1",
        ],
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
        env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
    )
    if done.returncode:
        pytest.skip(f"opentelemetry-sdk {OLDEST} cannot be installed here: {done.stderr.strip()[-300:]}")
    return python


@pytest.mark.compat
@pytest.mark.skipif(os.name == "nt", reason="the venv's layout differs")
def test_tags_and_rows_with_the_oldest_sdk(db: Path, tmp_path: Path) -> None:
    python = installed(tmp_path / "venv")
    done = subprocess.run(
        [str(python), "-W", "ignore", "-c", _SCRIPT, str(db), OLDEST],
        env=environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "all is well\n", done.stderr
    assert rows(db, "select task, steps, flat_steps, flagged_reason from runs") == [
        ("looper", 6, 5, "loop_detected:repeated_tool_signature")
    ]
    assert value(db, "select count(*) from alerts where resolved_at is not null") == 2
    assert value(db, "select count(*) from spans where json_extract(attributes, '$.\"loop.repeats\"') is not null") == 6
