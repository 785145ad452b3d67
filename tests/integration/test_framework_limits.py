"""The limits of a real framework, with a model that never ends by itself."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

from otel_processor import instrument
from tests.integration.stored import rows, value

pytest.importorskip("pydantic_ai")

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic_ai import Agent


def endless(provider: TracerProvider) -> Agent[None, str]:
    """An agent whose model asks for the same tool for ever."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    from pydantic_ai.models.instrumented import InstrumentationSettings

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart("look_up", {"page": len(messages)})])

    agent = Agent(FunctionModel(answer), name="endless")
    agent.instrument = InstrumentationSettings(tracer_provider=provider)
    agent.tool_plain(look_up)
    return agent


async def look_up(page: int) -> str:
    """Look up a page; it takes a moment, so that somebody can cancel it."""
    await asyncio.sleep(0)
    return f"page {page} says something"


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"request_limit": 3}, "max_steps_reached"),
        ({"tool_calls_limit": 2}, "max_tool_calls_reached"),
        ({"total_tokens_limit": 100}, "max_tokens_reached"),
    ],
)
def test_a_limit_of_pydantic_ai_is_told_by_its_name(db: Path, limits: dict[str, Any], reason: str) -> None:
    from pydantic_ai.exceptions import UsageLimitExceeded
    from pydantic_ai.usage import UsageLimits

    provider = TracerProvider(shutdown_on_exit=False)
    installed = instrument(db, tracer_provider=provider)
    with suppress(UsageLimitExceeded):
        endless(provider).run_sync("go", usage_limits=UsageLimits(**limits))
    assert installed.force_flush()
    provider.shutdown()
    assert rows(db, "select task, stop_reason, status from runs") == [("endless", reason, "error")]
    assert value(db, "select attributes ->> '$.\"loop.stop_reason\"' from spans where parent_span_id is null") == reason


def test_an_agent_of_pydantic_ai_that_is_cancelled_says_so(db: Path) -> None:
    from pydantic_ai.usage import UsageLimits

    provider = TracerProvider(shutdown_on_exit=False)
    installed = instrument(db, tracer_provider=provider)

    async def cancel() -> None:
        task = asyncio.create_task(endless(provider).run("go", usage_limits=UsageLimits(request_limit=None)))
        for _ in range(200):
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert installed.force_flush()
    provider.shutdown()
    assert rows(db, "select task, stop_reason from runs") == [("endless", "cancelled")]
