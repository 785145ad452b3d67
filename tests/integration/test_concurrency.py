"""Threads, tasks and processes that work at the same time."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_processor import LoopSpanProcessor, instrument
from tests.integration import processes
from tests.integration.agents import agent, ask_model, call_tool, tool_attributes
from tests.integration.stored import rows, stored_ids, value

if TYPE_CHECKING:
    from pathlib import Path

THREADS = 8
RUNS = 10
CALLS = 6


def test_threads_do_not_mix_their_runs(provider: TracerProvider, db: Path) -> None:
    """Eight threads start together and run agents of equal calls: each run counts its own."""
    installed = instrument(db, tracer_provider=provider)
    tracer = provider.get_tracer("agent")
    together = threading.Barrier(THREADS)

    def work(worker: int) -> None:
        together.wait(10)
        for number in range(RUNS):
            with agent(tracer, f"agent-{worker}", more={"loop.run.id": f"{worker}-{number}"}):
                for _ in range(CALLS):
                    ask_model(tracer)
                    call_tool(tracer, "search", {"q": "x"}, "nothing found")

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    assert installed.force_flush()
    assert rows(
        db, "select distinct agent, steps, tool_calls, model_calls, longest_flat_streak, flagged_reason from runs order by agent"
    ) == [(f"agent-{w}", CALLS, CALLS, CALLS, CALLS - 1, "loop_detected:repeated_tool_signature") for w in range(THREADS)]
    assert value(db, "select count(*) from runs") == THREADS * RUNS
    per_run = "select run_id, list(repeats order by step) as r from calls where kind = 'tool' group by all"
    assert rows(db, f"select distinct r from ({per_run})") == [(list(range(1, CALLS + 1)),)]
    assert value(db, "select count(*) - count(distinct span_id) from spans") == 0
    assert value(db, "select max(n) from (select count(*) as n from alerts group by run_id, pattern)") == 1


def test_parents_may_be_written_on_while_their_children_end(provider: TracerProvider) -> None:
    """One thread fills the agent's span with attributes while others end calls below it: every call is tagged."""
    seen = InMemorySpanExporter()
    provider.add_span_processor(LoopSpanProcessor())
    provider.add_span_processor(SimpleSpanProcessor(seen))
    tracer = provider.get_tracer("agent")
    done = threading.Event()

    with agent(tracer) as root:

        def fill() -> None:
            number = 0
            while not done.is_set():
                number += 1
                root.set_attribute(f"note.{number % 100}", number)

        below = trace.set_span_in_context(root)
        filler = threading.Thread(target=fill)
        filler.start()
        try:
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda n: call_tool(tracer, "search", {"q": n}, f"hit {n}", context=below), range(400)))
        finally:
            done.set()
            filler.join()
    calls: list[dict[str, Any]] = [
        dict(span.attributes or {}) for span in seen.get_finished_spans() if span.name.startswith("execute_tool")
    ]
    assert len(calls) == 400
    assert all("loop.signature" in call for call in calls)
    assert sorted(call["loop.step"] for call in calls) == list(range(1, 401))


def test_parallel_tool_calls_are_one_step(provider: TracerProvider, db: Path) -> None:
    """Tools that one answer asked for run as asyncio tasks: they share its step, whichever ends first."""
    installed = instrument(db, tracer_provider=provider)
    tracer = provider.get_tracer("agent")

    async def tool(number: int) -> None:
        with tracer.start_as_current_span("execute_tool read", attributes=tool_attributes("read", {"page": number})) as span:
            await asyncio.sleep(0.001 * (5 - number))
            span.set_attribute("gen_ai.tool.call.result", f"text of page {number}")

    async def work() -> None:
        with agent(tracer):
            for turn in range(3):
                ask_model(tracer)
                await asyncio.gather(*(tool(10 * turn + number) for number in range(5)))

    asyncio.run(work())
    assert installed.force_flush()
    assert rows(db, "select step, count(*), bool_and(progress) from calls where kind = 'tool' group by step order by step") == [
        (step, 5, True) for step in (1, 2, 3)
    ]
    assert rows(db, "select steps, tool_calls, flat_steps from runs") == [(3, 15, 0)]


