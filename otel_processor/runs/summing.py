"""Summing up: what is decided about each run that was touched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from otel_processor.runs.entry import Key
from otel_processor.runs.memory import Memory, RunMemory
from otel_processor.runs.records import Delta, RecordedCall, Resolution, RunSummary
from otel_processor.runs.run_facts import Glimpse
from otel_processor.runs.totals import stand_in, summed


class Summing:
    """Sums up runs; owned by the ledger."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def summarise(self, touched: Iterable[str], delta: Delta) -> None:
        """Say what is decided about the runs of these traces."""
        run_ids: dict[str, None] = {}
        for trace_id in touched:
            trace = self._memory.find(trace_id)
            if trace is not None and trace_id not in delta.stale_traces:
                run_ids |= dict.fromkeys(trace.run_ids)
        for run_id in run_ids:
            run = self._memory.find_run(run_id)
            if run is None or not run.is_worth_a_row:
                continue
            policy_hash = self._memory.policies.hash_of(run.facts.told("task_type"))
            summary = self._with_totals(run, run.facts.summary(run.tracker, policy_hash), delta)
            delta.runs.append(summary)
            if summary.ended_ns is not None:
                delta.resolutions.extend(
                    Resolution(run_id, alert.verdict.pattern, summary.ended_ns) for alert in run.tracker.finish(summary.ended_ns)
                )

    def _with_totals(self, run: RunMemory, summary: RunSummary, delta: Delta) -> RunSummary:
        """Add what agents say that they used, and rows that stand for model calls where none was recorded."""
        agents = run.totals.outermost(lambda trace_id: trace.tree if (trace := self._memory.find(trace_id)) else None)
        wanted = {} if run.totals.has_model else {key: self._stand_in(run, key, seen) for key, seen in agents.items()}
        for key, known in run.stand_ins.items():
            if wanted.get(key) != known:
                delta.retold[key] = known.call.end_ns
        delta.calls.extend(row for key, row in wanted.items() if run.stand_ins.get(key) != row)
        run.stand_ins = wanted
        sums = summed(agents)
        return replace(
            summary,
            root_input_tokens=_whole(sums["input_tokens"]),
            root_output_tokens=_whole(sums["output_tokens"]),
            root_cost_usd=sums["cost_usd"],
        )

    def _stand_in(self, run: RunMemory, key: Key, seen: Glimpse) -> RecordedCall:
        trace = self._memory.find(key[0])
        agent = seen.reading.agent or (trace.tree.agent_of(seen.node) if trace is not None else None) or ""
        run_id = run.tracker.run_id
        declared = run_id if trace is None or trace.run_id != run_id else None
        return stand_in(key, seen, agent, declared)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
