"""Google ADK: a plugin that asks the guard before each tool, and ends the run with its report."""

from __future__ import annotations

from typing import Any

from otel_processor.adapters.hooked_calls import HookedCalls, or_else
from otel_processor.adapters.missing import missing
from otel_processor.guard import LoopGuard

try:
    from google.adk.models.llm_response import LlmResponse
    from google.adk.plugins.base_plugin import BasePlugin
    from google.genai import types
except ImportError as error:
    raise missing("Google ADK", "google-adk>=2.0") from error


class LoopPlugin(BasePlugin):
    """A plugin of an app: `App(…, plugins=[LoopPlugin(guard)])`.

    A call that is refused is answered with `{"error": …}`, which the model reads. A stopped run ends at the next model call
    with the guard's report as the agent's answer, in sub-agents and in those that called them.
    """

    def __init__(self, guard: LoopGuard | None = None, name: str = "otel_processor_loop_guard") -> None:
        """Guard all agents of an app.

        Args:
            guard: of the run; `current_guard()` of each call when left out, as it must be where an app serves many runs.
            name: of the plugin.
        """
        super().__init__(name=name)
        self._calls = HookedCalls(guard)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> LlmResponse | None:  # noqa: ARG002
        """Begin a step, or answer in the model's place where the run is stopped."""
        return self._before_model(callback_context)

    async def after_model_callback(self, *, callback_context: Any, llm_response: LlmResponse) -> None:
        """Say what the model answered; parts of a streamed answer are waited for."""
        if not llm_response.partial:
            self._calls.end_turn(lambda: _turn(llm_response), callback_context.agent_name)

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> dict[str, Any] | None:
        """Ask, and answer in the tool's place where the call is refused."""
        answer = self._calls.ask(tool.name, tool_args, tool_context.function_call_id, tool_context.agent_name)
        return None if answer.allows_call else {"error": answer.message}

    async def after_tool_callback(
        self,
        *,
        tool: Any,  # noqa: ARG002 - the call's id says it; likewise the next
        tool_args: dict[str, Any],  # noqa: ARG002
        tool_context: Any,
        result: Any,
    ) -> dict[str, Any] | None:
        """Say what came back."""
        said = self._calls.came_back(tool_context.function_call_id, result)
        return {**(result if isinstance(result, dict) else {"result": result}), "notice": said} if said else None

    async def on_tool_error_callback(
        self,
        *,
        tool: Any,  # noqa: ARG002 - the call's id says it; likewise the next
        tool_args: dict[str, Any],  # noqa: ARG002
        tool_context: Any,
        error: BaseException,
    ) -> None:
        """Say what went wrong; the error goes its way."""
        self._calls.came_back(tool_context.function_call_id, error=error)

    @or_else(None)
    def _before_model(self, context: Any) -> LlmResponse | None:
        last_words = self._calls.begin_step(context.agent_name)
        if last_words is None:
            return None
        return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=last_words)]))


def _turn(response: LlmResponse) -> dict[str, Any]:
    parts = (response.content.parts if response.content is not None else None) or []
    usage = response.usage_metadata
    spent = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0) if usage is not None else None
    reason = response.finish_reason
    return {
        "text": "\n".join(part.text for part in parts if part.text and not part.thought) or None,
        "reasoning": "\n".join(part.text for part in parts if part.text and part.thought) or None,
        "input_tokens": usage.prompt_token_count if usage is not None else None,
        "output_tokens": spent,
        "finish_reason": None if reason is None else reason.name.lower(),
        "model": response.model_version,
    }
