"""Folding: what each call means for its run, in the run's order; a run is taken back a little for what was told late."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from otel_processor.detection.evidence import make_call
from otel_processor.model import Pattern, Reading, Role, Told
from otel_processor.runs.entry import Entry, Key, lacks_result
from otel_processor.runs.hearing import Hearing
from otel_processor.runs.histories import Histories
from otel_processor.runs.memory import Checkpoint, Memory, RunMemory
from otel_processor.runs.records import Delta, RecordedCall, Resolution
from otel_processor.runs.tellings import filled_with
from otel_processor.runs.twins import Paired, both

_TAIL = 32
"""Calls at the end of a run that can be folded again: a result that another span tells is told soon."""


Price = Callable[[Reading, int], float | None]
"""(model call, nanoseconds when it began) → US dollars, or None where nobody knows."""


class Folding:
    """Folds calls into their runs; owned by the ledger."""

    def __init__(self, memory: Memory, histories: Histories, price: Price | None = None) -> None:
        self._memory = memory
        self._histories = histories
        self._price = price

    def begin(self, trace_ids: Iterable[str], delta: Delta) -> None:
        """Let what is known by now of the runs of these traces hold for all of their calls; those counted otherwise are stale."""
        for trace_id in trace_ids:
            trace = self._memory.find(trace_id)
            for run_id in trace.run_ids if trace is not None else ():
                run = self._memory.run(run_id)
                if not run.go_by(self._memory.policies) or not run.lent_rightly(self._memory.has_agent):
                    delta.stale_traces |= run.trace_ids | {trace_id}

    def fold(self, entries: Iterable[Entry], told_in: Iterable[str], delta: Delta) -> None:
        """Fold entries, sorted by order, and what plain spans told in these runs."""
        by_run: dict[str, list[Entry]] = {}
        for entry in entries:
            trace_id = entry.item.span.trace_id
            trace = self._memory.find(trace_id)
            if trace is None or trace_id in delta.stale_traces:
                continue
            if trace.run_id is None:
                trace.keep(entry)
                continue
            declared = trace.tree.declared_run_of(entry.node)
            entry.declared = declared if declared != trace.run_id else None
            run_id = entry.declared or trace.run_id
            if entry.declared is not None:
                trace.run_ids.add(run_id)
                self._memory.run(run_id).trace_ids.add(trace_id)
            by_run.setdefault(run_id, []).append(entry)
        for run_id in {**by_run, **dict.fromkeys(told_in)}:
            run = self._memory.run(run_id)
            new = by_run.get(run_id, [])
            if run.tracker.state.history is None:
                run.tracker.state.history = self._histories.of(run.facts.task, run.facts.started_ns, run.tracker.state.policy)
            if not self._fold_run(run, new, delta):
                delta.stale_traces |= run.trace_ids.union(entry.item.span.trace_id for entry in new)
            self._memory.weigh(run)

    def _fold_run(self, run: RunMemory, new: Sequence[Entry], delta: Delta) -> bool:
        """Fold a run's new entries; return False where that can only be done anew."""
        fresh, run.fresh = run.fresh, []
        paired = run.twins.pair(new)
        if paired is None or (paired.rest and paired.rest[0].item.order < run.last_order and not paired.instead):
            return False
        new = paired.rest
        late = run.tellings.bring(fresh, new)
        if late is None:
            return False
        is_late = late or paired.more or paired.instead
        heard = None if is_late else _listen(run, new)
        if heard is not None:
            return self._observe_all(run, new, heard, {}, delta)
        open_before = run.tracker.open_alerts
        again = run.take_back()
        if not {*late, *paired.more, *paired.instead} <= {entry.key for entry in again}:
            return False
        if new and new[0].item.order < min(run.last_order, again[0].item.order if again else run.last_order):
            return False
        known = {entry.key: entry.recorded for entry in again}
        entries = sorted([*_retold(again, late, paired, delta), *new], key=lambda entry: entry.item.order)
        heard = _listen(run, entries)
        if heard is None or not self._observe_all(run, entries, heard, known, delta):
            return False
        _close(run, open_before, delta)
        return True

    def _observe_all(
        self, run: RunMemory, entries: Sequence[Entry], heard: _Heard, known: Mapping[Key, RecordedCall | None], delta: Delta
    ) -> bool:
        stays = not known and run.checkpoint is not None and len(run.tail) + len(entries) <= _TAIL
        if not stays:
            run.checkpoint, run.tail = None, []
        may_change = not stays and any(entry.lacks_result or run.awaits_twin(entry) for entry in entries[heard.position :])
        place = heard.position if may_change else None
        for position, entry in enumerate(entries):
            if position == place and heard.before is not None:
                run.checkpoint = Checkpoint(run.tracker.copy(), heard.before)
            if entry.is_call and not self._observe(run, entry, known, delta):
                return False
            run.last_order = max(run.last_order, entry.item.order)
            if run.checkpoint is not None:
                run.tail.append(entry.lean())
        return True

    def _observe(self, run: RunMemory, entry: Entry, known: Mapping[Key, RecordedCall | None], delta: Delta) -> bool:
        item = entry.heard or entry.item
        span = item.span
        trace = self._memory.find(span.trace_id)
        if trace is None:
            return False
        agent = item.reading.agent or trace.tree.agent_of(entry.node) or ""
        if not agent:
            trace.tree.note_unnamed(entry.node, run.tracker.run_id)
            if not trace.has_agent:
                agent = run.lend_agent(span.trace_id)
        call = make_call(
            item.reading,
            trace_id=span.trace_id,
            span_id=span.span_id,
            agent=agent,
            start_ns=span.start_ns,
            end_ns=span.end_ns,
            policy=run.tracker.state.policy,
            signature=item.kept.signature if item.kept else None,
            evidence=item.kept.evidence if item.kept else None,
            result_was_cut=item.result_was_cut,
        )
        if entry.tries is not None:
            call = entry.tries.of(call)
        if call.kind is Role.MODEL and self._price is not None and run.tracker.state.counts_cost:
            call = call._replace(cost_usd=self._price(call.reading, call.start_ns))
        outcome, opened, resolved = run.tracker.observe(call, task=run.facts.task)
        was_altered = item.kept is not None and not item.kept.is_told
        entry.recorded = RecordedCall(call, outcome, entry.declared, was_altered, item.content)
        run.tellings.note(entry)
        if entry.key not in known:
            delta.calls.append(entry.recorded)
        elif entry.recorded != known[entry.key]:
            delta.calls.append(entry.recorded)
            delta.retold[entry.key] = span.end_ns
        delta.alerts.extend(opened)
        delta.resolutions.extend(
            Resolution(alert.run_id, alert.verdict.pattern, alert.resolved_ns or span.end_ns) for alert in resolved
        )
        return True


