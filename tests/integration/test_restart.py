"""A run goes on after its process was killed: counters, tags and alerts from where they stood."""

from __future__ import annotations

import json
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration import processes
from tests.integration.stored import ALERTS, rows, value

if TYPE_CHECKING:
    from pathlib import Path

_SETUP = """
import json
from opentelemetry import baggage, context, propagate
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from otel_processor import instrument
from otel_processor.processor import recalling
# What is right is tested here, on a machine that may be busy.
recalling.FIRST_WAIT_SECONDS = recalling.WAIT_SECONDS = float(os.environ.get("WAITS", 20))
provider = TracerProvider(resource=Resource({"service.name": "shop"}))
installed = instrument(sys.argv[1], tracer_provider=provider)
seen = InMemorySpanExporter()
provider.add_span_processor(SimpleSpanProcessor(seen))
tracer = provider.get_tracer("agent")
times, run = int(sys.argv[2]), sys.argv[3]

def die_or_tell():
    assert installed.force_flush()
    if os.environ.get("DIES"):
        os.kill(os.getpid(), 9)
    for span in seen.get_finished_spans():
        if "loop.step" in span.attributes:
            tags = {key[5:]: value for key, value in span.attributes.items() if key.startswith("loop.")}
            tags["alerts"] = [event.attributes["pattern"] for event in span.events if event.name == "loop.alert"]
            print(json.dumps(tags))
"""
_BAGGAGE = (
    _SETUP
    + """
context.attach(baggage.set_baggage("loop.run.id", run))
for _ in range(times):
    call_tool(tracer, "lookup_order", {"order_id": "demo-001"}, "not found yet")
die_or_tell()
"""
)
_AGENT = (
    _SETUP
    + """
with agent(tracer, "clerk", more={"loop.run.id": run}):
    for _ in range(times):
        ask_model(tracer)
        call_tool(tracer, "lookup_order", {"order_id": "demo-001"}, "not found yet")
    die_or_tell()
"""
)
_REMOTE = (
    _SETUP
    + """
context.attach(propagate.extract({"traceparent": run}))
for _ in range(times):
    call_tool(tracer, "lookup_order", {"order_id": "demo-001"}, "not found yet")
die_or_tell()
"""
)
_TALK = (
    _SETUP
    + """
for _ in range(times):
    call_tool(tracer, "lookup_order", {"order_id": "demo-001"}, "not found yet", more={"gen_ai.conversation.id": run})
die_or_tell()
"""
)
_TURNS = (
    _SETUP
    + """
with agent(tracer, "clerk", more={"loop.run.id": run}):
    for _ in range(times):
        call_tool(tracer, "lookup_order", {"order_id": "demo-001"}, "not found yet")
die_or_tell()
"""
)
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
WAYS = {
    "declared in baggage": (_BAGGAGE, "order-7"),
    "declared on an agent that died": (_AGENT, "order-7"),
    "declared on an agent that ended its turn": (_TURNS, "order-7"),
    "the trace of another process": (_REMOTE, TRACEPARENT),
    "a conversation": (_TALK, "talk-7"),
}


_REFUSED = (
    _SETUP
    + """
from otel_processor import LoopDetected
context.attach(baggage.set_baggage("loop.run.id", run))
try:
    call_tool(tracer, "lookup_order", {"order_id": "demo-001"}, "not found yet")
    print("was made")
except LoopDetected as error:
    print(error.verdict.pattern)
"""
)
_ASKED = (
    _SETUP
    + """
from otel_processor import current_guard
with agent(tracer, "clerk", more={"loop.run.id": run}):
    print(current_guard().before_tool("lookup_order", {"order_id": "demo-001"}).pattern)
"""
)


def dies(code: str, db: Path, times: int, run: str) -> None:
    process = processes.start(code, db, times, run, env={"DIES": "yes"})
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, errors


def lives(code: str, db: Path, times: int, run: str) -> list[dict[str, Any]]:
    out, errors = processes.run(code, db, times, run)
    # Nothing but the alerts.
    assert all(re.match("(hard_loop|no_progress) in ", line) for line in errors.splitlines()), errors
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("way", WAYS)
def test_the_third_equal_call_is_the_third_although_its_process_made_none(way: str, db: Path) -> None:
    code, run = WAYS[way]
    dies(code, db, 2, run)
    assert rows(db, "select repeats from calls where kind = 'tool' order by ended_at") == [(1,), (2,)]
    (third,) = lives(code, db, 1, run)
    assert (third["repeats"], third["pattern"], third["alerts"]) == (3, "hard_loop", ["hard_loop"])
    assert rows(db, "select repeats from calls where kind = 'tool' order by ended_at") == [(1,), (2,), (3,)]
    ((run_id, steps),) = rows(db, "select run_id, steps from runs")
    assert (third["run.id"], third["step"]) == (run_id, steps)
    assert rows(db, ALERTS) == [(run_id, "hard_loop", 1)]
    assert rows(db, "select span_id from alerts") == rows(db, "select span_id from calls where repeats = 3")


@pytest.mark.parametrize("code", [_REFUSED, _ASKED], ids=["on_start", "current_guard"])
def test_the_guard_knows_what_was_done_before(code: str, db: Path) -> None:
    dies(_BAGGAGE, db, 2, "order-7")
    out, _ = processes.run(code, db, 1, "order-7", env={"OTEL_PROCESSOR_MODE": "enforce"})
    assert out == "hard_loop\n"


def test_what_was_told_before_is_not_told_again(db: Path) -> None:
    dies(_BAGGAGE, db, 3, "order-7")
    assert value(db, "select count(*) from alerts") == 1
    after = lives(_BAGGAGE, db, 2, "order-7")
    assert [(tags["repeats"], tags["alerts"]) for tags in after] == [(4, []), (5, ["no_progress"])]
    assert rows(db, ALERTS) == [("order-7", "hard_loop", 1), ("order-7", "no_progress", 1)]


def test_another_run_begins_at_one(db: Path) -> None:
    dies(_BAGGAGE, db, 2, "order-7")
    (first,) = lives(_BAGGAGE, db, 1, "order-8")
    assert (first["repeats"], first["step"], first["alerts"]) == (1, 1, [])


def test_a_run_goes_on_although_the_file_is_held_while_it_does(db: Path) -> None:
    """What was before cannot be told: the agent is not held up for long, and the rows are right in the end."""
    dies(_BAGGAGE, db, 2, "order-7")
    with processes.held(db):
        process = processes.start(_BAGGAGE, db, 1, "order-7", env={"WAITS": "0.2"})
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert json.loads(out.splitlines()[0])["repeats"] == 1
    processes.run(_BAGGAGE, db, 0, "order-7")
    lives(_BAGGAGE, db, 1, "order-7")
    assert rows(db, "select repeats from calls order by ended_at") == [(1,), (2,), (3,), (4,)]
