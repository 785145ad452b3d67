"""The spans of one trace as a tree: whose call a call is, and which spans tell the same one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from otel_processor.model import Reading, Role

_NODES = 20_000
_PASSED_OVER = 64
_DEPTH = 128
_INNER = 16
_SAME_ID = 8
"""Calls directly inside one span that are remembered until it comes."""


class Told(Protocol):
    """A span as one that may tell a call that another one tells too."""

    @property
    def role(self) -> Role:
        """What the span is."""

    @property
    def tool(self) -> str | None:
        """The tool that was called."""

    @property
    def call_id(self) -> str | None:
        """The call's own id."""

    @property
    def start_ns(self) -> int:
        """When it began."""

    @property
    def end_ns(self) -> int:
        """When it ended."""


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
    joins: tuple[str, str] | None = None
    """On a span that came last: the spans inside and above it that tell one call and were taken for two."""

    def comes_before(self, other: Node) -> bool:
        """Return whether the span comes before another one in the order in which spans are taken in."""
        return (self.end_ns, -self.start_ns, self.span_id) < (other.end_ns, -other.start_ns, other.span_id)

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


@dataclass(slots=True)
class Loose:
    """What was decided about spans below one that has not arrived, as long as it says nothing else."""

    undeclared: bool = False
    """There are some that no run was declared for."""
    unnamed_in: set[str] = field(default_factory=set)
    """Runs of the calls among them that no agent was known for."""


