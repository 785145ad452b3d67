"""What a run's agents say that they used altogether: it counts where no model call says it, and is compared where they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from otel_processor.model import Call, CallOutcome, Reading, Role
from otel_processor.runs.entry import Key
from otel_processor.runs.records import RecordedCall
from otel_processor.runs.run_facts import Glimpse
from otel_processor.runs.trace_tree import TraceTree

_TOTALS = 1_000
"""Agents that lie in no other one with totals of its own, as far as they are remembered."""

_FIELDS = ("model", "provider", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")

TreeOf = Callable[[str], TraceTree | None]


@dataclass(slots=True)
class Totals:
    """The totals of a run's outermost agents; owned by the ledger."""

    has_model: bool = False
    """A model call was recorded, whatever it says."""
    _agents: dict[Key, Glimpse] = field(default_factory=dict)

    def add(self, trace_id: str, seen: Glimpse) -> None:
        """Take in what one span of the run says."""
        reading = seen.reading
        if reading.role is Role.MODEL:
            self.has_model = True
        elif reading.role.is_task_root and _used_any(reading) and len(self._agents) < _TOTALS:
            self._agents[trace_id, seen.node.span_id] = seen

    def outermost(self, tree_of: TreeOf) -> dict[Key, Glimpse]:
        """Return the agents whose totals are in no other's: an agent's includes those of its sub-agents."""
        for key in [key for key, seen in self._agents.items() if self._is_inside(key[0], seen, tree_of)]:
            del self._agents[key]
        return self._agents

    def _is_inside(self, trace_id: str, seen: Glimpse, tree_of: TreeOf) -> bool:
        tree = tree_of(trace_id)
        return tree is not None and any((trace_id, above.span_id) in self._agents for above in tree.ancestors(seen.node))


def summed(agents: dict[Key, Glimpse]) -> dict[str, float | int | None]:
    """Return the sums of what these used; None where none of them says it."""
    sums: dict[str, float | int | None] = {}
    for name in ("input_tokens", "output_tokens", "cost_usd"):
        told = [value for seen in agents.values() if (value := getattr(seen.reading, name)) is not None]
        sums[name] = sum(told) if told else None
    return sums


def stand_in(key: Key, seen: Glimpse, agent: str, declared: str | None) -> RecordedCall:
    """Return the row that stands for all model calls of an agent that recorded none of them: of step 0, which is no step."""
    reading = seen.reading
    used = {name: value for name in _FIELDS if (value := getattr(reading, name)) is not None}
    call = Call(
        trace_id=key[0],
        span_id=key[1],
        kind=Role.MODEL,
        agent=agent,
        start_ns=seen.start_ns,
        end_ns=seen.end_ns,
        reading=Reading(role=Role.MODEL, dialect=reading.dialect, cost_usd=reading.cost_usd, **used),
    )
    outcome = CallOutcome(step=0, progress=None, repeats=None, flat_steps=0)
    return RecordedCall(call, outcome, declared, was_altered=False)


def _used_any(reading: Reading) -> bool:
    return bool(reading.input_tokens or reading.output_tokens or reading.cost_usd)
