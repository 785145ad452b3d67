"""Leaves against roots: what the view `cost_reconciliation` says of runs, from spans to SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_processor.recording.recorder import Recorder
from tests.integration.records import SECOND, START, record
from tests.integration.stored import rows

if TYPE_CHECKING:
    from pathlib import Path

    from otel_processor.model import SpanRecord


def usage(tokens: int | None, answered: int = 1) -> dict[str, int]:
    return {} if tokens is None else {"gen_ai.usage.input_tokens": tokens, "gen_ai.usage.output_tokens": answered}


def run(leaves: list[int | None], root: int | None) -> list[SpanRecord]:
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "a-model-of-nobody"}
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"}
    spans = [record(chat | usage(tokens), parent="f" * 16, at=START + n * SECOND) for n, tokens in enumerate(leaves)]
    return [*spans, record(agent | usage(root, max(1, len(leaves))), span="f" * 16, at=START, end=START + 60 * SECOND)]


@pytest.mark.parametrize(
    ("leaves", "root", "verdict", "tokens"),
    [
        ([10, 20], 30, "unpriced", 32),
        ([10, 20], 31, "differs", 32),
        ([10, 20], None, "unpriced", 32),
        ([None, None], None, "no_usage", None),
        ([None], 30, "no_usage", 31),
        ([], 30, "no_leaves", 31),
    ],
)
def test_runs_are_told_apart(db: Path, leaves: list[int | None], root: int | None, verdict: str, tokens: int | None) -> None:
    assert Recorder(db).record(run(leaves, root), timeout_seconds=5)
    assert rows(db, "select verdict from cost_reconciliation") == [(verdict,)]
    assert rows(db, "select tokens from runs") == [(tokens,)]
