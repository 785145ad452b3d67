"""Claude Agent SDK: hooks that ask the guard before each tool, and end the run with its report."""

from __future__ import annotations

from typing import Any

from otel_processor.adapters.hooked_calls import HookedCalls
from otel_processor.adapters.missing import missing
from otel_processor.guard import LoopGuard

try:
    from claude_agent_sdk import HookMatcher
except ImportError as error:
    raise missing("the Claude Agent SDK", "claude-agent-sdk>=0.2") from error

_NOT_SAID = "the tool failed"


def loop_hooks(guard: LoopGuard | None = None) -> dict[Any, list[HookMatcher]]:
    """Return hooks for `ClaudeAgentOptions(hooks=loop_hooks(guard))`; put your own matchers beside them in the lists.

    A call that is refused is denied, and the model reads why. At a stop Claude does not go on, and the guard's report is
    the reason that it gives. Hooks are told of tools only: what the model says and costs is yours to tell, with `on_turn`.

    Args:
        guard: of the run; `current_guard()`, where the client connects, when left out.
    """
    calls = HookedCalls(guard)

    async def before_tool(call: Any, call_id: str | None, _: Any) -> dict[str, Any]:
        answer = calls.ask(call["tool_name"], call["tool_input"], call.get("tool_use_id", call_id), call.get("agent_id"))
        if answer.allows_call:
            return {}
        refusal = {"permissionDecision": "deny", "permissionDecisionReason": answer.message}
        return _ending(calls) | {"hookSpecificOutput": {"hookEventName": "PreToolUse", **refusal}}

    async def after_tool(call: Any, call_id: str | None, _: Any) -> dict[str, Any]:
        return _said(calls, call, calls.came_back(call.get("tool_use_id", call_id), call.get("tool_response")))

    async def after_failure(call: Any, call_id: str | None, _: Any) -> dict[str, Any]:
        return _said(calls, call, calls.came_back(call.get("tool_use_id", call_id), error=call.get("error") or _NOT_SAID))

    return {
        "PreToolUse": [HookMatcher(hooks=[before_tool])],
        "PostToolUse": [HookMatcher(hooks=[after_tool])],
        "PostToolUseFailure": [HookMatcher(hooks=[after_failure])],
    }


def _said(calls: HookedCalls, call: Any, said: str) -> dict[str, Any]:
    told = {"hookEventName": call["hook_event_name"], "additionalContext": said}
    return _ending(calls) | ({"hookSpecificOutput": told} if said else {})


def _ending(calls: HookedCalls) -> dict[str, Any]:
    last_words = calls.last_words()
    return {} if last_words is None else {"continue_": False, "stopReason": last_words}
