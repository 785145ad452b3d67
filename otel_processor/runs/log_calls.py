"""Log records among the spans of a trace: those that tell a call, and those that say that spans tell it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from otel_processor.model import LogPart, Role
from otel_processor.runs.entry import Entry
from otel_processor.runs.run_facts import Glimpse
from otel_processor.runs.trace_tree import Node

if TYPE_CHECKING:
    from otel_processor.runs.memory import Memory, TraceMemory
    from otel_processor.runs.records import ReadSpan


def note_traced(memory: Memory, items: Iterable[ReadSpan]) -> set[str]:
    """Note which sessions spans tell as well; return the traces of those where model calls were counted before."""
    stale = set()
    for item in items:
        if item.reading.log is not LogPart.TRACED:
            continue
        trace = memory.trace(item.span.trace_id, shows_run=False)
        if not trace.is_traced and trace.has_model:
            stale.add(item.span.trace_id)
        trace.is_traced = True
    return stale


def place_log(trace: TraceMemory, item: ReadSpan, pending: list[Entry]) -> bool:
    """Take in a record that tells a call; return whether it says otherwise of the run than what was decided by.

    In the tree it is a plain span: it stands for no other one, and whose call it tells is found among those of its run.
    """
    span, reading = item.span, item.reading
    node = Node.of(reading, span_id=span.span_id, parent_id=span.parent_span_id, start_ns=span.start_ns, end_ns=span.end_ns)
    node.role, node.tool, node.call_id = Role.OTHER, None, None
    node = trace.tree.add(node)
    seen = Glimpse.of(span, reading, node)
    trace.waiting.append(seen)
    trace.has_model |= reading.role is Role.MODEL
    pending.append(Entry(item, node))
    return seen.is_root and trace.see_root(seen)
