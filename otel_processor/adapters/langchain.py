"""LangChain and LangGraph: an agent middleware that asks the guard before each tool call."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace

from otel_processor.adapters.missing import missing
from otel_processor.bug_reports import report_bug
from otel_processor.guard import Answer, LoopGuard
from otel_processor.guard.border import answers, survives
from otel_processor.model import Action
from otel_processor.processor import current_guard
from otel_processor.processor.span_guard import SpanGuard

try:
    from langchain.agents.middleware import AgentMiddleware, hook_config
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langgraph.errors import GraphBubbleUp
except ImportError as error:
    raise missing("LangChain 1.0 or later", "langchain>=1.0") from error

_WRITER = "openinference.instrumentation.langchain"


class LoopGuardMiddleware(AgentMiddleware):
    """Keeps the tools of `create_agent` from being called again and again, and ends a run that was stopped.

    A call that is refused is answered with the guard's message as a failed tool's; a run that is stopped ends before the
    next model call, with the guard's report as the agent's last message. What concerns no single call (a flat streak, a
    plan said again, rising doubt) is told to the model as a message before it is asked.

    It holds no state of its own, so that one middleware serves all runs of an agent. In a graph without `create_agent`:
    `ToolNode(tools, wrap_tool_call=middleware.wrap_tool_call, awrap_tool_call=middleware.awrap_tool_call)`.
    """

    def __init__(self, guard: LoopGuard | None = None, *, agent: str | None = None) -> None:
        """Set up the middleware.

        Args:
            guard: of one run; that which the agent is called under (`with LoopGuard(…):`, or that of the instrumented run)
                when left out.
            agent: the agent's name, where there are several in a run.
        """
        super().__init__()
        self._given = guard
        self._agent = agent

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - the framework's signature
        """Begin a step; end the run where it was stopped."""
        with _in_span():
            guard = self._guard()
            answer = None if guard.stopped else guard.on_step(agent=self._agent)
            if answer is None or answer.action is Action.STOP:
                return {"messages": [AIMessage(guard.report().text())], "jump_to": "end"}
            if answer.action is Action.CONTINUE:
                return None
            guard.told(answer)
        return {"messages": [HumanMessage(answer.message)]}

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Do what `before_model` does."""
        ends: dict[str, Any] | None = self.before_model(state, runtime)
        return ends

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - the framework's signature
        """Tell the guard what the model said."""
        with _in_span():
            self._told(state)
        return None

    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Do what `after_model` does."""
        return self.after_model(state, runtime)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the tool where the guard lets it."""
        answer = self._ask(request)
        if not answer.allows_call:
            return self._refuse(request, answer)
        try:
            result = handler(request)
        except GraphBubbleUp:
            # The graph stops here for a person, or goes on elsewhere: the call was not made yet.
            raise
        except Exception as error:
            self._failed(answer, error)
            raise
        self._made(request, answer, result)
        return result

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Do what `wrap_tool_call` does with an async tool."""
        answer = self._ask(request)
        if not answer.allows_call:
            return self._refuse(request, answer)
        try:
            result = await handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:
            self._failed(answer, error)
            raise
        self._made(request, answer, result)
        return result

    def _guard(self) -> LoopGuard:
        return self._given if self._given is not None else current_guard()

    @answers
    def _ask(self, request: Any) -> Answer:
        call = request.tool_call
        with _in_span() as is_ours:
            guard = self._guard()
            arguments = _as_written(call["args"]) if is_ours and isinstance(guard, SpanGuard) else call["args"]
            return guard.before_tool(call["name"], arguments, call_id=call["id"], agent=self._agent)

    def _refuse(self, request: Any, answer: Answer) -> Any:
        with _in_span():
            self._guard().skip_tool(answer)
        call = request.tool_call
        return ToolMessage(answer.message, tool_call_id=call["id"], name=call["name"], status="error")

    @survives
    def _failed(self, answer: Answer, error: Exception) -> None:
        with _in_span():
            self._guard().after_tool(error=error, call=answer)

    @survives
    def _made(self, request: Any, answer: Answer, result: Any) -> None:
        message = _tool_message(result, request.tool_call["id"])
        with _in_span():
            guard = self._guard()
            if message is None:
                guard.after_tool(call=answer)
            elif message.status == "error":
                guard.after_tool(error=str(message.content), call=answer)
            else:
                guard.after_tool(message.content, call=answer)

    @survives
    def _told(self, state: Any) -> None:
        message = state["messages"][-1]
        usage, response = getattr(message, "usage_metadata", None) or {}, getattr(message, "response_metadata", None) or {}
        self._guard().on_turn(
            message.text or None,
            reasoning=_reasoning(message) or None,
            input_tokens=usage.get("input_tokens"),
            output_tokens=usage.get("output_tokens"),
            finish_reason=response.get("finish_reason") or response.get("stop_reason"),
            model=response.get("model_name") or response.get("model"),
            agent=self._agent,
        )


def _tool_message(result: Any, call_id: str) -> Any:
    """Return the message that answers the call; None where there is none, as with a command that only moves the graph."""
    if isinstance(result, ToolMessage):
        return result
    update = getattr(result, "update", None)
    messages = update.get("messages") if isinstance(update, dict) else None
    found = messages if isinstance(messages, Sequence) else ()
    return next((one for one in found if isinstance(one, ToolMessage) and one.tool_call_id == call_id), None)


def _reasoning(message: Any) -> str:
    return "\n".join(block.get("reasoning", "") for block in message.content_blocks if block.get("type") == "reasoning")


def _as_written(arguments: Any) -> Any:
    """Return the arguments as OpenInference's writer puts them on the call's span: of a single text, the text alone."""
    values = list(arguments.values()) if isinstance(arguments, dict) else []
    return values[0] if len(values) == 1 and isinstance(values[0], str) else arguments


@contextmanager
def _in_span() -> Iterator[bool]:
    """Make the span that this code runs in the current one, which OpenInference's writer does not; say whether it knows it."""
    span = None
    try:
        writer = sys.modules.get(_WRITER)
        span = writer.get_current_span() if writer is not None else None
    except Exception:  # noqa: BLE001 - nothing of ours reaches the agent
        report_bug("looking for LangChain's span")
    if span is None:
        yield False
    else:
        with trace.use_span(span, record_exception=False, set_status_on_exception=False):
            yield True
