"""The Claude Agent SDK under guard: the real SDK from `query` to its dispatch of hooks, and in the place of the `claude`
program a transport that speaks its control protocol, with a model that says what a test tells it to.

What the real program does with a hook's answer is its own: `permissionDecision: deny` keeps a tool from running and gives
the reason to the model; `continue: false` ends the turn. The transport does the same.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from otel_processor import LoopGuard, Policy
from tests.frameworks.desk import LOOPED, NUDGE, ORDER, Desk, needs

needs("claude_agent_sdk")

import claude_agent_sdk as sdk

from otel_processor.adapters import claude_agent_sdk as adapter

pytestmark = pytest.mark.frameworks

SESSION = {"session_id": "s", "transcript_path": "", "cwd": ""}


class FakeClaude(sdk.Transport):
    """Calls tools as told, asks the hooks around them, and answers `done` when nothing is left."""

    def __init__(self, desk: Desk, *turns: tuple[str, dict[str, Any]] | str) -> None:
        self.desk = desk
        self.turns = list(turns)
        self.asked = 0
        self.messages: list[str] = []
        """What the model was given after each of its calls."""
        self._hooks: dict[str, list[str]] = {}
        self._written: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._said: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    async def connect(self) -> None: ...

    def is_ready(self) -> bool:
        return True

    async def write(self, data: str) -> None:
        await self._written.put(json.loads(data))

    async def end_input(self) -> None: ...

    async def close(self) -> None:
        await self._said.put(None)

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        work = asyncio.create_task(self._work())
        while (message := await self._said.get()) is not None:
            yield message
        await work

    async def _work(self) -> None:
        request = await self._read("control_request")
        for event, matchers in (request["request"]["hooks"] or {}).items():
            self._hooks[event] = [callback for matcher in matchers for callback in matcher["hookCallbackIds"]]
        answer = {"subtype": "success", "request_id": request["request_id"], "response": {}}
        await self._said.put({"type": "control_response", "response": answer})
        await self._read("user")
        await self._said.put(self._result(await self._run()))
        await self._said.put(None)

    async def _run(self) -> str:
        while True:
            self.asked += 1
            turn = self.turns.pop(0) if self.turns else "done"
            if isinstance(turn, str):
                return turn
            name, arguments = turn
            tool: dict[str, Any] = {"tool_name": name, "tool_input": arguments, "tool_use_id": f"call-{self.asked}"}
            before = await self._hook("PreToolUse", tool)
            if before.get("hookSpecificOutput", {}).get("permissionDecision") == "deny":
                self.messages.append(before["hookSpecificOutput"]["permissionDecisionReason"])
            else:
                before |= await self._call(name, arguments, tool)
            if before.get("continue") is False:
                return str(before["stopReason"])

    async def _call(self, name: str, arguments: dict[str, Any], tool: dict[str, Any]) -> dict[str, Any]:
        try:
            result = getattr(self.desk, name)(**arguments)
        except ConnectionError as error:
            after = await self._hook("PostToolUseFailure", tool | {"error": str(error)})
            result = str(error)
        else:
            after = await self._hook("PostToolUse", tool | {"tool_response": result})
        self.messages.append(result + after.get("hookSpecificOutput", {}).get("additionalContext", ""))
        return after

    async def _hook(self, event: str, tool: dict[str, Any]) -> dict[str, Any]:
        given = SESSION | {"hook_event_name": event} | tool
        answer: dict[str, Any] = {}
        for callback in self._hooks.get(event, []):
            request = {"subtype": "hook_callback", "callback_id": callback, "input": given, "tool_use_id": tool["tool_use_id"]}
            await self._said.put({"type": "control_request", "request_id": f"{event}-{self.asked}", "request": request})
            response = (await self._read("control_response"))["response"]
            assert response["subtype"] == "success", response
            answer |= response["response"]
        return answer

    async def _read(self, kind: str) -> dict[str, Any]:
        message = await self._written.get()
        assert message is not None
        assert message["type"] == kind, message
        return message

    def _result(self, text: str) -> dict[str, Any]:
        spent = {"duration_ms": 1, "duration_api_ms": 1, "num_turns": self.asked}
        return {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "result": text} | spent


def run(desk: Desk, turns: list[Any], hooks: dict[Any, Any]) -> tuple[str, FakeClaude]:
    """Run an agent and return what it said last, and the fake."""
    return asyncio.run(_run(desk, turns, hooks))


async def _run(desk: Desk, turns: list[Any], hooks: dict[Any, Any]) -> tuple[str, FakeClaude]:
    fake = FakeClaude(desk, *turns)
    said = ""
    async for message in sdk.query(prompt="find the order", options=sdk.ClaudeAgentOptions(hooks=hooks), transport=fake):
        if isinstance(message, sdk.ResultMessage):
            said = message.result
    return said, fake


LOOP = [("lookup_order", ORDER)] * 12


def test_a_loop_is_nudged_and_then_ends_with_the_report_as_the_reason(desk: Desk) -> None:
    with LoopGuard(goal="find the order", mode="enforce") as guard:
        said, fake = run(desk, LOOP, adapter.loop_hooks(guard))
    report = guard.report()
    assert desk.ran == ["lookup_order demo-001"] * 2
    assert fake.asked == 5
    assert [NUDGE in message for message in fake.messages] == [False, False, True, True, True]
    assert said.startswith(f"The run was stopped: {LOOPED}.")
    assert (report.stop_reason, report.tool_calls, report.refused_calls) == (LOOPED, 2, 3)
    assert [(tried.tool, tried.made, tried.refused) for tried in report.attempts] == [("lookup_order", 2, 3)]


def test_an_agent_that_heeds_the_nudge_goes_on(desk: Desk) -> None:
    with LoopGuard(mode="enforce") as guard:
        said, _ = run(desk, [*LOOP[:3], ("search_mail", {"query": "order"}), "found it"], adapter.loop_hooks(guard))
    assert said == "found it"
    assert desk.ran == ["lookup_order demo-001"] * 2 + ["search_mail order"]
    assert guard.report().stop_reason == "completed"


def test_nudging_never_ends_a_run(desk: Desk) -> None:
    with LoopGuard(mode="nudge") as guard:
        said, fake = run(desk, LOOP, adapter.loop_hooks(guard))
    assert (said, fake.asked) == ("done", len(LOOP) + 1)
    assert desk.ran == ["lookup_order demo-001"] * 2


@pytest.mark.parametrize("turns", [LOOP, [("search_mail", {"query": "a"}), ("search_mail", {"query": "b"}), "found it"]])
def test_what_is_only_observed_or_healthy_is_as_without_a_guard(turns: list[Any]) -> None:
    plain, watched = Desk(), Desk()
    with LoopGuard(mode="observe" if turns is LOOP else "enforce") as guard:
        without, with_guard = run(plain, turns, {}), run(watched, turns, adapter.loop_hooks(guard))
    assert without[0] == with_guard[0]
    assert plain.ran == watched.ran
    assert without[1].messages == with_guard[1].messages
    assert guard.report().flagged_reason == (LOOPED if turns is LOOP else None)
    assert guard.report().tool_calls == len(watched.ran)


@pytest.mark.usefixtures("bug_of_ours")
@pytest.mark.parametrize("mode", ["observe", "enforce"])
def test_a_bug_of_ours_costs_the_guard_and_not_the_run(desk: Desk, mode: str) -> None:
    with LoopGuard(mode=mode) as guard:
        assert run(desk, LOOP, adapter.loop_hooks(guard))[0] == "done"
    assert len(desk.ran) == len(LOOP)


def test_without_a_guard_of_its_own_an_agent_is_under_that_around_it(desk: Desk) -> None:
    with LoopGuard(mode="enforce") as guard:
        run(desk, LOOP, adapter.loop_hooks())
    assert guard.report().stop_reason == LOOPED
    assert len(desk.ran) == 2


def test_a_tool_that_fails_is_told_as_a_failure(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(order_id: str) -> str:
        raise ConnectionError("the office is closed")

    monkeypatch.setattr(desk, "lookup_order", fail)
    with LoopGuard(mode="observe") as guard:
        run(desk, LOOP[:1], adapter.loop_hooks(guard))
    assert [tried.outcome for tried in guard.report().attempts] == ["failed: the office is closed"]


def test_what_is_found_after_a_call_is_said_with_its_result(desk: Desk) -> None:
    policy = Policy(patterns=frozenset({"no_progress"}), no_progress_alert_steps=3, no_progress_stop_steps=3)
    flat = [("lookup_order", {"order_id": f"demo-00{n}"}) for n in range(4)]
    with LoopGuard(policy, mode="enforce") as guard:
        said, model = run(desk, flat, adapter.loop_hooks(guard))
        assert said == "done"
    assert len(desk.ran) == len(flat)
    assert "change your strategy" in json.dumps(model.messages, default=str)
    assert guard.report().stop_reason == "completed"
