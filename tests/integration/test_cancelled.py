"""Agents that are cancelled: what the SDK does not record is found out while the span ends."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from opentelemetry.sdk.trace import TracerProvider

from otel_processor import instrument
from tests.integration.agents import agent, call_tool
from tests.integration.stored import rows, value

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from opentelemetry.trace import Tracer

    from otel_processor.instrumentation import Instrumentation

REASONS = "select stop_reason, status from runs order by started_at"


@pytest.fixture
def watched(db: Path) -> Iterator[tuple[Tracer, Callable[[], list[tuple[str, str]]]]]:
    provider = TracerProvider(shutdown_on_exit=False)
    installed: Instrumentation = instrument(db, tracer_provider=provider)

    def found() -> list[tuple[str, str]]:
        assert installed.force_flush()
        return rows(db, REASONS)

    yield provider.get_tracer("agent"), found
    provider.shutdown()


Watched = tuple["Tracer", "Callable[[], list[tuple[str, str]]]"]


async def work(tracer: Tracer, seconds: float) -> None:
    with agent(tracer, "worker"):
        call_tool(tracer, "search", {"q": "x"}, "something")
        await asyncio.sleep(seconds)


def test_a_task_that_is_cancelled_says_so_on_its_root(watched: Watched, db: Path) -> None:
    tracer, found = watched

    async def cancel() -> None:
        task = asyncio.create_task(work(tracer, 60))
        await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert found() == [("cancelled", "error")]
    assert value(db, "select attributes ->> '$.\"loop.stop_reason\"' from spans where parent_span_id is null") == "cancelled"
    assert value(db, "select events ->> '$[0].attributes.\"exception.type\"' from spans where parent_span_id is null") == (
        "asyncio.exceptions.CancelledError"
    )


def test_a_run_that_is_given_too_little_time_says_so(watched: Watched) -> None:
    tracer, found = watched

    async def in_time() -> None:
        with suppress(TimeoutError), tracer.start_as_current_span("request"):
            await asyncio.wait_for(work(tracer, 60), 0.001)

    asyncio.run(in_time())
    assert found() == [("timeout", "error")]


def test_an_interrupt_and_a_stream_that_nobody_reads_on_are_cancellations(watched: Watched) -> None:
    tracer, found = watched
    with suppress(KeyboardInterrupt), agent(tracer, "one"):
        call_tool(tracer, "search", {"q": "x"}, "something")
        raise KeyboardInterrupt

    async def stream() -> AsyncIterator[int]:
        with agent(tracer, "two"):
            for number in range(9):
                call_tool(tracer, "search", {"q": number}, f"something {number}")
                yield number

    async def read() -> None:
        reading = stream()
        async for _ in reading:
            break
        await reading.aclose()  # type: ignore[attr-defined]

    asyncio.run(read())
    assert found() == [("cancelled", "error"), ("cancelled", "error")]


def test_what_is_being_handled_around_an_agent_is_no_matter_of_its_own(watched: Watched) -> None:
    tracer, found = watched
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        with agent(tracer, "tidying up"):
            call_tool(tracer, "search", {"q": "x"}, "something")
    with suppress(SystemExit), agent(tracer, "leaving"):
        call_tool(tracer, "search", {"q": "x"}, "something")
        raise SystemExit(0)
    assert found() == [("completed", "ok"), ("completed", "ok")]


def test_a_sub_agent_that_is_cancelled_and_overcome_ends_nothing(watched: Watched) -> None:
    tracer, found = watched

    async def boss() -> None:
        with agent(tracer, "boss"):
            with suppress(TimeoutError):
                await asyncio.wait_for(work(tracer, 60), 0.001)
            call_tool(tracer, "search", {"q": "y"}, "another thing")

    asyncio.run(boss())
    assert found() == [("completed", "ok")]
