from __future__ import annotations

import pytest

from otel_processor.model import Reading, Role
from otel_processor.runs import trace_tree
from otel_processor.runs.trace_tree import Node, TraceTree
from tests.unit.factory import model_span
from tests.unit.runs.small_store import SmallStore


def node(
    span_id: str,
    parent_id: str | None = None,
    role: Role = Role.TOOL,
    *,
    tool: str | None = "search",
    call_id: str | None = None,
    times: tuple[int, int] = (0, 10),
    agent: str | None = None,
    run_id: str | None = None,
) -> Node:
    return Node(
        span_id=span_id,
        parent_id=parent_id,
        role=role,
        start_ns=times[0],
        end_ns=times[1],
        agent=agent,
        tool=tool if role is Role.TOOL else None,
        call_id=call_id,
        run_id=run_id,
    )


def told_by(*nodes: Node) -> list[str | None]:
    """Who tells the call of each node, the nodes coming in this order."""
    tree = TraceTree()
    return [tree.add(added).told_by for added in nodes]


def test_a_call_inside_one_of_the_same_tool_is_the_same_call() -> None:
    assert told_by(node("inner", "outer"), node("outer")) == [None, "inner"]
    assert told_by(node("outer"), node("inner", "outer")) == [None, "outer"]


def test_plain_spans_between_do_not_matter() -> None:
    assert told_by(node("server", "http"), node("http", "client", Role.OTHER), node("client")) == [None, None, "server"]
    assert told_by(node("client"), node("http", "client", Role.OTHER), node("server", "http")) == [None, None, "client"]


def test_three_spans_of_one_call_are_told_by_the_first() -> None:
    assert told_by(node("a", "b"), node("b", "c"), node("c")) == [None, "a", "a"]


@pytest.mark.parametrize("role", [Role.MODEL, Role.AGENT, Role.WORKFLOW])
def test_a_model_or_an_agent_between_makes_two_calls(role: Role) -> None:
    assert told_by(node("inner", "between"), node("between", "outer", role), node("outer")) == [None, None, None]
    assert told_by(node("outer"), node("between", "outer", role), node("inner", "between")) == [None, None, None]


def test_a_tool_that_calls_itself_through_a_sub_agent_makes_two_calls() -> None:
    nodes = [
        node("inner", "chat"),
        node("chat", "helper", Role.OTHER),
        node("helper", "outer", Role.AGENT, agent="helper"),
        node("outer"),
    ]
    assert told_by(*nodes) == [None] * 4


def test_another_tool_is_another_call() -> None:
    assert told_by(node("inner", "outer", tool="fetch"), node("outer")) == [None, None]


def test_other_call_ids_are_other_calls_and_a_missing_one_contradicts_nothing() -> None:
    assert told_by(node("inner", "outer", call_id="1"), node("outer", call_id="2")) == [None, None]
    assert told_by(node("inner", "outer", call_id="1"), node("outer")) == [None, "inner"]


def test_equal_call_ids_that_overlap_are_the_same_call_wherever_they_lie() -> None:
    assert told_by(node("a", call_id="1", times=(0, 10)), node("b", call_id="1", times=(5, 15))) == [None, "a"]


def test_equal_call_ids_one_after_the_other_are_two_calls() -> None:
    assert told_by(node("a", call_id="1", times=(0, 10)), node("b", call_id="1", times=(11, 15))) == [None, None]


def test_equal_call_ids_of_other_tools_are_two_calls() -> None:
    assert told_by(node("a", call_id="1"), node("b", call_id="1", tool="fetch")) == [None, None]


def test_siblings_are_two_calls() -> None:
    assert told_by(node("a", "top"), node("b", "top"), node("top", role=Role.OTHER)) == [None, None, None]


def test_of_several_calls_inside_one_the_first_that_agrees_is_the_same() -> None:
    assert told_by(node("a", "outer", tool="fetch"), node("b", "outer"), node("c", "outer"), node("outer")) == [
        None,
        None,
        None,
        "b",
    ]


def test_nested_model_spans_are_one_model_call() -> None:
    assert told_by(node("sdk", "wrapper", Role.MODEL), node("wrapper", role=Role.MODEL)) == [None, "sdk"]


