"""The spans of one trace as a tree: whose call a call is, and which spans tell the same one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from otel_processor.model import Reading, Role

_NODES = 20_000
_DEPTH = 128


@dataclass(slots=True)
class Node:
    """What is remembered of a span once it has been read."""

    span_id: str
    parent_id: str | None
    role: Role
    start_ns: int
    end_ns: int
    agent: str | None
    """The agent's name on an agent or workflow span."""
    tool: str | None
    call_id: str | None
    run_id: str | None
    """Declared on this span."""
    told_by: str | None = None
    """The span that tells the same call and stands for it."""

    @classmethod
    def of(cls, reading: Reading, *, span_id: str, parent_id: str | None, start_ns: int, end_ns: int) -> Node:
        """Return what is remembered of a span that says this."""
        return cls(
            span_id=span_id,
            parent_id=parent_id,
            role=reading.role,
            start_ns=start_ns,
            end_ns=end_ns,
            agent=reading.agent if reading.role.is_task_root else None,
            tool=reading.tool if reading.role is Role.TOOL else None,
            call_id=reading.call_id,
            run_id=reading.run_id,
        )


class TraceTree:
    """The spans of a trace that have arrived; the oldest are forgotten beyond 20,000. Owned by the ledger."""

    __slots__ = ("_by_call_id", "_inner", "_nodes", "unnamed_calls")

    def __init__(self) -> None:
        self._nodes: OrderedDict[str, Node] = OrderedDict()
        self._inner: dict[str, Node] = {}
        self._by_call_id: dict[tuple[Role, str | None, str], Node] = {}
        self.unnamed_calls = 0
        """Calls recorded without an agent's name."""

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, span_id: str) -> bool:
        return span_id in self._nodes

    def add(self, node: Node) -> Node:
        """Take in a span; spans come in logical order, so children usually before their parents.

        Returns the node with `told_by` naming the span that tells the same call already, if there is one: a client and a
        server span of one MCP call, an SDK's own span inside an instrumentation's. Two spans tell the same call when one
        lies inside the other with nothing but plain spans between, or when they carry the same call id and overlap in
        time; and when they agree on the tool and do not contradict each other's call id.
        """
        self._nodes[node.span_id] = node
        if len(self._nodes) > _NODES:
            forgotten, _ = self._nodes.popitem(last=False)
            self._inner.pop(forgotten, None)
        inside = self._inner.pop(node.span_id, None)
        if node.role.is_call:
            first = self._same_call(node, inside)
            if first is not None:
                node.told_by = first.told_by or first.span_id
            self._claim(node.parent_id, first or node)
            if node.call_id is not None:
                if len(self._by_call_id) > _NODES:
                    self._by_call_id.clear()
                self._by_call_id[node.role, node.tool, node.call_id] = first or node
        elif node.role is Role.OTHER and inside is not None:
            self._claim(node.parent_id, inside)
        return node

    def ancestors(self, node: Node) -> Iterator[Node]:
        """Yield the known ancestors of a node, nearest first."""
        seen = 0
        current = node
        while current.parent_id is not None and seen < _DEPTH:
            parent = self._nodes.get(current.parent_id)
            if parent is None or parent is node:
                return
            yield parent
            current, seen = parent, seen + 1

    def agent_of(self, node: Node) -> str | None:
        """Return the name of the nearest agent above."""
        return next((above.agent for above in self.ancestors(node) if above.agent), None)

    def declared_run_of(self, node: Node) -> str | None:
        """Return the run that the span or the nearest ancestor that declares one belongs to."""
        if node.run_id:
            return node.run_id
        return next((above.run_id for above in self.ancestors(node) if above.run_id), None)

    def _claim(self, parent_id: str | None, call: Node) -> None:
        """Remember that a call lies directly inside the span above it, through plain spans that came before it."""
        for _ in range(_DEPTH):
            if parent_id is None:
                return
            parent = self._nodes.get(parent_id)
            if parent is None:
                self._inner[parent_id] = call
                return
            if parent.role is not Role.OTHER or parent is call:
                return
            # The parent came first (a late child): hand the claim further up.
            parent_id = parent.parent_id

    def _same_call(self, node: Node, inside: Node | None) -> Node | None:
        if inside is not None and _agree(inside, node):
            return inside
        for above in self.ancestors(node):
            if above.role is Role.OTHER:
                continue
            if _agree(above, node):
                return above
            break
        if node.call_id is not None:
            other = self._by_call_id.get((node.role, node.tool, node.call_id))
            if other is not None and other.start_ns <= node.end_ns and node.start_ns <= other.end_ns:
                return other
        return None


def _agree(one: Node, other: Node) -> bool:
    if one.role is not other.role or one.tool != other.tool:
        return False
    return one.call_id is None or other.call_id is None or one.call_id == other.call_id
