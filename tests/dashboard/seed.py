"""Rows for the store, written as a person would tell them: who ran what, which call came back with what."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from otel_processor.store.database import Database
from otel_processor.store.totals import recount

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

HEALTHY, LOOPING, RESOLVED, NO_USAGE, HOSTILE, PARALLEL, TWO_AGENTS = (
    f"{number:032x}" for number in (0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0xF6, 0x17)
)

HOSTILE_TEXT = "<script>alert('run')</script> **bold** [link](https://example.com) \x1b[31mred\x1b[0m \u202etxet :red[x] $x$"

Row = dict[str, Any]


def insert(connection: duckdb.DuckDBPyConnection, table: str, row: Row) -> None:
    """Insert one row; columns that it does not name stay NULL."""
    columns = ", ".join(f'"{name}"' for name in row)
    connection.execute(f"insert into {table} ({columns}) values ({', '.join('?' * len(row))})", list(row.values()))


def tool(step: int, name: str, arguments: object, result: str | None = "ok", **columns: Any) -> Row:
    """A tool call: it brought something new unless `progress` says otherwise."""
    text = json.dumps(arguments)
    return {
        "kind": "tool",
        "step": step,
        "tool": name,
        "arguments": text,
        "result": result,
        "is_error": False,
        "signature": hashlib.sha256(f"{name}{text}".encode()).hexdigest(),
        "progress": True,
        "repeats": 1,
        "flat_steps": 0,
        "effect": "read",
    } | columns


def flat(step: int, name: str, arguments: object, streak: int, **columns: Any) -> Row:
    """A tool call that brought nothing new, the streak-th in a row."""
    return tool(step, name, arguments, "nothing new", progress=False, repeats=streak + 1, flat_steps=streak, **columns)


def model(step: int, tokens: int | None = 1000, **columns: Any) -> Row:
    """A model call; without tokens where usage was not recorded."""
    spent = {} if tokens is None else {"input_tokens": tokens * 9 // 10, "output_tokens": tokens - tokens * 9 // 10}
    return {"kind": "model", "step": step, "model": "gpt-5-mini", "is_error": False, "flat_steps": 0, **spent} | columns


def span_id_of(run_id: str, position: int) -> str:
    """The span id that `add_run` gives to the call at a position."""
    return hashlib.sha256(f"{run_id}/{position}".encode()).hexdigest()[:16]


def add_run(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    calls: list[Row],
    *,
    started_at: datetime | None = None,
    seconds_per_call: float = 2.0,
    **columns: Any,
) -> None:
    """Insert a run with its calls, one after the other."""
    start = started_at or datetime.now(UTC) - timedelta(minutes=5)
    for position, call in enumerate(calls):
        begun = start + timedelta(seconds=position * seconds_per_call)
        ended = begun + timedelta(seconds=seconds_per_call * 0.8)
        row = {
            "trace_id": run_id,
            "span_id": span_id_of(run_id, position),
            "started_at": begun,
            "ended_at": ended,
            "end_unix_nano": int(ended.timestamp() * 1e9),
        }
        insert(connection, "call_rows", row | call)
    end = start + timedelta(seconds=len(calls) * seconds_per_call)
    run = {
        "run_id": run_id,
        "task": "research",
        "agent": "researcher",
        "service": "agents",
        "started_at": start,
        "ended_at": end,
        "last_seen_at": end,
        "stop_reason": "completed",
        "policy_hash": "0" * 64,
        "status": "ok",
    }
    insert(connection, "run_rows", run | columns)
    insert(connection, "trace_runs", {"trace_id": run_id, "run_id": run_id, "decided_by": "agent_root"})
    recount(connection, [run_id], first_end_ns=0)


def add_alert(connection: duckdb.DuckDBPyConnection, run_id: str, position: int, **columns: Any) -> None:
    """Insert an alert that was raised at one call of a run."""
    pattern = columns.get("pattern", "hard_loop")
    row = {
        "alert_id": hashlib.sha256(f"{run_id}/{pattern}/{position}".encode()).hexdigest(),
        "run_id": run_id,
        "trace_id": run_id,
        "span_id": span_id_of(run_id, position),
        "at": datetime.now(UTC),
        "task": "research",
        "agent": "researcher",
        "tool": "search",
        "pattern": pattern,
        "severity": "critical",
        "action": "stop",
        "stop_reason": "loop_detected:repeated_tool_signature",
        "message": "search was called 3 times with the same arguments and nothing changed",
    }
    insert(connection, "alerts", row | columns)


def create(path: Path) -> None:
    """Create a database without rows."""
    with Database(path).write(timeout_seconds=10):
        pass


def seed_healthy(path: Path) -> None:
    """Write one run that came to its end without a loop."""
    with Database(path).write(timeout_seconds=10) as connection:
        _healthy(connection)


def seed_all(path: Path) -> None:
    """Write one run of every kind that a page has to cope with."""
    with Database(path).write(timeout_seconds=10) as connection:
        _healthy(connection)
        _looping(connection)
        _resolved(connection)
        add_run(connection, NO_USAGE, [model(1, None), tool(1, "search", {"q": "maps"}), model(2, None)], task="translate")
        _hostile(connection)
        _parallel(connection)
        _two_agents(connection)


def _healthy(connection: duckdb.DuckDBPyConnection) -> None:
    calls = [model(1), tool(1, "search", {"q": "cats"}), model(2), tool(2, "read", {"page": 1}), model(3)]
    add_run(connection, HEALTHY, calls, task="summarise")


def _looping(connection: duckdb.DuckDBPyConnection) -> None:
    calls: list[Row] = [model(1), tool(1, "search", {"q": "dogs"})]
    for step in range(2, 8):
        calls += [model(step), flat(step, "search", {"q": "dogs"}, step - 1)]
    add_run(
        connection,
        LOOPING,
        calls,
        ended_at=None,
        stop_reason="running",
        status="running",
        flagged_reason="loop_detected:repeated_tool_signature",
    )
    add_alert(connection, LOOPING, 7)


def _resolved(connection: duckdb.DuckDBPyConnection) -> None:
    calls = [
        model(1),
        tool(1, "fetch", {"url": "a"}),
        flat(2, "fetch", {"url": "a"}, 1),
        flat(3, "fetch", {"url": "a"}, 2, is_error=True, error_class="transient", error_message="503 Service Unavailable"),
        tool(4, "fetch", {"url": "b"}, "a new page"),
        model(5),
    ]
    add_run(connection, RESOLVED, calls, task="crawl", flagged_reason="loop_detected:no_progress")
    add_alert(
        connection,
        RESOLVED,
        3,
        pattern="no_progress",
        severity="warning",
        action="nudge",
        task="crawl",
        message="3 steps in a row brought nothing new",
        at=datetime.now(UTC) - timedelta(minutes=4, seconds=56),
        resolved_at=datetime.now(UTC) - timedelta(minutes=4, seconds=53),
    )


def _hostile(connection: duckdb.DuckDBPyConnection) -> None:
    calls = [
        model(1, model=HOSTILE_TEXT),
        tool(1, HOSTILE_TEXT, {"q": HOSTILE_TEXT}, HOSTILE_TEXT, agent=HOSTILE_TEXT),
        tool(2, "dump", {"q": "all"}, "long " * 200_000),
    ]
    add_run(connection, HOSTILE, calls, task=HOSTILE_TEXT, agent=HOSTILE_TEXT, service=HOSTILE_TEXT)
    add_alert(
        connection,
        HOSTILE,
        1,
        task=HOSTILE_TEXT,
        agent=HOSTILE_TEXT,
        tool=HOSTILE_TEXT,
        message=HOSTILE_TEXT,
        pattern=HOSTILE_TEXT,
        at=datetime.now(UTC) - timedelta(minutes=2),
    )


def _parallel(connection: duckdb.DuckDBPyConnection) -> None:
    calls = [model(1), *(tool(1, "search", {"q": word}) for word in ("ants", "bees", "cows")), model(2)]
    add_run(connection, PARALLEL, calls, task="compare")


def _two_agents(connection: duckdb.DuckDBPyConnection) -> None:
    calls: list[Row] = []
    for step in range(1, 6):
        calls.append(tool(step, "search", {"q": "same"}, agent="planner", progress=step == 1, flat_steps=step - 1))
        calls.append(tool(step, "search", {"q": f"page {step}"}, agent="worker"))
    add_run(connection, TWO_AGENTS, calls, task="plan", agent="planner")
