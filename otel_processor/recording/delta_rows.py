"""What the ledger decided, as rows of the store."""

from __future__ import annotations

from collections.abc import Iterable

from otel_processor.detection.fingerprint import result_text
from otel_processor.model import Alert, Role
from otel_processor.pricing import Pricer
from otel_processor.recording.bounds import MAX_VALUE_CHARS, json_text
from otel_processor.recording.preparing import evidence_text
from otel_processor.runs.records import RecordedCall, RunSummary, TraceRun
from otel_processor.store.columns import ALERTS, CALLS, RUNS, TRACE_RUNS, Columns

_MAX_TEXT_CHARS = 4_096
_MAX_INT = (1 << 63) - 1


def call_columns(calls: Iterable[RecordedCall], pricer: Pricer) -> Columns:
    """Return the rows of `call_rows`, each with what it cost as far as that is known."""
    rows = []
    for recorded in calls:
        call, outcome, reading = recorded.call, recorded.outcome, recorded.call.reading
        is_tool = call.kind is Role.TOOL
        # Here and nowhere before: two spans that tell one call are put together by now, and it has one price.
        cost = pricer.price(reading, call.start_ns)
        row = {
            "trace_id": call.trace_id,
            "span_id": call.span_id,
            "declared_run_id": recorded.declared_run_id,
            "step": outcome.step,
            "kind": call.kind,
            "agent": call.agent or None,
            "tool": short_name(reading.tool) if is_tool else None,
            "call_id": short_name(reading.call_id),
            "arguments": None if reading.arguments is None else json_text(reading.arguments)[:MAX_VALUE_CHARS],
            "result": None if reading.result is None else result_text(reading.result)[:MAX_VALUE_CHARS],
            "is_error": reading.is_error,
            "error_class": call.error_class,
            "error_message": short_name(reading.error_message or reading.error_type),
            "signature": call.signature,
            "fingerprint": call.evidence.fingerprint if call.evidence else None,
            "progress": outcome.progress,
            "repeats": outcome.repeats,
            "flat_steps": outcome.flat_steps,
            "effect": call.effect,
            "model": short_name(reading.model),
            "provider": short_name(reading.provider),
            "input_tokens": _integer(reading.input_tokens),
            "output_tokens": _integer(reading.output_tokens),
            "cache_read_tokens": _integer(reading.cache_read_tokens),
            "cache_write_tokens": _integer(reading.cache_write_tokens),
            "reasoning_tokens": _integer(reading.reasoning_tokens),
            "cost_usd": cost.usd if cost else None,
            "cost_source": cost.source if cost else None,
            "finish_reason": short_name(reading.finish_reason),
            "start_ns": _nanoseconds(call.start_ns),
            "end_unix_nano": _nanoseconds(call.end_ns),
            "dialect": reading.dialect or None,
            "evidence": evidence_text(call.evidence) if recorded.was_altered else None,
            "content": recorded.content,
        }
        rows.append(row)
    return {name: [row[name] for row in rows] for name in CALLS.given}


def run_columns(runs: Iterable[RunSummary]) -> Columns:
    """Return the rows of `run_rows`."""
    columns = RUNS.empty()
    for run in runs:
        row = {
            "run_id": run.run_id,
            "task": short_name(run.task),
            "task_type": short_name(run.task_type),
            "agent": short_name(run.agent),
            "service": run.service,
            "conversation_id": short_name(run.conversation_id),
            "started_ns": _nanoseconds(run.started_ns),
            "ended_ns": None if run.ended_ns is None else _nanoseconds(run.ended_ns),
            "last_ns": _nanoseconds(run.last_ns),
            "stop_reason": run.stop_reason,
            "flagged_reason": run.flagged_reason,
            "policy_hash": run.policy_hash,
            "status": run.status,
            "idle_reason": run.idle_reason,
            "root_input_tokens": _integer(run.root_input_tokens),
            "root_output_tokens": _integer(run.root_output_tokens),
            "root_cost_usd": run.root_cost_usd,
            "is_guarded": run.is_guarded,
        }
        for name, values in columns.items():
            values.append(row[name])
    return columns


def trace_columns(traces: Iterable[TraceRun]) -> Columns:
    """Return the rows of `trace_runs`."""
    columns = TRACE_RUNS.empty()
    for trace in traces:
        columns["trace_id"].append(trace.trace_id)
        columns["run_id"].append(trace.run_id)
        columns["decided_by"].append(trace.decided_by)
    return columns


def alert_columns(alerts: Iterable[Alert]) -> Columns:
    """Return the rows of `alerts`."""
    columns = ALERTS.empty()
    for alert in alerts:
        verdict = alert.verdict
        row = {
            "alert_id": alert.alert_id,
            "run_id": alert.run_id,
            "trace_id": alert.trace_id,
            "span_id": alert.span_id,
            "at_ns": _nanoseconds(alert.at_ns),
            "task": short_name(alert.task),
            "agent": short_name(alert.agent),
            "tool": short_name(alert.tool),
            "pattern": verdict.pattern,
            "severity": verdict.severity,
            "action": verdict.action,
            "stop_reason": verdict.stop_reason,
            "message": verdict.message[:_MAX_TEXT_CHARS],
            "evidence": json_text(verdict.evidence),
            "resolved_ns": None if alert.resolved_ns is None else _nanoseconds(alert.resolved_ns),
        }
        for name, values in columns.items():
            values.append(row[name])
    return columns


def short_name(text: str | None) -> str | None:
    """Return a name as it may be stored."""
    return None if text is None else text[:_MAX_TEXT_CHARS]


def _integer(value: int | None) -> int | None:
    return value if value is None or -_MAX_INT <= value <= _MAX_INT else None


def _nanoseconds(value: int) -> int:
    return min(max(value, 0), _MAX_INT)
