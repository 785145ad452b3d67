"""Strands Agents: hooks that ask the guard before each tool, and end the run with its report."""

from __future__ import annotations

from typing import Any

from otel_processor.adapters.hooked_calls import HookedCalls
from otel_processor.adapters.missing import missing
from otel_processor.guard import LoopGuard
from otel_processor.guard.border import survives

try:
    from strands.hooks import AfterModelCallEvent, AfterToolCallEvent, BeforeModelCallEvent, BeforeToolCallEvent, HookRegistry
except ImportError as error:
    raise missing("Strands Agents", "strands-agents>=1.45") from error


class LoopHooks:
    """A hook provider: `Agent(…, hooks=[LoopHooks(guard)])`.

    A call that is refused is cancelled, and the model reads why as its result. A stopped run ends before the next model
    call, with the guard's report as the agent's answer.
    """

    def __init__(self, guard: LoopGuard | None = None) -> None:
        """Guard an agent, or several of one run.

        Args:
            guard: of the run; `current_guard()` of each call when left out.
        """
        self._calls = HookedCalls(guard)

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        """Add the hooks; Strands calls this."""
        registry.add_callback(BeforeModelCallEvent, self._before_model)
        registry.add_callback(AfterModelCallEvent, self._after_model)
        registry.add_callback(BeforeToolCallEvent, self._before_tool)
        registry.add_callback(AfterToolCallEvent, self._after_tool)

    @survives
    def _before_model(self, event: BeforeModelCallEvent) -> None:
        last_words = self._calls.begin_step(event.agent.name)
        if last_words is not None:
            event.cancel = last_words

    @survives
    def _after_model(self, event: AfterModelCallEvent) -> None:
        response = event.stop_response
        # Without metadata no model was asked: the answer is the report of a stopped run.
        if response is not None and "metadata" in response.message:
            self._calls.end_turn(lambda: _turn(response), event.agent.name)

    @survives
    def _before_tool(self, event: BeforeToolCallEvent) -> None:
        use = event.tool_use
        answer = self._calls.ask(use["name"], use["input"], use["toolUseId"], event.agent.name)
        if not answer.allows_call:
            event.cancel_tool = answer.message

    @survives
    def _after_tool(self, event: AfterToolCallEvent) -> None:
        content = event.result["content"]
        error = event.exception or event.cancel_message or (_text(content) if event.result["status"] == "error" else None)
        said = self._calls.came_back(event.tool_use["toolUseId"], content, error=error)
        if said:
            event.result = {**event.result, "content": [*content, {"text": said}]}


def _turn(response: Any) -> dict[str, Any]:
    content = response.message["content"]
    usage = response.message["metadata"]["usage"]
    thought = [
        block["reasoningContent"].get("reasoningText", {}).get("text", "") for block in content if "reasoningContent" in block
    ]
    return {
        "text": _text(content),
        "reasoning": "\n".join(thought) or None,
        "input_tokens": usage["inputTokens"],
        "output_tokens": usage["outputTokens"],
        "finish_reason": response.stop_reason,
    }


def _text(content: list[Any]) -> str:
    return "\n".join(block["text"] for block in content if "text" in block)