_FORK = """
from otel_processor import instrument
installed = instrument(sys.argv[1])
tracer = trace.get_tracer("agent")
with agent(tracer, "before"):
    told = [call_tool(tracer, "search", {"q": 0}, "before the fork")]
if sys.argv[3] == "warm":
    installed.force_flush()
children = []
for number in range(3):
    pid = os.fork()
    if pid == 0:
        told = []
        for turn in range(20):
            with agent(tracer, f"child-{number}"):
                told += [call_tool(tracer, "search", {"q": f"{number}-{turn}"}, f"hit {number} {turn}") for _ in range(3)]
        Path(sys.argv[2], f"{os.getpid()}.ids").write_text("\\n".join(told))
        sys.exit(0)
    children.append(pid)
for turn in range(20):
    with agent(tracer, "parent"):
        told += [call_tool(tracer, "search", {"q": f"p-{turn}"}, f"hit p {turn}") for _ in range(3)]
Path(sys.argv[2], f"{os.getpid()}.ids").write_text("\\n".join(told))
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
assert codes == [0, 0, 0], codes
"""


@pytest.mark.parametrize("state", ["cold", "warm"])
def test_forked_children_write_their_own_spans(state: str, db: Path, tmp_path: Path) -> None:
    """Fork after instrument(), before and after the database engine was started: nothing is lost, doubled or stuck."""
    # Five processes want the file, on however few cores: a batch in the spool would have nobody of its own in `writers`.
    processes.run(_FORK, db, tmp_path, state, env={"OTEL_PROCESSOR_BUSY_TIMEOUT": "60"})
    told = sorted(line for path in tmp_path.glob("*.ids") for line in path.read_text().split())
    assert len(told) == 1 + 4 * 60
    assert [row[0] for row in rows(db, "select span_id from calls order by span_id")] == told
    assert len(stored_ids(db)) == len(set(stored_ids(db))) == len(told) + 1 + 4 * 20
    assert value(db, "select count(distinct pid) from writers") == 4


_FORK_IN_A_SPAN = """
from otel_processor import instrument
installed = instrument(sys.argv[1])
tracer = trace.get_tracer("agent")
call_tool(tracer, "search", {"q": 0}, "before the fork")
assert installed.force_flush()
with agent(tracer, "both") as root:
    pid = os.fork()
    call_tool(tracer, "search", {"q": pid == 0}, f"hit {pid == 0}")
if pid:
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""


def test_a_span_that_ends_on_both_sides_of_a_fork_counts_once(db: Path) -> None:
    processes.run(_FORK_IN_A_SPAN, db)
    assert rows(db, "select agent, tool_calls, steps from runs where task = 'both'") == [("both", 2, 2)]
    assert len(stored_ids(db)) == len(set(stored_ids(db))) == 4


_FORK_WITHOUT_US = """
from otel_processor import instrument
installed = instrument(sys.argv[1])
loop(trace.get_tracer("agent"), 2)
assert installed.force_flush()
pid = os.fork()
if pid == 0:
    print("child", flush=True)
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
"""


def test_a_forked_child_that_traces_nothing_exits_at_once(db: Path) -> None:
    out, _ = processes.run(_FORK_WITHOUT_US, db, seconds=30)
    assert out == "child\n"


def spawned(db: str, number: int) -> list[str]:
    """What a spawned worker does."""
    provider = TracerProvider(shutdown_on_exit=False)
    installed = instrument(db, tracer_provider=provider)
    tracer = provider.get_tracer("agent")
    with agent(tracer, f"worker-{number}"):
        told = [call_tool(tracer, "search", {"q": turn}, f"hit {turn}") for turn in range(10)]
    assert installed.force_flush()
    installed.shutdown()
    return told


def test_spawned_workers_write_into_one_file(db: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        told = pool.starmap(spawned, [(str(db), number) for number in range(3)])
        pool.close()
        pool.join()
    assert [row[0] for row in rows(db, "select span_id from calls order by span_id")] == sorted(
        span_id for worker in told for span_id in worker
    )
    assert rows(db, "select agent, steps from runs order by agent") == [(f"worker-{number}", 10) for number in range(3)]
