"""OpenAI Agents SDK: run hooks and a tool guardrail that ask the guard before each tool call."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from otel_processor.adapters.missing import missing
from otel_processor.errors import LoopDetected
from otel_processor.guard import Answer, LoopGuard
from otel_processor.guard.border import answers, survives
from otel_processor.model import Action
from otel_processor.processor import current_guard

try:
    from agents import FunctionTool, RunHooks, ToolGuardrailFunctionOutput, ToolInputGuardrail
    from agents.tool import default_tool_error_function
except ImportError as error:
    raise missing("the OpenAI Agents SDK", "openai-agents>=0.20") from error

_FAILED: str = default_tool_error_function(None, Exception())  # type: ignore[arg-type,unused-ignore]
"""What the SDK answers in place of an exception of a tool."""


class LoopGuardHooks(RunHooks[Any]):
    """Keeps an agent's function tools from being called again and again, and ends a run that was stopped.

    It takes both: `Agent(tools=hooks.guard_tools([…]))`, whose guardrail can refuse a call, and `Runner.run(…, hooks=hooks)`,
    which tells the guard of steps and results. A call that is refused is answered with the guard's message; a run that is
    stopped ends with `LoopDetected` before the next model call. Other local tools (MCP, custom) cannot be answered for: they
    run until the run is stopped, and then it ends with an exception whose cause is `LoopDetected`.

    It holds no state of its own, so that one object serves all runs of an agent.
    """

    def __init__(self, guard: LoopGuard | None = None) -> None:
        """Set up the hooks.

        Args:
            guard: of one run; that which the agent is called under (`with LoopGuard(…):`, or that of the instrumented run)
                when left out.
        """
        self._given = guard
        self._guardrail = ToolInputGuardrail(guardrail_function=self._before_function, name="loop_guard")

    def guard_tools(self, tools: Iterable[Any]) -> list[Any]:
        """Return the tools, the function tools among them as copies that ask the guard before they run."""
        return [self._guarded(tool) if isinstance(tool, FunctionTool) else tool for tool in tools]

    def _guarded(self, tool: Any) -> Any:
        guarded = copy.copy(tool)
        guarded.tool_input_guardrails = [*(tool.tool_input_guardrails or ()), self._guardrail]
        return guarded

    def _before_function(self, data: Any) -> Any:
        """Refuse the call, or let it be made."""
        answer = self._ask(data.context)
        if answer.allows_call:
            return ToolGuardrailFunctionOutput.allow()
        # Where the run is stopped, its end is before the next model call: what is raised here comes out as a UserError.
        self._guard().skip_tool(answer)
        return ToolGuardrailFunctionOutput.reject_content(answer.message, output_info=answer)

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:  # noqa: ARG002
        """Begin a step.

        Raises:
            LoopDetected: the run was stopped.
        """
        guard = self._guard()
        guard.raise_if_stopped()
        answer = guard.on_step()
        if answer.action is Action.STOP:
            raise LoopDetected(answer)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:  # noqa: ARG002 - the framework's signature
        """Tell the guard what the model said."""
        self._told(agent, response)

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:  # noqa: ARG002 - the framework's signature
        """Ask for a tool that has no guardrail of ours.

        Raises:
            LoopDetected: the run was stopped.
        """
        if self._guardrail in (getattr(tool, "tool_input_guardrails", None) or ()):
            return
        answer = self._ask(context)
        if answer.action is Action.STOP:
            # Only what is raised keeps it from running.
            self._guard().skip_tool(answer)
            raise LoopDetected(answer)

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:  # noqa: ARG002
        """Tell the guard what came back."""
        self._made(context, result)

    def _guard(self) -> LoopGuard:
        return self._given if self._given is not None else current_guard()

    @answers
    def _ask(self, context: Any) -> Answer:
        return self._guard().before_tool(context.tool_name, context.tool_arguments, call_id=context.tool_call_id)

    @survives
    def _made(self, context: Any, result: Any) -> None:
        if result == _FAILED:
            self._guard().after_tool(error=result, call=context.tool_call_id)
        else:
            self._guard().after_tool(result, call=context.tool_call_id)

    @survives
    def _told(self, agent: Any, response: Any) -> None:
        parts = [part for item in response.output for part in getattr(item, "content", None) or ()]
        said = [part.text for part in parts if getattr(part, "type", "") == "output_text"]
        thought = [part.text for item in response.output for part in getattr(item, "summary", None) or ()]
        usage = response.usage
        self._guard().on_turn(
            "\n".join(said) or None,
            reasoning="\n".join(thought) or None,
            input_tokens=usage.input_tokens or None,
            output_tokens=usage.output_tokens or None,
            model=agent.model if isinstance(agent.model, str) else None,
        )
