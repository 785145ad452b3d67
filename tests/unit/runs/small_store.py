"""What the ledger decides, kept in dictionaries by the rules of the recorder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from otel_processor.model import SpanRecord
from otel_processor.policy import Policy
from otel_processor.runs.conversations import StoredRun
from otel_processor.runs.ledger import Ledger
from otel_processor.runs.records import Delta, ReadSpan, RecordedCall, RunSummary, TraceRun, without_traces
from tests.unit.factory import read


class SmallStore:
    """Applies batches of spans; traces that are stale, and all that share a run with them, are decided anew at once."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.ledger = Ledger(policy or Policy(), self._conversation)
        self.spans: dict[str, list[ReadSpan]] = defaultdict(list)
        self.calls: dict[tuple[str, str], RecordedCall] = {}
        self.traces: dict[str, TraceRun] = {}
        self.runs: dict[str, RunSummary] = {}
        self.decided_anew = 0

    def record(self, spans: Iterable[SpanRecord]) -> Delta:
        """Take in a batch; returns what the ledger made of it at first."""
        batch = [read(span) for span in spans]
        for item in batch:
            self.spans[item.span.trace_id].append(item)
        first = delta = self.ledger.apply(batch)
        stale = delta.stale_traces | self._traces_of(delta.joined_runs)
        self._write(without_traces(delta, stale))
        while stale:
            self.decided_anew += 1
            assert self.decided_anew < 100, "deciding anew must come to an end"
            stale, runs = self._sharing(stale)
            self.ledger.forget(stale, runs)
            delta = self.ledger.apply([item for trace_id in stale for item in self.spans[trace_id]])
            self._remove(stale, runs)
            self._write(without_traces(delta, delta.stale_traces))
            stale = stale | delta.stale_traces | self._traces_of(delta.joined_runs) if delta.stale_traces else set()
        return first

    def outcomes(self) -> dict[tuple[str, str], tuple[object, ...]]:
        """What is stored of each call."""
        return {
            key: (recorded.declared_run_id, recorded.call, recorded.outcome._replace(verdicts=(), standing=None, resolved=()))
            for key, recorded in self.calls.items()
        }

    def run_of(self, span_id: str, trace: str = "t1") -> str:
        """The run that a call is shown under."""
        return self.calls[trace, span_id].declared_run_id or self.traces[trace].run_id

    def _sharing(self, trace_ids: set[str]) -> tuple[set[str], set[str]]:
        """All traces that share a run with these, and all those runs."""
        links = {(trace.trace_id, trace.run_id) for trace in self.traces.values()}
        links |= {(key[0], call.declared_run_id) for key, call in self.calls.items() if call.declared_run_id}
        links |= {(trace_id, run_id) for trace_id in self.spans for run_id in self.ledger.runs_of(trace_id)}
        traces, runs = set(trace_ids), set[str]()
        while True:
            runs |= {run_id for trace_id, run_id in links if trace_id in traces}
            more = {trace_id for trace_id, run_id in links if run_id in runs}
            if more <= traces:
                return traces, runs
            traces |= more

    def _remove(self, traces: set[str], runs: set[str]) -> None:
        self.calls = {key: call for key, call in self.calls.items() if key[0] not in traces}
        self.traces = {trace_id: trace for trace_id, trace in self.traces.items() if trace_id not in traces}
        self.runs = {run_id: run for run_id, run in self.runs.items() if run_id not in runs}

    def _write(self, delta: Delta) -> None:
        for key in delta.retold:
            self.calls.pop(key, None)
        for recorded in delta.calls:
            self.calls[recorded.call.trace_id, recorded.call.span_id] = recorded
        for named in delta.named_agents:
            for key, recorded in self.calls.items():
                if key[0] == named.trace_id and not recorded.call.agent and recorded.call.end_ns >= named.first_end_ns:
                    self.calls[key] = replace(recorded, call=recorded.call._replace(agent=named.agent))
        self.traces |= {trace.trace_id: trace for trace in delta.traces}
        self.runs |= {run.run_id: run for run in delta.runs}

    def _traces_of(self, run_ids: set[str]) -> set[str]:
        return {trace.trace_id for trace in self.traces.values() if trace.run_id in run_ids}

    def _conversation(self, service: str, conversation_id: str) -> list[StoredRun]:
        named = {trace.run_id for trace in self.traces.values() if trace.decided_by == "conversation"}
        runs = [run for run in self.runs.values() if (run.service, run.conversation_id) == (service, conversation_id)]
        return [(run.run_id, run.started_ns, run.last_ns) for run in runs if run.run_id in named]
