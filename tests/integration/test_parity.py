"""One set of spans, one set of rows: live, in one batch, in any batches and order, and from several processes."""

from __future__ import annotations

import os
import random
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import propagate, trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_processor import instrument
from otel_processor.exporter.sdk_records import record_of
from otel_processor.recording.recorder import Recorder
from otel_processor.runs import memory
from tests.integration import processes
from tests.integration.agents import agent, ask_model, call_tool
from tests.integration.records import SECOND, START, record, tool_record
from tests.integration.stored import ALERTS, CALLS, RUNS, rows, value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from opentelemetry.trace import Tracer

    from otel_processor.model import SpanRecord

ROUNDS = 20 if os.environ.get("OTEL_PROCESSOR_TEST_SOAK") else 1


def tables(db: Path) -> dict[str, list[tuple[Any, ...]]]:
    """What must be equal, whatever path the spans took."""
    return {"calls": rows(db, CALLS), "runs": rows(db, RUNS), "alerts": rows(db, ALERTS)}


def write(db: Path, writers: int, batches: Sequence[Sequence[SpanRecord]]) -> dict[str, list[tuple[Any, ...]]]:
    """Write the batches, the writers taking turns; none knows of the others."""
    recorders = [Recorder(db) for _ in range(writers)]
    for number, batch in enumerate(batches):
        assert recorders[number % writers].record(batch, timeout_seconds=10)
    return tables(db)


def looping(tracer: Tracer) -> None:
    """Model calls that ask for the same thing again, a recovery, and the next loop."""
    with agent(tracer, "looper"):
        for _ in range(4):
            ask_model(tracer, tokens=(500, 20))
            call_tool(tracer, "search", {"q": "cats"}, "no hits")
        call_tool(tracer, "read_page", {"url": "u"}, "a long page about cats, their whiskers, their tails and their naps")
        for _ in range(6):
            ask_model(tracer)
            call_tool(tracer, "search", {"q": "dogs"}, "nobody knows")


def healthy(tracer: Tracer) -> None:
    """Edit, test, edit, test; polling that moves; failures that are worth a retry."""
    with agent(tracer, "worker"):
        for number in range(4):
            ask_model(tracer)
            call_tool(tracer, "edit_file", {"path": "a.py", "text": f"version {number} {'x' * number}"}, "ok")
            call_tool(tracer, "run_tests", {"suite": "all"}, f"{3 - number} failed: case_{number}")
        for number in range(3):
            call_tool(tracer, "check_job_status", {"id": 1}, f"{number * 30} percent done, stage {'abcdef'[number] * 9}")
        for _ in range(3):
            call_tool(tracer, "fetch", {"url": "u"}, error="429 Too Many Requests")


def delegating(tracer: Tracer) -> None:
    """Two sub-agents make the same calls; neither repeats the other; one of them goes in circles."""
    with agent(tracer, "chief"):
        ask_model(tracer)
        for name, times in (("scout", 2), ("clerk", 5)):
            with agent(tracer, name):
                for _ in range(times):
                    ask_model(tracer)
                    call_tool(tracer, "search", {"q": "same"}, "the same answer")
        call_tool(tracer, "search", {"q": "same"}, "the same answer")


def interleaved(tracer: Tracer) -> None:
    """Three traces go on at the same time, call by call."""
    roots = [
        tracer.start_span(f"invoke_agent {name}", attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name})
        for name in ("one", "two", "three")
    ]
    for turn in range(5):
        for number, root in enumerate(roots):
            context = trace.set_span_in_context(root)
            call_tool(
                tracer,
                "search",
                {"q": number * (turn % 2)},
                "hit" if number else f"hit {turn} {'yz'[turn % 2] * 5}",
                context=context,
            )
    for root in roots:
        root.end()


def conversing(tracer: Tracer) -> None:
    """Every call is a trace of its own; the conversation makes them a run."""
    for _ in range(5):
        call_tool(tracer, "search", {"q": "x"}, "nothing", more={"gen_ai.conversation.id": "c-1"})
        call_tool(tracer, "search", {"q": "x"}, "nothing", more={"gen_ai.conversation.id": "c-2"})


