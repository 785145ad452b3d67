"""Pydantic AI: a capability that asks the guard before each tool call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from otel_processor.adapters.missing import missing
from otel_processor.guard import Answer, LoopGuard
from otel_processor.guard.border import answers, survives
from otel_processor.model import Action
from otel_processor.processor import current_guard

try:
    from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering, Instrumentation
    from pydantic_ai.exceptions import ApprovalRequired, CallDeferred
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ThinkingPart, UserPromptPart
except ImportError as error:
    raise missing("Pydantic AI 2.0 or later", "pydantic-ai-slim>=2.0") from error


class LoopGuardCapability(AbstractCapability[Any]):
    """Keeps an agent's tools from being called again and again, and ends a run that was stopped.

    A call that is refused is answered with the guard's message; a run that is stopped ends with the guard's report as the
    agent's output or, where its output is no text, with `LoopDetected`. What concerns no single call (a flat streak, a
    plan said again, rising doubt) is told to the model once, with the next request.

    It holds no state of its own, so that one capability serves all runs of an agent.
    """

    def __init__(self, guard: LoopGuard | None = None, *, agent: str | None = None) -> None:
        """Set up the capability.

        Args:
            guard: of one run; that which the agent is called under (`with LoopGuard(…):`, or that of the instrumented run)
                when left out.
            agent: the agent's name, where there are several in a run.
        """
        self._given = guard
        self._agent = agent

    def get_ordering(self) -> CapabilityOrdering:
        """Ask before a span starts: in the mode `enforce` that may raise, and what is not asked of the model has no span."""
        return CapabilityOrdering(position="outermost", wraps=[Instrumentation])

    async def wrap_model_request(self, ctx: Any, *, request_context: Any, handler: Any) -> Any:  # noqa: ARG002 - the framework's
        """Begin a step and tell the guard what the model said; end the run in its place where it was stopped.

        Raises:
            LoopDetected: it was stopped, and the agent's output is no text.
        """
        guard = self._guard()
        if guard.stopped or (answer := guard.on_step(agent=self._agent)).action is Action.STOP:
            if request_context.model_request_parameters.output_mode != "text":
                guard.raise_if_stopped()
            return ModelResponse(parts=[TextPart(guard.report().text())])
        if answer.action is not Action.CONTINUE:
            guard.told(answer)
            _add(request_context, answer.message)
        response = await handler(request_context)
        self._told(response)
        return response

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, args: Any, handler: Any, **_: Any) -> Any:  # noqa: ARG002
        """Call the tool where the guard lets it."""
        answer = self._ask(call)
        if not answer.allows_call:
            self._guard().skip_tool(answer)
            return answer.message
        try:
            result = await handler(args)
        except (ApprovalRequired, CallDeferred):
            # Somebody else makes the call, or nobody does.
            raise
        except Exception as error:
            self._guard().after_tool(error=error, call=answer)
            raise
        self._guard().after_tool(getattr(result, "return_value", result), call=answer)
        return result

    def _guard(self) -> LoopGuard:
        return self._given if self._given is not None else current_guard()

    @answers
    def _ask(self, call: Any) -> Answer:
        return self._guard().before_tool(call.tool_name, call.args_as_json_str(), call_id=call.tool_call_id, agent=self._agent)

    @survives
    def _told(self, response: Any) -> None:
        said = [part.content for part in response.parts if isinstance(part, TextPart)]
        thought = [part.content for part in response.parts if isinstance(part, ThinkingPart)]
        self._guard().on_turn(
            "\n".join(said) or None,
            reasoning="\n".join(thought) or None,
            input_tokens=response.usage.input_tokens or None,
            output_tokens=response.usage.output_tokens or None,
            finish_reason=response.finish_reason,
            model=response.model_name,
            agent=self._agent,
        )


@survives
def _add(request_context: Any, message: str) -> None:
    """Put a message at the end of this one request; the history stays as it is."""
    *before, last = request_context.messages
    if isinstance(last, ModelRequest):
        request_context.messages = [*before, replace(last, parts=[*last.parts, UserPromptPart(message)])]
