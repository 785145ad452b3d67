"""One call that several spans tell: put together what each of them says."""

from __future__ import annotations

from dataclasses import replace

from otel_processor.model import Reading, Role
from otel_processor.runs.entry import Entry
from otel_processor.runs.records import KeptEvidence, ReadSpan

_MERGED_FIELDS = (
    "agent", "conversation_id", "call_id", "arguments", "result", "error_type", "error_message", "model", "provider",
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens", "reasoning_tokens",
    "service_tier", "cost_usd", "finish_reason", "text", "reasoning", "run_id", "task", "task_type", "progress_declared",
    "withheld",
)  # fmt: skip


def join_placed(pending: list[Entry], trace_id: str, span_ids: tuple[str, str]) -> bool:
    """Make one of two calls that tell the same, the first that was placed; False where one of them stands for others."""
    found = [at for at, each in enumerate(pending) if each.node.span_id in span_ids and each.item.span.trace_id == trace_id]
    if len(found) < 2:
        return True
    first, second = pending[found[0]], pending.pop(found[1])
    second.node.told_by = first.node.span_id
    first.item = told_together(first.item, second.item)
    return True


def told_together(first: ReadSpan, second: ReadSpan) -> ReadSpan:
    """Return the first of two spans that tell the same call with what only the second says, and what that was compared by."""
    told_by = first if first.reading.result is not None else second
    arguments_by = first if first.reading.arguments is not None else second
    kept = first.kept
    if kept is not None or second.kept is not None:
        signature = kept.signature if kept is not None else None
        evidence = kept.evidence if kept is not None else None
        if signature is None and arguments_by.kept is not None:
            signature = arguments_by.kept.signature
        if evidence is None and told_by.kept is not None:
            evidence = told_by.kept.evidence
        kept = KeptEvidence(signature, evidence)
    reading = _merged(first.reading, second.reading)
    # What a model is told stands in its messages, on either span.
    others = (*first.others, second) if reading.role is Role.MODEL else ()
    return replace(first, reading=reading, kept=kept, result_was_cut=told_by.result_was_cut, others=others)


def _merged(first: Reading, second: Reading) -> Reading:
    """Return the first reading with what only the second says of the same call."""
    missing = {
        name: value for name in _MERGED_FIELDS if getattr(first, name) is None and (value := getattr(second, name)) is not None
    }
    return replace(
        first,
        **missing,
        is_error=first.is_error or second.is_error,
        requested=first.requested or second.requested,
        dialect=first.dialect or second.dialect,
    )