def test_a_wrapper_may_give_a_models_answer_an_id_of_its_own() -> None:
    sdk, wrapper = node("sdk", "wrapper", Role.MODEL, call_id="1"), node("wrapper", role=Role.MODEL, call_id="2")
    assert told_by(sdk, wrapper) == [None, "sdk"]


def test_a_late_span_between_two_calls_says_that_they_are_one() -> None:
    tree = TraceTree()
    for added in (node("inner", "http"), node("outer")):
        tree.add(added)
    assert tree.add(node("http", "outer", Role.OTHER)).joins == ("inner", "outer")
    tree = TraceTree()
    for added in (node("inner", "middle"), node("outer")):
        tree.add(added)
    middle = tree.add(node("middle", "outer"))
    assert (middle.told_by, middle.joins) == ("inner", ("inner", "outer"))


def test_what_was_joined_later_is_told_by_the_one_that_stands_for_all() -> None:
    model = Role.MODEL
    store = SmallStore()
    inner, middle = model_span("inner", parent="between", at=3, seconds=1), model_span("middle", parent="top", at=2, seconds=2)
    top, between = model_span("top", at=1, seconds=3), model_span("between", parent="middle", at=2, seconds=3)
    store.record([inner, middle, top, between, model_span("late", parent="top", at=3, seconds=4)])
    assert store.decided_anew == 0
    assert [(key[1], row.call.kind) for key, row in store.calls.items()] == [("inner", model)]


def test_the_agent_of_a_call_is_the_nearest_above() -> None:
    tree = TraceTree()
    call = tree.add(node("call", "plain"))
    assert tree.agent_of(call) is None
    for added in (
        node("plain", "helper", Role.OTHER),
        node("helper", "chief", Role.AGENT, agent="helper"),
        node("chief", role=Role.AGENT, agent="chief"),
    ):
        tree.add(added)
    assert tree.agent_of(call) == "helper"


def test_the_declared_run_is_the_spans_own_else_the_nearest_above() -> None:
    tree = TraceTree()
    call, own = tree.add(node("call", "plain")), tree.add(node("own", "plain", run_id="mine"))
    tree.add(node("plain", "top", Role.OTHER, run_id="inner"))
    tree.add(node("top", role=Role.OTHER, run_id="outer"))
    assert (tree.declared_run_of(call), tree.declared_run_of(own)) == ("inner", "mine")


@pytest.mark.parametrize("role", list(Role))
def test_parents_that_go_in_circles_end(role: Role) -> None:
    tree = TraceTree()
    added = [
        tree.add(node(*ids, role)) for ids in (("a", "b"), ("b", "c"), ("c", "a"), ("self", "self"), ("d", "self"), ("e", "a"))
    ]
    for each in added:
        assert tree.agent_of(each) is None
        assert tree.declared_run_of(each) is None
        assert len(list(tree.ancestors(each))) <= 128
        tree.note_unnamed(each, "run")
        tree.note_undeclared(each)


def test_a_line_of_very_many_ancestors_is_looked_at_only_so_far() -> None:
    tree = TraceTree()
    for number in range(1_000):
        tree.add(node(str(number), str(number + 1), Role.OTHER))
    tree.add(node("1000", role=Role.AGENT, agent="far away"))
    assert tree.agent_of(tree.add(node("call", "0"))) is None
    assert tree.agent_of(tree.add(node("near", "950"))) == "far away"


def test_what_a_tree_remembers_has_a_bound() -> None:
    tree = TraceTree()
    for number in range(45_000):
        added = tree.add(node(str(number), f"gone {number}", call_id=str(number)))
        tree.note_unnamed(added, "run")
    assert len(tree) == 20_000
    assert "44999" in tree
    assert "0" not in tree
    assert max(len(tree._inner), len(tree._loose), len(tree._by_call_id)) <= 20_001


def test_an_agent_above_thousands_of_calls_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_tree, "_NODES", 100)
    tree = TraceTree()
    agent = Reading(role=Role.AGENT, agent="worker")
    tree.add(Node.of(agent, span_id="root", parent_id=None, start_ns=0, end_ns=1_000_000))
    for number in range(1_000):
        reading = Reading(role=Role.TOOL, tool="search", call_id=f"c{number}")
        node = tree.add(Node.of(reading, span_id=f"s{number}", parent_id="root", start_ns=number, end_ns=number + 1))
        assert tree.agent_of(node) == "worker"
    assert len(tree) == 100
