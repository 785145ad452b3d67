"""smolagents: puts an agent under guard: its tools, its programs, and the agents that it manages."""

from __future__ import annotations

import functools
import re
import uuid
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from otel_processor.adapters.hooked_calls import HookedCalls
from otel_processor.adapters.missing import missing
from otel_processor.errors import ConfigError
from otel_processor.guard import LoopGuard
from otel_processor.guard.answer import error_for

try:
    from smolagents import ActionOutput, ActionStep, CodeAgent, MultiStepAgent, Tool, ToolCallingAgent
except ImportError as error:
    raise missing("smolagents", "smolagents>=1.21") from error

A = TypeVar("A", bound=MultiStepAgent)

_FINAL_ANSWER = "final_answer"
_PROGRAM = "python_interpreter"
_WORD = re.compile(r"\w+")


def guard_agent(agent: A, guard: LoopGuard | None = None) -> A:
    """Put an agent, and those that it manages, under guard, and return it.

    A call that is refused does not run: the model reads why as its result, or, where a program made it, as the program's
    error. A stopped run ends before the next step with the guard's report as the final answer; where there are
    `final_answer_checks`, which the report would not pass, `run` raises `LoopDetected`.

    Args:
        agent: changed in place; give a new one for each guard.
        guard: of the run; `current_guard()` of each run when left out.

    Raises:
        ConfigError: it is under guard already.
    """
    if "_step_stream" in vars(agent):
        raise ConfigError(f"the agent {agent.name or type(agent).__name__} is under guard already: make a new one")
    calls = HookedCalls(guard)
    agent._step_stream = _guarded_steps(agent, calls)
    if isinstance(agent, CodeAgent):
        agent.python_executor = _GuardedExecutor(agent.python_executor, calls, agent)
    elif isinstance(agent, ToolCallingAgent):
        agent.execute_tool_call = _guarded_calls(agent, calls)
    for managed in agent.managed_agents.values():
        if isinstance(managed, MultiStepAgent):
            guard_agent(managed, guard)
    return agent


def _guarded_steps(agent: MultiStepAgent, calls: HookedCalls) -> Callable[[ActionStep], Iterator[Any]]:
    steps = agent._step_stream

    @functools.wraps(steps)
    def guarded(step: ActionStep) -> Iterator[Any]:
        last_words = calls.begin_step(agent.name)
        if last_words is None:
            try:
                yield from steps(step)
            finally:
                calls.end_turn(lambda: _turn(step, agent), agent.name)
            return
        if agent.final_answer_checks:
            calls.guard.raise_if_stopped()
        step.action_output = last_words
        yield ActionOutput(output=last_words, is_final_answer=True)

    return guarded


def _guarded_calls(agent: ToolCallingAgent, calls: HookedCalls) -> Callable[[str, Any], Any]:
    execute = agent.execute_tool_call

    @functools.wraps(execute)
    def guarded(tool_name: str, arguments: Any) -> Any:
        if tool_name == _FINAL_ANSWER:
            return execute(tool_name, arguments)
        answer = calls.ask(tool_name, arguments, _new_id(), agent.name)
        if not answer.allows_call:
            return answer.message
        result, said = _run(calls, answer.call_id, lambda: execute(tool_name, arguments))
        return f"{result}\n\n{said}" if said else result

    return guarded


class _GuardedExecutor:
    """Stands in for the executor of a `CodeAgent`.

    A program is asked about as a call of `python_interpreter`, unless it calls tools that run in this process: then these
    are asked about, and nothing is counted twice.
    """

    def __init__(self, executor: Any, calls: HookedCalls, agent: CodeAgent) -> None:
        self._executor = executor
        self._calls = calls
        self._agent = agent
        self._inside = calls
        self._guarded_tools: frozenset[str] = frozenset()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._executor, name)

    def __call__(self, code_action: str) -> Any:
        # The program runs in a thread of its own, which knows nothing of the guard around this one.
        self._inside = self._calls.pinned()
        if self._guarded_tools.intersection(_WORD.findall(code_action)):
            return self._executor(code_action)
        answer = self._calls.ask(_PROGRAM, {"code": code_action}, _new_id(), self._agent.name)
        if not answer.allows_call:
            raise error_for(answer)
        output, said = _run(self._calls, answer.call_id, lambda: self._executor(code_action), _shown)
        if said:
            output.logs = f"{output.logs}\n{said}\n"
        return output

    def send_tools(self, tools: dict[str, Any]) -> None:
        if self._agent.executor_type == "local":
            self._guarded_tools = frozenset(tools) - {_FINAL_ANSWER}
        self._executor.send_tools({name: self._guarded(name, tool) for name, tool in tools.items()})

    def _guarded(self, name: str, tool: Any) -> Any:
        if name not in self._guarded_tools:
            return tool

        def guarded(*args: Any, **kwargs: Any) -> Any:
            answer = self._inside.ask(name, _by_name(tool, args, kwargs), _new_id(), self._agent.name)
            if not answer.allows_call:
                raise error_for(answer)
            return _run(self._inside, answer.call_id, lambda: tool(*args, **kwargs))[0]

        guarded.__name__ = name
        return guarded


def _run(
    calls: HookedCalls, call_id: str | None, run: Callable[[], Any], shown: Callable[[Any], Any] = lambda result: result
) -> tuple[Any, str]:
    try:
        result = run()
    except Exception as error:
        calls.came_back(call_id, error=error.__cause__ or error)
        raise
    return result, calls.came_back(call_id, shown(result))


def _shown(output: Any) -> str:
    """Return what the model is shown of a program."""
    return f"{output.logs}{output.output}"


def _by_name(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    names = list(tool.inputs) if isinstance(tool, Tool) else []
    return {names[place] if place < len(names) else f"arg{place}": value for place, value in enumerate(args)} | kwargs


def _turn(step: ActionStep, agent: MultiStepAgent) -> dict[str, Any]:
    usage = step.token_usage
    said = step.model_output if isinstance(step.model_output, str) else None
    if said is not None and isinstance(agent, CodeAgent):
        # The program is a call; what stands before it is what the model says.
        said = said.partition(agent.code_block_tags[0])[0]
    return {
        "text": said,
        "input_tokens": usage.input_tokens if usage is not None else None,
        "output_tokens": usage.output_tokens if usage is not None else None,
    }


def _new_id() -> str:
    return uuid.uuid4().hex