def declaring(tracer: Tracer) -> None:
    """One declared run over several traces, and a declared run inside another."""
    for _ in range(3):
        with agent(tracer, "turn", more={"loop.run.id": "chat-9"}):
            call_tool(tracer, "search", {"q": "x"}, "nothing")
    with agent(tracer, "outer"):
        call_tool(tracer, "search", {"q": "x"}, "nothing")
        with agent(tracer, "inner", more={"loop.run.id": "inner-1"}):
            for _ in range(3):
                call_tool(tracer, "search", {"q": "x"}, "nothing")


def unfinished(tracer: Tracer) -> None:
    """Calls whose agent never ends, and calls without any agent."""
    root = tracer.start_span(
        "invoke_agent open", attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "open"}
    )
    for _ in range(4):
        call_tool(tracer, "search", {"q": "x"}, "nothing", context=trace.set_span_in_context(root))
    call_tool(tracer, "search", {"q": "y"}, "lonely")


def failing(tracer: Tracer) -> None:
    """Permanent failures, a run that ends with an exception, plain spans between."""
    with pytest.raises(ValueError, match="gave up"), agent(tracer, "unlucky"):  # noqa: PT012 - the run is the point
        for _ in range(3):
            ask_model(tracer)
            with tracer.start_as_current_span("plain"):
                call_tool(tracer, "read_file", {"path": "/x"}, error="FileNotFoundError: 404 not found")
        raise ValueError("gave up")


def answering(tracer: Tracer) -> None:
    """Tools record no results; the next model call is given them, and what is stuck is seen all the same."""
    with agent(tracer, "reader"):
        given: dict[str, str] = {}
        for turn in range(7):
            ask_model(tracer, given=given)
            given = {f"c{turn}": "the first page of it, with news" if turn == 0 else "nothing found"}
            call_tool(tracer, "search", {"q": "cats"}, more={"gen_ai.tool.call.id": f"c{turn}"})


def summing(tracer: Tracer) -> None:
    """No model call is recorded; agents say what they used, one of them inside the other."""
    used = {"gen_ai.usage.input_tokens": 300, "gen_ai.usage.output_tokens": 20}
    with agent(tracer, "boss", more=used), agent(tracer, "hand", more=used):
        call_tool(tracer, "search", {"q": "x"}, "something")


def stopping(tracer: Tracer) -> None:
    """Runs that end for all kinds of reasons, one of them inside another."""
    with agent(tracer, "handing over", more={"loop.task.type": "research"}):
        call_tool(tracer, "search", {"q": "x"}, "nothing")
        with tracer.start_as_current_span("asking", attributes={"loop.stop_reason.declared": "handed_to_human"}):
            call_tool(tracer, "ask", {"q": "y"}, "somebody will look at it")
    with suppress(TimeoutError), agent(tracer, "slow"):
        ask_model(tracer, finish="tool_calls")
        raise TimeoutError
    with agent(tracer, "boss"):
        with suppress(KeyError), agent(tracer, "helper"):
            call_tool(tracer, "search", {"q": "z"}, "found it")
            raise KeyError("helper")
        ask_model(tracer, finish="length")
    with agent(tracer, "caught"), suppress(KeyError), agent(tracer, "last"):
        call_tool(tracer, "search", {"q": "z"}, "found it")
        raise KeyError("last")
    with suppress(KeyboardInterrupt), agent(tracer, "interrupted"):
        call_tool(tracer, "search", {"q": "z"}, "found it")
        raise KeyboardInterrupt


SCENARIOS = [stopping, answering, summing, looping, healthy, delegating, interleaved, conversing, declaring, unfinished, failing]


def run_live(scenario: Callable[[Tracer], None], db: Path) -> list[SpanRecord]:
    """Run a scenario through processor and exporter into `db`; return its spans in the order in which they ended."""
    provider = TracerProvider(shutdown_on_exit=False, resource=Resource({"service.name": "shop"}))
    installed = instrument(db, tracer_provider=provider)
    seen = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(seen))
    scenario(provider.get_tracer("agent"))
    assert installed.force_flush()
    provider.shutdown()
    return [record_of(span) for span in seen.get_finished_spans()]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Each scenario run once through processor and exporter: its spans, and the tables that they made."""
    made: dict[str, Any] = {}
    for scenario in SCENARIOS:
        db = tmp_path_factory.mktemp("live") / "agents.duckdb"
        made[scenario.__name__] = run_live(scenario, db), tables(db)
    return made


TAGS = """
    select span_id, attributes ->> '$."loop.run.id"', (attributes ->> '$."loop.step"')::INTEGER,
        attributes ->> '$."loop.signature"', attributes ->> '$."loop.fingerprint"', (attributes ->> '$."loop.progress"')::BOOLEAN,
        (attributes ->> '$."loop.repeats"')::INTEGER, (attributes ->> '$."loop.flat_steps"')::INTEGER
    from spans where attributes ->> '$."loop.step"' is not null
    order by all
