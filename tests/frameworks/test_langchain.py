"""LangChain's `create_agent`, and a graph of LangGraph's own, under guard."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

import pytest

from otel_processor import LoopGuard, Policy, current_guard, instrument
from tests.frameworks.desk import LOOPED, NUDGE, ORDER, Desk, needs
from tests.integration.stored import rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

needs("langchain.agents")

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, interrupt

from otel_processor.adapters.langchain import LoopGuardMiddleware

pytestmark = pytest.mark.frameworks


class Model(BaseChatModel):
    """Says what it is told to say, call after call, and keeps what it was given."""

    says: Any
    given: Any = None

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.given = list(messages)
        said = next(self.says)
        message = said if isinstance(said, str) else ""
        calls = [] if isinstance(said, str) else [{"id": f"call-{len(messages)}-{n}", **call} for n, call in enumerate(said)]
        usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
        return ChatResult(
            generations=[ChatGeneration(message=AIMessage(content=message, tool_calls=calls, usage_metadata=usage))]
        )


def looks_up() -> list[dict[str, Any]]:
    return [{"name": "lookup_order", "args": ORDER}]


def stubborn() -> Model:
    """A model that always wants the same."""
    return Model(says=(looks_up() for _ in itertools.count()))


def healthy() -> Model:
    """A model that looks in several places, and then has an answer."""
    mails: Iterator[Any] = ([{"name": "search_mail", "args": {"query": query}}] for query in ("invoice", "May", "supplier"))
    return Model(says=itertools.chain([looks_up()], mails, ["demo-001 was renamed"]))


def ask(model: Model, desk: Desk, *middleware: Any, how: str = "sync", steps: int = 60) -> list[Any]:
    """Run an agent, and return its messages."""
    agent = create_agent(model, [desk.lookup_order, desk.search_mail], middleware=middleware)
    task, config = {"messages": [HumanMessage("Where is the order?")]}, {"recursion_limit": steps}
    done = agent.invoke(task, config) if how == "sync" else asyncio.run(agent.ainvoke(task, config))
    return list(done["messages"])


def answers(messages: list[Any]) -> list[str]:
    """What the model was given as the results of its calls."""
    return [message.content for message in messages if isinstance(message, ToolMessage)]


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_model_that_repeats_itself_is_nudged_and_then_stopped(how: str, desk: Desk) -> None:
    model = stubborn()
    with LoopGuard(mode="enforce", goal="find the order") as guard:
        messages = ask(model, desk, LoopGuardMiddleware(), how=how)
    assert len(desk.ran) == 2
    told = answers(messages)
    assert told[:2] == ["not found"] * 2
    assert len(told) == 5
    assert all(NUDGE in text and "The goal is still: find the order." in text for text in told[2:])
    assert "The run is stopped" in told[-1]
    assert told[3] in [message.content for message in model.given]
    report = guard.report()
    assert messages[-1].content.splitlines()[:3] == report.text().splitlines()[:3]
    assert (report.stop_reason, report.tool_calls, report.refused_calls) == (LOOPED, 2, 3)
    assert [(one.tool, one.made, one.refused) for one in report.attempts] == [("lookup_order", 2, 3)]
    assert (report.steps, report.input_tokens, report.output_tokens) == (5, 500, 50)


def test_a_guard_can_be_handed_over_where_the_context_is_lost(desk: Desk) -> None:
    guard = LoopGuard(mode="enforce")
    ask(stubborn(), desk, LoopGuardMiddleware(guard))
    assert len(desk.ran) == 2
    assert guard.report().stop_reason == LOOPED


@pytest.mark.parametrize("how", ["sync", "async"])
def test_watching_changes_nothing(how: str, desk: Desk) -> None:
    with LoopGuard(mode="observe") as guard, pytest.raises(GraphRecursionError):
        ask(stubborn(), desk, LoopGuardMiddleware(), how=how, steps=30)
    watched = len(desk.ran)
    with pytest.raises(GraphRecursionError):
        ask(stubborn(), desk, how=how, steps=30)
    assert watched > 5
    # The middleware's own nodes are steps of the graph.
    assert len(desk.ran) - watched >= watched
    assert guard.report().flagged_reason == LOOPED
    assert guard.report().refused_calls == 0


def test_nudging_stops_nothing(desk: Desk) -> None:
    with LoopGuard(mode="nudge") as guard, pytest.raises(GraphRecursionError):
        ask(stubborn(), desk, LoopGuardMiddleware(), steps=30)
    assert len(desk.ran) == 2
    assert guard.report().refused_calls > 3


@pytest.mark.parametrize("mode", ["observe", "nudge", "enforce"])
@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_healthy_run_is_let_be(how: str, mode: str, desk: Desk) -> None:
    with LoopGuard(mode=mode) as guard:
        guarded = ask(healthy(), desk, LoopGuardMiddleware(), how=how)
    bare = ask(healthy(), Desk(), how=how)
    assert [message.content for message in guarded] == [message.content for message in bare]
    report = guard.report()
    assert (report.stop_reason, report.flagged_reason, report.tool_calls, report.steps) == ("completed", None, 4, 5)


def test_calls_side_by_side_are_told_apart(desk: Desk) -> None:
    both = [*looks_up(), {"name": "search_mail", "args": {"query": "invoice"}}]
    with LoopGuard(mode="enforce") as guard:
        ask(Model(says=iter([both, "done"])), desk, LoopGuardMiddleware())
    outcomes = {one.tool: (one.made, one.outcome) for one in guard.report().attempts}
    assert outcomes == {"lookup_order": (1, "new"), "search_mail": (1, "new")}


def test_a_tool_that_fails_is_told_as_one(desk: Desk) -> None:
    def lookup_order(order_id: str) -> str:
        """Look an order up."""
        raise ValueError(f"no such order: {order_id}")

    desk.lookup_order = lookup_order  # type: ignore[method-assign]
    with LoopGuard(mode="enforce") as guard, pytest.raises(ValueError, match="no such order"):
        ask(stubborn(), desk, LoopGuardMiddleware())
    (only,) = guard.report().attempts
    assert (only.made, only.outcome) == (1, "failed: ValueError: no such order: demo-001")


def test_what_concerns_no_single_call_is_told_before_the_model_is_asked(desk: Desk) -> None:
    says = ([{"name": "lookup_order", "args": {"order_id": f"demo-{number:03}"}}] for number in itertools.count())
    policy = Policy(no_progress_alert_steps=2, no_progress_stop_steps=3)
    with LoopGuard(policy, mode="enforce") as guard:
        messages = ask(Model(says=says), desk, LoopGuardMiddleware())
    told = [message.content for message in messages[1:] if isinstance(message, HumanMessage)]
    assert told
    assert "brought nothing new" in told[0]
    # What was told that way is held against no call.
    assert guard.report().refused_calls == 0
    assert guard.report().stop_reason == "loop_detected:no_progress"


def test_a_limit_ends_the_run(desk: Desk) -> None:
    with LoopGuard(Policy(max_tool_calls=2), mode="enforce") as guard:
        messages = ask(healthy(), desk, LoopGuardMiddleware())
    assert len(desk.ran) == 2
    assert guard.report().stop_reason == "max_tool_calls_reached"
    assert messages[-1].content.startswith("The run was stopped: max_tool_calls_reached.")


def test_a_bug_of_ours_breaks_nothing(bug_of_ours: None, desk: Desk) -> None:
    with LoopGuard(mode="enforce"):
        messages = ask(healthy(), desk, LoopGuardMiddleware())
    assert messages[-1].content == "demo-001 was renamed"


def test_what_the_adapter_does_not_understand_breaks_nothing(desk: Desk) -> None:
    class Odd(LoopGuardMiddleware):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            return super().wrap_tool_call(object(), lambda _: handler(request))

        def after_model(self, state: Any, runtime: Any) -> Any:
            return super().after_model(None, runtime)

    with LoopGuard(mode="enforce"):
        messages = ask(healthy(), desk, Odd())
    assert messages[-1].content == "demo-001 was renamed"


def test_a_call_that_waits_for_a_person_counts_when_it_is_made(desk: Desk) -> None:
    def lookup_order(order_id: str) -> str:
        """Look an order up."""
        return f"{interrupt('may I?')}: {desk.search_mail(order_id)}"

    model = Model(says=iter([looks_up(), "done"]))
    agent = create_agent(model, [lookup_order], middleware=[LoopGuardMiddleware()], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    with LoopGuard(mode="enforce") as guard:
        agent.invoke({"messages": [HumanMessage("Where is the order?")]}, config)
        assert guard.report().tool_calls == 0
        done = agent.invoke(Command(resume="yes"), config)
    assert done["messages"][-1].content == "done"
    assert guard.report().tool_calls == 1


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_graph_of_ones_own_asks_through_its_tool_node(how: str, desk: Desk) -> None:
    middleware, model = LoopGuardMiddleware(), stubborn()
    graph: Any = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    tools = ToolNode([desk.lookup_order], wrap_tool_call=middleware.wrap_tool_call, awrap_tool_call=middleware.awrap_tool_call)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_conditional_edges("tools", lambda _: "__end__" if current_guard().stopped else "model")
    with LoopGuard(mode="enforce") as guard:
        compiled, task = graph.compile(), {"messages": [HumanMessage("Where is the order?")]}
        done = compiled.invoke(task) if how == "sync" else asyncio.run(compiled.ainvoke(task))
    assert len(desk.ran) == 2
    assert "The run is stopped" in done["messages"][-1].content
    assert guard.report().stop_reason == LOOPED


class TestWithSpans:
    """OpenInference's writer keeps its spans out of the context; they are found all the same."""

    @pytest.fixture(autouse=True)
    def spans(self, provider: TracerProvider) -> Iterator[None]:
        from openinference.instrumentation.langchain import LangChainInstrumentor

        LangChainInstrumentor().instrument(tracer_provider=provider)
        yield
        LangChainInstrumentor().uninstrument()

    @pytest.mark.parametrize("how", ["sync", "async"])
    def test_the_run_is_stopped_by_the_guard_of_its_spans(self, how: str, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce")
        messages = ask(stubborn(), desk, LoopGuardMiddleware(), how=how)
        assert installed.force_flush()
        assert len(desk.ran) == 2
        assert messages[-1].content.startswith(f"The run was stopped: {LOOPED}.")
        assert rows(db, "select stop_reason, tool_calls from runs") == [(LOOPED, 2)]
        assert rows(db, "select pattern, action from alerts where stop_reason is not null") == [("hard_loop", "stop")]
        assert rows(db, "select count(*) from calls where kind = 'model'") == [(5,)]

    def test_a_guard_of_ones_own_says_in_the_rows_why_it_stopped(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider)
        with LoopGuard(mode="enforce"):
            ask(stubborn(), desk, LoopGuardMiddleware())
        assert installed.force_flush()
        assert rows(db, "select stop_reason, tool_calls from runs") == [(LOOPED, 2)]

    def test_watching_changes_nothing(self, provider: TracerProvider, db: Path, desk: Desk) -> None:
        installed = instrument(db, tracer_provider=provider)
        messages = ask(healthy(), desk, LoopGuardMiddleware())
        assert installed.force_flush()
        assert messages[-1].content == "demo-001 was renamed"
        assert rows(db, "select stop_reason, flagged_reason, tool_calls from runs") == [("completed", None, 4)]

    @pytest.mark.parametrize("policy", [None, Policy(max_tool_calls=2)])
    def test_without_code_nothing_keeps_the_tool_from_running(
        self, policy: Policy | None, provider: TracerProvider, db: Path, desk: Desk
    ) -> None:
        installed = instrument(db, tracer_provider=provider, mode="enforce", policy=policy)
        with pytest.raises(GraphRecursionError):
            ask(stubborn(), desk, steps=24)
        assert installed.force_flush()
        assert len(desk.ran) == 12
        if policy is None:
            assert rows(db, "select flagged_reason from runs") == [(LOOPED,)]
