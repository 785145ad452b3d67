from __future__ import annotations

from typing import Any

from otel_processor.model import Role
from tests.unit.dialects.spans import read

USAGE = (
    "total_tokens=610 prompt_tokens=510 cached_prompt_tokens=250 completion_tokens=100 reasoning_tokens=35 "
    "cache_creation_tokens=0 successful_requests=5"
)
TL: dict[str, Any] = {"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "crewai"}


def test_a_crew_under_traceloop() -> None:
    crew = {"crewai.crew.id": "1", "crewai.crew.name": "my_crew", "crewai.crew.token_usage": USAGE}
    reading = read(TL | crew, name="crewai.workflow", status="OK")
    assert (reading.role, reading.agent, reading.dialect) == (Role.WORKFLOW, "my_crew", "crewai")
    assert (reading.input_tokens, reading.output_tokens) == (510, 100)
    assert (reading.cache_read_tokens, reading.cache_write_tokens, reading.reasoning_tokens) == (250, 0, 35)


def test_a_task_is_a_step_and_the_agent_in_it_an_agent() -> None:
    task = {"traceloop.span.kind": "task", "crewai.task.id": "1", "crewai.task.agent": "finder"}
    assert read(TL | task, name="weather in Paris?.task").role is Role.OTHER
    agent = {"traceloop.span.kind": "agent", "crewai.agent.role": "finder", "gen_ai.request.model": "m-1"}
    reading = read(TL | agent, name="finder.agent")
    assert (reading.role, reading.agent, reading.model) == (Role.AGENT, "finder", "m-1")


def test_openinference() -> None:
    crew = {"openinference.span.kind": "CHAIN", "crew_key": "k", "crew_id": "1"}
    reading = read(crew, name="my_crew.kickoff", status="OK")
    assert (reading.role, reading.agent) == (Role.WORKFLOW, "my_crew")
    task = {"openinference.span.kind": "AGENT", "crew_key": "k", "graph.node.id": "finder", "task_name": "wtask"}
    reading = read(task, name="finder.wtask._execute_core")
    assert (reading.role, reading.agent) == (Role.AGENT, "finder")


def test_a_failing_tool_under_openinference() -> None:
    tool = {"openinference.span.kind": "TOOL", "tool.name": "search", "input.value": '{"q": "x"}'}
    reading = read(tool, name="search.run", status="ERROR", status_message="no backend")
    assert (reading.role, reading.arguments, reading.is_error, reading.error_message) == (
        Role.TOOL,
        {"q": "x"},
        True,
        "no backend",
    )