"""
ROWS = """
    select span_id, run_id, step, signature, fingerprint, progress, repeats, flat_steps
    from calls where kind = 'tool' order by all
"""
ROOT_TAGS = """
    select trace_id, attributes ->> '$."loop.stop_reason"' from spans
    where attributes ->> '$."loop.stop_reason"' is not null order by all
"""
ROOT_ROWS = (
    "select distinct trace_id, stop_reason from calls join runs using (run_id) where stop_reason <> 'running' order by all"
)
LATE = {"answering"}
"""Where a result is told by the next model call only, a tag is what was known before."""


NAMES = [scenario.__name__ for scenario in SCENARIOS]


def test_runs_end_for_the_reasons_that_their_spans_tell(live: dict[str, Any], db: Path) -> None:
    spans, _ = live["stopping"]
    write(db, 1, [spans])
    assert dict(rows(db, "select task, stop_reason || ' ' || status from runs")) == {
        "handing over": "handed_to_human ok",
        "slow": "timeout error",
        "boss": "model_length ok",
        "caught": "error error",
        "interrupted": "cancelled error",
    }


@pytest.mark.parametrize("name", [name for name in NAMES if name not in LATE])
def test_what_the_tags_say_is_what_the_table_says(name: str, live: dict[str, Any], db: Path) -> None:
    spans, _ = live[name]
    write(db, 1, [spans])
    assert rows(db, TAGS) == rows(db, ROWS)
    if name not in {"declaring", "conversing"}:
        # A run over several traces ends with the last one.
        assert rows(db, ROOT_TAGS) == rows(db, ROOT_ROWS)


@pytest.mark.parametrize("name", NAMES)
def test_one_batch_is_like_live(name: str, live: dict[str, Any], db: Path) -> None:
    spans, expected = live[name]
    assert expected["calls"]
    assert write(db, 1, [spans]) == expected


@pytest.mark.parametrize("name", NAMES)
def test_span_by_span_is_like_live(name: str, live: dict[str, Any], db: Path) -> None:
    spans, expected = live[name]
    assert write(db, 1, [[span] for span in spans]) == expected


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("writers", [1, 2, 3])
def test_any_batches_in_order_are_like_live(name: str, writers: int, live: dict[str, Any], db: Path) -> None:
    spans, expected = live[name]
    for number in range(ROUNDS):
        chance = random.Random(number)
        batches, at = [], 0
        while at < len(spans):
            size = chance.randint(1, 9)
            batches.append(spans[at : at + size])
            at += size
        assert write(db.with_name(f"{number}.duckdb"), writers, batches) == expected, number


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("writers", [1, 2])
def test_any_batches_in_any_order_are_like_live(name: str, writers: int, live: dict[str, Any], db: Path) -> None:
    """Calls and runs are equal; alerts were told on what was known then and are never withdrawn: none is missing."""
    spans, expected = live[name]
    for number in range(ROUNDS):
        chance = random.Random(number)
        shuffled = chance.sample(spans, len(spans))
        batches = [shuffled[at : at + 5] for at in range(0, len(spans), 5)]
        found = write(db.with_name(f"{number}.duckdb"), writers, batches)
        assert found["calls"] == expected["calls"], number
        assert found["runs"] == expected["runs"], number
        told = {(run, pattern): count for run, pattern, count in found["alerts"]}
        assert all(told.get((run, pattern), 0) >= count for run, pattern, count in expected["alerts"]), number


_REMOTE = """
from opentelemetry import propagate
from otel_processor import instrument
installed = instrument(sys.argv[1])
tracer = trace.get_tracer("agent")
context = propagate.extract({"traceparent": sys.argv[2]})
for _ in range(3):
    call_tool(tracer, "search", {"q": "x"}, "nothing", context=context)
