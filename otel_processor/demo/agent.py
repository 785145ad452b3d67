"""The demo's agent: pydantic-ai with a model that follows a plan, traced by pydantic-ai's own instrumentation."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry import baggage, context
from pydantic_ai import Agent, RunContext, UsageLimits
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.usage import RequestUsage

from otel_processor.demo.world import World
from otel_processor.dialects.names import LOOP_RUN_ID, LOOP_TASK, LOOP_TASK_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from opentelemetry.trace import TracerProvider

    from otel_processor.demo.tasks import Plan, Task

MODEL_NAME = "demo-model"
INSTRUCTIONS = "You are a careful assistant. Use the tools, say what you found, and stop when the goal is reached."
TOKENS_OF_TOOLS = 420
CHARACTERS_PER_TOKEN = 4


async def run_task(task: Task, *, run_id: str, random: Random, tracer_provider: TracerProvider, pace: float = 1.0) -> str:
    """Run one task to its end and return the final answer; raises what the run raises.

    Args:
        task: what to do.
        run_id: the run's name in the database.
        random: decides pauses and the world's content.
        tracer_provider: where the spans go.
        pace: factor on every pause; 0 plays without any.
    """
    agent = build_agent(task, random=random, tracer_provider=tracer_provider, pace=pace)
    limits = UsageLimits(request_limit=task.request_limit) if task.request_limit else None
    with _declared(run_id, task):
        result = await agent.run(task.goal, deps=World(random, pace=pace), usage_limits=limits)
    return result.output


def build_agent(task: Task, *, random: Random, tracer_provider: TracerProvider, pace: float) -> Agent[World, str]:
    """Make the agent of a task, with its tools and a fresh fake model."""
    model = FunctionModel(PlannedModel(task.plan(), random, pace).answer, model_name=MODEL_NAME)
    agent = Agent(model, name=task.agent, instructions=INSTRUCTIONS, deps_type=World)
    agent.instrument = InstrumentationSettings(tracer_provider=tracer_provider)
    for tool in (web_search, read_page, edit_file, run_tests, check_job_status, list_orders, publish_report):
        agent.tool(tool)
    return agent


class PlannedModel:
    """A model that says what a plan tells it to say, with the tokens that a real one would need."""

    def __init__(self, plan: Plan, random: Random, pace: float) -> None:
        self._plan = plan
        self._random = random
        self._pace = pace
        self._cached_tokens = 0
        self._begun = False

    async def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        """Give the next turn of the plan, or the final answer."""
        del info
        await asyncio.sleep(self._pace * self._random.uniform(0.15, 0.45))
        try:
            turn = self._plan.send(_tool_answer(messages)) if self._begun else next(self._plan)
        except StopIteration as end:
            return ModelResponse(parts=[TextPart(str(end.value))], usage=self._usage(messages, str(end.value)))
        self._begun = True
        usage = self._usage(messages, turn.says + str(turn.arguments))
        return ModelResponse(parts=[TextPart(turn.says), ToolCallPart(turn.tool, turn.arguments)], usage=usage)

    def _usage(self, messages: list[ModelMessage], said: str) -> RequestUsage:
        """Count the whole history as input, as a model does: each turn costs more than the one before."""
        characters = sum(len(str(getattr(part, "content", ""))) for message in messages for part in message.parts)
        tokens = TOKENS_OF_TOOLS + 12 * len(messages) + characters // CHARACTERS_PER_TOKEN
        usage = RequestUsage(
            input_tokens=tokens,
            cache_read_tokens=self._cached_tokens,
            output_tokens=18 + len(said) // CHARACTERS_PER_TOKEN + self._random.randrange(12),
        )
        self._cached_tokens = tokens
        return usage


def _tool_answer(messages: list[ModelMessage]) -> str:
    last = messages[-1]
    answers = [part for part in last.parts if isinstance(part, ToolReturnPart)] if isinstance(last, ModelRequest) else []
    return str(answers[-1].content) if answers else ""


@contextmanager
def _declared(run_id: str, task: Task) -> Iterator[None]:
    """Say in OpenTelemetry baggage what is running; the span processor reads it from there."""
    said = context.get_current()
    for key, value in ((LOOP_RUN_ID, run_id), (LOOP_TASK, task.name), (LOOP_TASK_TYPE, task.task_type)):
        said = baggage.set_baggage(key, value, said)
    token = context.attach(said)
    try:
        yield
    finally:
        context.detach(token)


async def _take_time(run: RunContext[World]) -> None:
    await asyncio.sleep(run.deps.pace * run.deps.random.uniform(0.05, 0.25))


async def web_search(run: RunContext[World], query: str) -> str:
    """Search the web."""
    await _take_time(run)
    return run.deps.search(query)


async def read_page(run: RunContext[World], url: str) -> str:
    """Read the text of a page."""
    await _take_time(run)
    return run.deps.page(url)


async def edit_file(run: RunContext[World], path: str, text: str) -> str:
    """Write text into a file."""
    del path, text
    await _take_time(run)
    return run.deps.edit()


async def run_tests(run: RunContext[World], suite: str) -> str:
    """Run a test suite."""
    await _take_time(run)
    return f"{run.deps.tests()} in {run.deps.random.uniform(1, 3):.2f}s ({suite})"


async def check_job_status(run: RunContext[World], job_id: str) -> str:
    """Ask how a job is doing."""
    del job_id
    await _take_time(run)
    return run.deps.job()


async def list_orders(run: RunContext[World], cursor: int = 0) -> str:
    """List orders, a page at a time."""
    await _take_time(run)
    return run.deps.orders_from(cursor)


async def publish_report(run: RunContext[World], title: str) -> str:
    """Publish a report."""
    await _take_time(run)
    raise PermissionError(f"403 Forbidden: the demo account may not publish {title!r}")
