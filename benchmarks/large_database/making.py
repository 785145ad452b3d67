"""A database as many agents leave it within a month, made by DuckDB itself in half a minute and not span by span."""

from __future__ import annotations

import random
import time
from pathlib import Path

from otel_processor.policy import Policy
from otel_processor.recording.policy_rows import write_policies
from otel_processor.store.database import Database
from otel_processor.store.totals import recount_all

DAYS = 30
LONGEST_RUN_STEPS = 5_000
RUNNING = 50
ALERTS = 2_000
OPEN_ALERTS = 20

_WORDS = (
    "the a of in and for with order status invoice refund latency release weight license model cluster quota region index shard "
    "customer page result error search report found none total price review table column value date first second next"
).split()

_MACROS = """
create temp macro chance
    (a, b) as (hash(a, b) % 1000003) / 1000003.0,
    (a, b, c) as (hash(a, b, c) % 1000003) / 1000003.0;
create temp macro prose(characters, seed) as
    substr(getvariable('prose'), 1 + (seed % 18000)::INTEGER, characters::INTEGER);
"""


def make(path: Path, *, spans: int, runs: int) -> None:
    """Make the database: about so many spans, exactly so many runs over the last days, some still going on.

    Tasks are 200 with a few frequent ones; one run in eight goes in circles, five take 5,000 steps (or what fits).
    """
    words = random.Random(7)
    prose = " ".join(words.choice(_WORDS) if words.random() > 0.1 else str(words.randrange(10_000)) for _ in range(4_000))
    longest = max(min(LONGEST_RUN_STEPS, spans // 200), 10)
    policy = Policy()
    with Database(path).write(timeout_seconds=10) as connection:
        connection.execute("set variable prose = $prose", {"prose": prose})
        connection.execute(_MACROS)

        def fill(name: str, **parameters: int | float | str) -> None:
            connection.execute((Path(__file__).parent / f"{name}.sql").read_text(encoding="utf-8"), parameters)

        fill(
            "made_runs",
            runs=runs,
            running=min(RUNNING, runs // 20),
            longest=longest,
            # Two calls a step, and each run has its agent's span and a last answer; the long ones take their part.
            steps=max((spans - 5 * 2 * longest) / runs / 2 - 1.5, 1.5),
            days=DAYS,
            now_us=time.time_ns() // 1_000,
        )
        fill("made_calls")
        fill("call_rows")
        fill("spans")
        fill("trace_runs")
        fill("run_rows", policy_hash=policy.hash)
        fill("alerts", alerts=min(ALERTS, runs // 25), open=OPEN_ALERTS)
        fill("writers", days=DAYS, spans=spans)
        write_policies(connection, {policy.hash}, {policy.hash: policy})
        recount_all(connection)
        connection.execute("drop table made_calls; drop table made_runs")
