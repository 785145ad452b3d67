"""A small real database to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from otel_processor.recording.recorder import Recorder
from tests.unit.factory import agent_span, model_span, tool_span

if TYPE_CHECKING:
    from pathlib import Path

FAILED = {"gen_ai.tool.call.result": "429 too many requests", "error.type": "429"}


@pytest.fixture
def asked(db: Path) -> Path:
    """A run that loops and goes on, and some that are done: one of them took many more steps than the others."""
    spans = [tool_span(f"l{number}", trace="loop", parent="root", at=number) for number in range(6)]
    cached = {"gen_ai.usage.output_tokens": 5, "gen_ai.usage.cache_read.input_tokens": 4}
    for run in range(6):
        trace = f"done{run}"
        spans.append(agent_span(f"root{run}", trace=trace, at=1_000 * run, seconds=900, more={"loop.task": "count"}))
        for number in range(20 if run == 5 else 2):
            at = 1_000 * run + 10 * number
            spans.append(model_span(f"m{run}.{number}", trace=trace, parent=f"root{run}", at=at, more=cached))
            spans.append(
                tool_span(f"t{run}.{number}", f"read:{number}=line {number}", trace=trace, parent=f"root{run}", at=at + 2)
            )
    failing: dict[str, Any] = {"trace": "done0", "parent": "root0", "status": "ERROR", "more": FAILED}
    spans.extend(tool_span(f"e{number}", "get:x", at=50 + number, **failing) for number in range(3))
    assert Recorder(db, clock=lambda: 7_000 * 10**9).record(spans, timeout_seconds=10)
    return db
