"""What the database has to say of the agent, whoever sent its spans."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.clients.agent import TURNS
from tests.integration import processes
from tests.integration.stored import eventually, rows, stored_ids

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.integration.service.serving import Serving

TOKEN = "of-the-service"
SERVICE = {"OTEL_PROCESSOR_TOKEN": TOKEN}
"""Settings of the service."""


def sender(service: Serving, protocol: str) -> dict[str, str]:
    """The environment of an agent that sends to the service: where to, how, the token, gzip."""
    port = service.grpc_port if protocol == "grpc" else service.http_port
    return processes.environment(
        {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
            "OTEL_EXPORTER_OTLP_HEADERS": "authorization=" + quote(f"Bearer {TOKEN}"),
            "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
            "OTEL_METRICS_EXPORTER": "none",
            "OTEL_LOGS_EXPORTER": "none",
        }
    )


def made_by(command: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Run an agent to its good end, and return the ids of the spans that it made."""
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    # What cannot be sent is a line on stderr of a Python agent, which works on.
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def assert_told(db: Path, ids: list[str]) -> None:
    """Every span is there once, as the calls of one run that looped, which was told once.

    Args:
        db: the database.
        ids: of the spans that the agent made.
    """
    assert len(ids) == 1 + 2 * TURNS
    # What was acknowledged may be in the spool for a moment, where the machine is busy.
    eventually(lambda: db.exists() and len(stored_ids(db)) >= len(ids), seconds=30, what="all spans")
    assert stored_ids(db) == sorted(ids)
    assert rows(db, "select kind, count(*), any_value(coalesce(tool, model)) from calls group by kind order by kind") == [
        ("model", TURNS, "m-1"),
        ("tool", TURNS, "lookup_order"),
    ]
    assert rows(db, "select repeats, arguments->>'order_id', result from calls where kind = 'tool' order by step") == [
        (number, "demo-001", "not found yet") for number in range(1, TURNS + 1)
    ]
    assert rows(db, "select task, tool_calls, model_calls, tokens, stop_reason, flagged_reason from runs") == [
        ("clerk", TURNS, TURNS, 110 * TURNS, "completed", "loop_detected:repeated_tool_signature")
    ]
    assert rows(db, "select count(*) from alerts where pattern = 'hard_loop'") == [(1,)]