assert installed.force_flush()
"""


def test_a_run_over_two_processes_is_one_run(db: Path) -> None:
    """The agent works here, some of its tools run in another process, before and after tools here."""
    provider = TracerProvider(shutdown_on_exit=False)
    installed = instrument(db, tracer_provider=provider)
    tracer = provider.get_tracer("agent")
    with agent(tracer, "split") as root:
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        for _ in range(2):
            call_tool(tracer, "search", {"q": "x"}, "nothing")
            assert installed.force_flush()
            processes.run(_REMOTE, db, carrier["traceparent"])
        call_tool(tracer, "search", {"q": "x"}, "nothing")
        run_id = f"{root.get_span_context().trace_id:032x}"
    assert installed.force_flush()
    provider.shutdown()
    assert rows(db, "select run_id, agent, steps, flat_steps, longest_flat_streak, status from runs") == [
        (run_id, "split", 9, 8, 8, "ok")
    ]
    assert rows(db, "select step, repeats, flat_steps, agent from calls order by ended_at") == [
        (number + 1, number + 1, number, "split") for number in range(9)
    ]
    assert rows(db, ALERTS) == [(run_id, "hard_loop", 1), (run_id, "no_progress", 1)]
    assert value(db, "select count(*) from alerts where resolved_at is null") == 0


def test_a_guess_of_the_live_path_is_no_declaration(db: Path) -> None:
    """A process that only sees tools tags them with their trace; the run that the root declares elsewhere wins."""
    away, home = (TracerProvider(shutdown_on_exit=False) for _ in range(2))
    seen = [instrument(db, tracer_provider=provider) for provider in (away, home)]
    with agent(home.get_tracer("agent"), "chief", more={"loop.run.id": "order-7"}):
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        for _ in range(2):
            call_tool(away.get_tracer("tools"), "search", {"q": "x"}, "nothing", context=propagate.extract(carrier))
        assert all(installed.force_flush() for installed in seen)
        call_tool(home.get_tracer("agent"), "search", {"q": "x"}, "nothing")
    assert all(installed.force_flush() for installed in seen)
    call_tool(away.get_tracer("tools"), "search", {"q": "x"}, "nothing", context=propagate.extract(carrier))
    assert all(installed.force_flush() for installed in seen)
    assert rows(db, "select run_id, steps, agent from runs") == [("order-7", 4, "chief")]
    assert rows(db, "select run_id, step, repeats from calls order by ended_at") == [("order-7", n, n) for n in (1, 2, 3, 4)]
    for provider in (away, home):
        provider.shutdown()


def test_a_span_that_comes_after_its_run_was_forgotten_changes_it_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few runs that are over stay in memory; one of which more comes is decided anew from what is stored."""
    monkeypatch.setattr(memory, "OVER_RUNS", 2)
    runs = [_looping_run(number) for number in range(5)]
    late = [spans.pop(2) for spans in runs]
    in_turn, at_once = tmp_path / "in_turn.duckdb", tmp_path / "at_once.duckdb"
    recorder = Recorder(in_turn)
    for batch in (*runs, late):
        assert recorder.record(batch, timeout_seconds=5)
    assert Recorder(at_once).record([span for batch in (*runs, late) for span in batch], timeout_seconds=5)
    assert recorder.counters.put_away == 0
    decided = tables(in_turn)
    # Alerts that were told ahead of the late span stay told: only what is decided in the end is compared.
    assert len(decided["runs"]) == 5
    assert {name: decided[name] for name in ("calls", "runs")} == {name: tables(at_once)[name] for name in ("calls", "runs")}


def _looping_run(number: int) -> list[SpanRecord]:
    trace, root = f"{number + 1:032x}", f"{number + 1:015x}f"
    begun = START + number * 1_000 * SECOND
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"}
    calls = [
        tool_record(
            "look_up", {"order": number}, "nothing",
            trace=trace, parent=root, at=begun + n * SECOND, span=f"{number + 1:08x}{n + 1:08x}",
        )
        for n in range(5)
    ]  # fmt: skip
    return [*calls, record(agent, trace=trace, span=root, at=begun, end=begun + 10 * SECOND)]