class _Heard(NamedTuple):
    """What listening to a run's entries left to fold them again by."""

    position: int
    """Of the first of the last entries that came without a result; behind all where there is none."""
    before: Hearing | None
    """What had been heard before that one."""


def _listen(run: RunMemory, entries: Sequence[Entry]) -> _Heard | None:
    """Listen to the entries in their order; None where they tell of calls that are folded and not among them."""
    at_hand: dict[Key, Entry] = {}
    heard = _Heard(len(entries), None)
    for position, entry in enumerate(entries):
        may_change = heard.before is None and position >= len(entries) - _TAIL
        if may_change and (lacks_result(entry.item) or run.awaits_twin(entry)):
            heard = _Heard(position, run.hearing.copy())
        if run.hearing.listen(entry, at_hand):
            return None
    return heard


def _retold(again: Iterable[Entry], late: Mapping[Key, Iterable[Told]], paired: Paired, delta: Delta) -> Iterator[Entry]:
    """Yield calls that are folded again, with what is told of them now; a span that came is in its record's place."""
    for entry in again:
        if (span := paired.instead.get(entry.key)) is not None:
            span.item = both(span.item, entry.item)
            delta.retold[entry.key] = entry.item.span.end_ns
            continue
        if (record := paired.more.get(entry.key)) is not None:
            entry.item, entry.has_twin = both(entry.item, record), True
        entry.item = filled_with(entry.item, late.get(entry.key, ()))
        yield entry


def _close(run: RunMemory, open_before: Iterable[Pattern], delta: Delta) -> None:
    """Resolve what was told before and has no ground any more: an alert is never withdrawn."""
    run_id = run.tracker.run_id
    told = {resolution.pattern for resolution in delta.resolutions if resolution.run_id == run_id}
    over = set(open_before).difference(run.tracker.open_alerts, told)
    delta.resolutions.extend(Resolution(run_id, pattern, run.last_order[0]) for pattern in sorted(over))
