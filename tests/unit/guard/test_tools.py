"""Plain functions under guard."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterator

import pytest

from otel_processor.errors import LoopDetected, LoopNudge
from otel_processor.policy import Policy
from tests.unit.guard.scripts import make_guard


def test_a_function_is_asked_about_run_and_told_of() -> None:
    guard = make_guard()

    @guard.tool
    def search(q: str, limit: int = 5) -> str:
        """Look for it."""
        return f"{limit} of {q}"

    assert search("cats") == "5 of cats"
    assert search(q="cats", limit=5) == "5 of cats"
    assert search.__name__ == "search"
    assert search.__doc__ == "Look for it."
    (attempt,) = guard.report().attempts
    assert (attempt.tool, attempt.arguments, attempt.made) == ("search", '{"limit":5,"q":"cats"}', 2)


def test_a_function_that_loops_is_refused_and_then_the_run_ends() -> None:
    guard, runs = make_guard(goal="find the cat"), []

    @guard.tool(name="lookup")
    def search(q: str) -> str:
        runs.append(q)
        return "nothing"

    for _ in range(2):
        search("cats")
    for _ in range(2):
        with pytest.raises(LoopNudge, match=r"lookup was called .* The goal is still: find the cat\.") as nudged:
            search("cats")
        assert nudged.value.verdict.action == "nudge"
    with pytest.raises(LoopDetected) as stopped:
        search("cats")
    assert not isinstance(stopped.value, LoopNudge)
    with pytest.raises(LoopDetected):
        search("dogs")
    assert runs == ["cats", "cats"]


def test_what_a_nudge_returns_can_be_said() -> None:
    for mode in ("nudge", "enforce"):
        guard = make_guard(mode)

        @guard.tool(on_nudge=lambda answer: f"refused: {answer.message}")
        def search(q: str) -> str:
            return "nothing"

        assert [search("cats") for _ in range(3)][:2] == ["nothing", "nothing"]
        assert search("cats").startswith("refused: search was called")


@pytest.mark.parametrize("mode", ["observe", "nudge"])
def test_nothing_is_raised_and_nothing_odd_returned_unless_it_is_enforced(mode: str) -> None:
    guard = make_guard(mode, Policy(max_tool_calls=1, nudges_before_stop=0))

    @guard.tool
    def search(q: str) -> str:
        return "nothing"

    assert [search("cats") for _ in range(9)] == ["nothing"] * 9
    assert guard.report().tool_calls == 9
    assert guard.report().refused_calls == 0


def test_async_functions_are_guarded_alike() -> None:
    guard = make_guard(policy=Policy(nudges_before_stop=0))

    @guard.tool
    async def search(q: str) -> str:
        await asyncio.sleep(0)
        return f"{q} found"

    async def insist() -> None:
        while True:
            await search("cats")

    async def agent() -> list[str]:
        found = list(await asyncio.gather(search("cats"), search("dogs"), search("birds")))
        found.append(await guard.arun_tool("search", {"q": "fish"}, search.__wrapped__))  # type: ignore[attr-defined]
        with pytest.raises(LoopDetected):
            await asyncio.wait_for(insist(), timeout=60)
        return found

    assert asyncio.run(agent()) == ["cats found", "dogs found", "birds found", "fish found"]
    assert {attempt.made for attempt in guard.report().attempts if attempt.arguments != '{"q":"cats"}'} == {1}


def test_what_a_function_raises_is_its_own_and_counts_as_failure() -> None:
    guard = make_guard()
    boom = ValueError("no such index")

    @guard.tool
    def search(q: str) -> str:
        raise boom

    with pytest.raises(ValueError, match="no such index") as raised:
        search("cats")
    assert raised.value is boom
    assert guard.report().attempts[0].outcome == "failed: ValueError: no such index"


def test_a_cancelled_call_is_no_failure() -> None:
    guard = make_guard()

    @guard.tool
    async def search(q: str) -> str:
        raise asyncio.CancelledError

    async def agent() -> None:
        with pytest.raises(asyncio.CancelledError):
            await search("cats")

    asyncio.run(agent())
    assert guard.report().attempts[0].outcome == "unknown"


def test_what_is_still_to_be_produced_is_not_looked_at() -> None:
    guard = make_guard()

    @guard.tool
    def pages(q: str) -> Iterator[str]:
        yield from (q, "b")

    assert list(pages("cats")) == ["cats", "b"]
    assert guard.report().attempts[0].outcome == "unknown"


def test_methods_are_known_by_their_arguments() -> None:
    guard = make_guard()

    class Shop:
        @guard.tool
        def search(self, q: str) -> str:
            return f"{q} found"

    assert [Shop().search("cats"), Shop().search("cats")] == ["cats found"] * 2
    (attempt,) = guard.report().attempts
    assert attempt.made == 2


def test_run_tool_gives_the_arguments_by_name_or_as_they_are() -> None:
    guard = make_guard()
    assert guard.run_tool("add", {"a": 1, "b": 2}, lambda a, b: a + b) == 3
    assert guard.run_tool("shout", "hey", str.upper) == "HEY"
    assert guard.run_tool("now", None, lambda: 7) == 7


def test_the_exception_travels_between_processes() -> None:
    guard = make_guard(policy=Policy(max_tool_calls=1))
    guard.run_tool("now", None, lambda: 7)
    with pytest.raises(LoopDetected) as raised:
        guard.run_tool("now", None, lambda: 7)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (str(copy), copy.stop_reason) == (str(raised.value), "max_tool_calls_reached")
    assert str(copy).startswith("max_tool_calls_reached: the run took 2 tool calls")
