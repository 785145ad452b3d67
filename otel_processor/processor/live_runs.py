"""What the running process knows of its open spans and runs."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from otel_processor.detection.bounded import RecentMap
from otel_processor.dialects import read_span
from otel_processor.model import NOTHING, Reading, Role
from otel_processor.processor.sdk_span import SpanView, raw_attributes
from otel_processor.runs.trace_tree import TraceTree
from otel_processor.runs.tracker import RunTracker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.sdk.trace import Span

    from otel_processor.policy import Policy

OPEN_SPANS = 50_000
"""Spans remembered between start and end; one that never ends is forgotten when as many others have started since."""

LIVE_RUNS = 10_000

_DEPTH = 128


@dataclass(slots=True)
class OpenSpan:
    """A span between its start and its end."""

    span: Span
    parent: OpenSpan | None
    has_parent: bool
    """It has a parent, be it in another process."""
    read_at: int = -1
    reading: Reading = NOTHING

    def read(self) -> Reading:
        """Return what the span says so far; read again only when attributes came since."""
        size = len(raw_attributes(self.span))
        if size != self.read_at:
            self.reading, self.read_at = read_span(SpanView(self.span)), size
        return self.reading

    def line(self) -> Iterator[OpenSpan]:
        """Yield the span and its open ancestors, nearest first."""
        current: OpenSpan | None = self
        for _ in range(_DEPTH):
            if current is None:
                return
            yield current
            current = current.parent


@dataclass(slots=True)
class LiveRun:
    """A run that is going on in this process."""

    tracker: RunTracker
    trees: dict[str, TraceTree] = field(default_factory=dict)
    last_ns: int = 0


class LiveRuns:
    """Open spans and runs of one process. `lock` guards everything in it; both are bounded."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.lock = threading.Lock()
        self._spans: RecentMap[int, OpenSpan] = RecentMap(OPEN_SPANS)
        self._runs: RecentMap[str, LiveRun] = RecentMap(LIVE_RUNS)
        self._conversations: RecentMap[tuple[str, str], str] = RecentMap(LIVE_RUNS)
        os.register_at_fork(after_in_child=self._after_fork)

    def _after_fork(self) -> None:
        self.lock = threading.Lock()

    def begin(self, span: Span) -> OpenSpan:
        """Remember a span that starts."""
        above = span.parent
        with self.lock:
            parent = self._spans.get(above.span_id) if above is not None else None
            known = OpenSpan(span, parent, above is not None)
            self._spans.put(span.context.span_id, known)
        return known

    def end(self, span: Span) -> OpenSpan:
        """Forget a span that ends; one that started before we were there is taken as it is."""
        known = self._spans.pop(span.context.span_id)
        return known if known is not None else OpenSpan(span, None, span.parent is not None)

    def run_of(self, known: OpenSpan, trace_id: str, service: str) -> LiveRun:
        """Return the run that a span belongs to.

        That is the declared one, else its trace's; the conversation's where the call is a trace of its own.
        """
        declared = next((run_id for above in known.line() if (run_id := above.read().run_id)), None)
        run_id = declared or trace_id
        reading = known.read()
        if declared is None and not known.has_parent and reading.conversation_id and reading.role.is_call:
            run_id = self._conversation_run(known, trace_id, (service, reading.conversation_id))
        return self._run(run_id)

    def existing_run(self, run_id: str) -> LiveRun | None:
        """Return a run that has had calls."""
        return self._runs.get(run_id)

    def forget_run(self, run_id: str) -> None:
        """Let a run go that has ended."""
        self._runs.pop(run_id)

    def _conversation_run(self, known: OpenSpan, trace_id: str, key: tuple[str, str]) -> str:
        run_id = self._conversations.get(key)
        run = self._runs.get(run_id) if run_id is not None else None
        idle_ns = int(self._policy.run_idle_timeout_seconds * 1e9)
        if run_id is None or run is None or (known.span.start_time or 0) - run.last_ns > idle_ns:
            run_id = trace_id
            self._conversations.put(key, run_id)
        return run_id

    def _run(self, run_id: str) -> LiveRun:
        run = self._runs.get(run_id)
        if run is None:
            run = LiveRun(RunTracker(run_id, self._policy))
            self._runs.put(run_id, run)
        return run


def agent_of(known: OpenSpan) -> str:
    """Return the agent that a span acts for: its own, else the nearest agent above; empty when none is named."""
    for above in known.line():
        reading = above.read()
        if reading.agent and (above is known or reading.role.is_task_root):
            return reading.agent
    return ""


def task_of(known: OpenSpan) -> str | None:
    """Return what the run is for: declared, else the outermost agent or workflow, else the root span's name."""
    declared = outermost = root_name = own = None
    for above in known.line():
        reading = above.read()
        declared = declared or reading.task
        own = own or reading.agent
        if reading.role.is_task_root and reading.agent:
            outermost = reading.agent
        root_name = above.span.name if reading.role is Role.OTHER else root_name
    return declared or outermost or own or root_name
