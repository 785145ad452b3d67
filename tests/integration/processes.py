"""Processes of their own, as agents have them."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[2]

_PREAMBLE = """
import os, sys, time
from pathlib import Path
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from tests.integration.agents import agent, ask_model, call_tool, loop, span_id, tool_attributes, trace_id
"""

_HOLD = """
import duckdb, sys, time
deadline = time.monotonic() + 30
while True:
    try:
        connection = duckdb.connect(sys.argv[1])
        break
    except duckdb.IOException:
        if time.monotonic() > deadline:
            raise
        time.sleep(0.002)
print("held", flush=True)
sys.stdin.read()
"""


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The caller's environment without its telemetry settings, and with the tests' modules to be found."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("OTEL_", "COV_"))}
    return kept | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"} | dict(more or {})


def start(
    code: str, *arguments: object, env: Mapping[str, str] | None = None, preamble: str = _PREAMBLE
) -> subprocess.Popen[str]:
    """Start Python with this code; the small agent's functions are imported already."""
    return subprocess.Popen(
        [sys.executable, "-c", preamble + code, *map(str, arguments)],
        env=environment(env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], *, seconds: float = 60) -> tuple[str, str]:
    """Wait for a process that must end well; return what it printed and what it logged."""
    try:
        out, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, errors = process.communicate()
        raise AssertionError(f"still running after {seconds} s: {out}\n{errors}") from None
    assert process.returncode == 0, f"exit code {process.returncode}\n{out}\n{errors}"
    return out, errors


def run(code: str, *arguments: object, env: Mapping[str, str] | None = None, seconds: float = 60) -> tuple[str, str]:
    """Run Python with this code to its good end."""
    return finish(start(code, *arguments, env=env), seconds=seconds)


@contextmanager
def held(db: Path) -> Iterator[int]:
    """Let another process hold the database for writing, once others leave it; gives its process id."""
    process = start(_HOLD, db, preamble="")
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        assert process.stdout.readline().strip() == "held"
        yield process.pid
    finally:
        process.communicate(timeout=20)