class TraceTree:
    """The spans of a trace that have arrived; the oldest are forgotten beyond 20,000. Owned by the ledger."""

    __slots__ = ("_by_call_id", "_inner", "_loose", "_nodes", "first_end_ns")

    def __init__(self) -> None:
        self._nodes: OrderedDict[str, Node] = OrderedDict()
        self._inner: dict[str, list[Node]] = {}
        self._by_call_id: dict[tuple[Role, str | None, str], tuple[Node, ...]] = {}
        """The latest calls with an id; some servers use one again."""
        self._loose: dict[str, Loose] = {}
        self.first_end_ns: int | None = None
        """When the first of all its spans ended, also of those that are forgotten."""

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, span_id: str) -> bool:
        return span_id in self._nodes

    def find(self, span_id: str) -> Node | None:
        """Return a span that has arrived, or None."""
        return self._nodes.get(span_id)

    def add(self, node: Node) -> Node:
        """Take in a span; spans come in logical order, so children usually before their parents.

        Returns the node with `told_by` naming the span that tells the same call already, if there is one: a client and a
        server span of one MCP call, an SDK's own span inside an instrumentation's. Two spans tell the same call when one
        lies inside the other with nothing but plain spans between, or when they carry the same call id and overlap in
        time; and when they agree on the tool and do not contradict each other's call id.
        """
        self._nodes[node.span_id] = node
        self.first_end_ns = node.end_ns if self.first_end_ns is None else min(self.first_end_ns, node.end_ns)
        if len(self._nodes) > _NODES:
            self._forget_one()
        inside = self._inner.pop(node.span_id, ())
        node.joins = self._joined_by(node, inside) if inside else None
        if node.role.is_call:
            first = self._same_call(node, inside)
            if first is not None:
                node.told_by = self._stands_for(first)
            self._claim(node.parent_id, first or node)
            if node.call_id is not None:
                if len(self._by_call_id) > _NODES:
                    self._by_call_id.clear()
                key, stands = (node.role, node.tool, node.call_id), first or node
                known = self._by_call_id.get(key, ())
                if all(each is not stands for each in known):
                    self._by_call_id[key] = (*known, stands)[-_SAME_ID:]
        elif node.role is Role.OTHER and inside:
            for inner in inside:
                self._claim(node.parent_id, inner)
        return node

    def _forget_one(self) -> None:
        """Forget the oldest span; one that names an agent or a run is looked for by all below it and goes last."""
        for _ in range(_PASSED_OVER):
            span_id, node = self._nodes.popitem(last=False)
            if node.agent is None and node.run_id is None:
                break
            self._nodes[span_id] = node
        else:
            span_id, _ = self._nodes.popitem(last=False)
        self._inner.pop(span_id, None)

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
        for above in self.ancestors(node):
            if above.agent:
                return above.agent
        return None

    def declared_run_of(self, node: Node) -> str | None:
        """Return the run that the span or the nearest ancestor that declares one belongs to."""
        if node.run_id:
            return node.run_id
        for above in self.ancestors(node):
            if above.run_id:
                return above.run_id
        return None

    # What is decided below a span that has not arrived is loose: it may say otherwise.

    def note_undeclared(self, node: Node) -> None:
        """Remember that the span was put into the trace's own run, since nobody above it declares another."""
        missing = self._missing_above(node)
        if missing:
            self._loose_below(missing).undeclared = True

    def note_unnamed(self, node: Node, run_id: str) -> None:
        """Remember that a call of this run was counted without an agent's name."""
        self._loose_below(self._missing_above(node)).unnamed_in.add(run_id)

    def is_awaited(self, node: Node) -> bool:
        """Return whether anything below the span was decided without it."""
        return node.span_id in self._loose

    def arrived(self, node: Node) -> Loose:
        """Return what is loose below a span that has come."""
        return self._loose.pop(node.span_id, Loose())

    def still_loose(self, node: Node, loose: Loose) -> None:
        """Hand what the span leaves open on to the next one above that has not arrived."""
        if loose.unnamed_in:
            self._loose_below(self._missing_above(node)).unnamed_in |= loose.unnamed_in
        if loose.undeclared:
            self.note_undeclared(node)

    @property
    def has_unnamed_calls(self) -> bool:
        """Whether calls were counted without an agent's name."""
        return any(loose.unnamed_in for loose in self._loose.values())

    def _loose_below(self, missing: str) -> Loose:
        loose = self._loose.get(missing)
        if loose is None:
            if len(self._loose) > _NODES:
                self._loose.clear()
            loose = self._loose[missing] = Loose()
        return loose

    def _missing_above(self, node: Node) -> str:
        """Return the nearest span above that has not arrived; empty when the line is complete."""
        current = node
        for _ in range(_DEPTH):
            if current.parent_id is None:
                return ""
            parent = self._nodes.get(current.parent_id)
            if parent is None:
                return current.parent_id
            if parent is node:
                return ""
            current = parent
        return ""

    # Which spans tell the same call?

    def _claim(self, parent_id: str | None, call: Node) -> None:
        """Remember that a call lies directly inside the span above it, through plain spans that came before it."""
        for _ in range(_DEPTH):
            if parent_id is None:
                return
            parent = self._nodes.get(parent_id)
            if parent is None:
                if len(self._inner) > _NODES:
                    self._inner.clear()
                calls = self._inner.setdefault(parent_id, [])
                if len(calls) < _INNER:
                    calls.append(call)
                return
            if parent.role is not Role.OTHER or parent is call:
                return
            # The parent came first (a late child): hand the claim further up.
            parent_id = parent.parent_id

    def _joined_by(self, node: Node, inside: Sequence[Node]) -> tuple[str, str] | None:
        """Return the calls inside and above a span that tell the same one now that it lies between them."""
        above = self._nearest_telling(node)
        if above is None or (node.role is not Role.OTHER and not agree(node, above)):
            return None
        told = inside if node.role is Role.OTHER else [inner for inner in inside if agree(inner, node)][:1]
        return next(((inner.span_id, above.span_id) for inner in told if agree(inner, above)), None)

    def _stands_for(self, node: Node) -> str:
        """Return the span that stands for a call that this one tells: it may stand for another one since."""
        for _ in range(_DEPTH):
            following = self._nodes.get(node.told_by) if node.told_by is not None else None
            if following is None or following is node:
                break
            node = following
        return node.told_by or node.span_id

    def _nearest_telling(self, node: Node) -> Node | None:
        """Return the nearest span above that is not a plain one."""
        return next((above for above in self.ancestors(node) if above.role is not Role.OTHER), None)

    def _same_call(self, node: Node, inside: Sequence[Node]) -> Node | None:
        for inner in inside:
            if agree(inner, node):
                return inner
        above = self._nearest_telling(node)
        if above is not None and agree(above, node):
            return above
        if node.call_id is not None:
            known = self._by_call_id.get((node.role, node.tool, node.call_id), ())
            return next((other for other in reversed(known) if at_once(node, other)), None)
        return None


def at_once(one: Told, other: Told) -> bool:
    """Return whether two spans with one id can be one call: tools that overlap, models of which one holds the other.

    A model call's id is its answer's, and there are servers that give every answer the same.
    """
    if one.role is Role.MODEL:
        return (
            one.start_ns <= other.start_ns <= other.end_ns <= one.end_ns
            or other.start_ns <= one.start_ns <= one.end_ns <= other.end_ns
        )
    return other.start_ns <= one.end_ns and one.start_ns <= other.end_ns


def agree(one: Told, other: Told) -> bool:
    """Return whether two spans of which one lies inside the other can tell the same call."""
    if one.role is not other.role or one.tool != other.tool:
        return False
    if one.role is Role.MODEL:
        # Its id is the answer's, and a wrapper may give the answer one of its own.
        return True
    return one.call_id is None or other.call_id is None or one.call_id == other.call_id
