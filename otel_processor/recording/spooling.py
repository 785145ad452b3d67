"""Batches as they wait in the spool: the rows of `spans`, what altered calls were compared by, and alerts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from otel_processor.alerts.plan import DeliveryPlan
from otel_processor.model import Action, Alert, Pattern, StopReason, Verdict
from otel_processor.policy import Policy
from otel_processor.recording.delta_rows import alert_columns
from otel_processor.recording.preparing import Batch, batch_of_columns, evidence_text, kept_evidence
from otel_processor.store import spool
from otel_processor.store.columns import DELIVERIES, SPANS, Columns

_NEEDED = {"trace_id": str, "span_id": str, "start_unix_nano": int, "end_unix_nano": int}


def spooled_columns(batch: Batch, plan: DeliveryPlan | None = None) -> dict[str, Columns]:
    """Return what of a batch goes to the spool, as named column sets.

    Args:
        batch: the spans, and alerts told ahead of theirs.
        plan: who is to be told of its alerts, whoever writes them; None: that is up to the one who does.
    """
    kept: Columns = {"trace_id": [], "span_id": [], "signature": [], "evidence": []}
    for read in batch.reads:
        if read.kept is not None:
            kept["trace_id"].append(read.span.trace_id)
            kept["span_id"].append(read.span.span_id)
            kept["signature"].append(read.kept.signature)
            kept["evidence"].append(evidence_text(read.kept.evidence))
    waiting = {"spans": batch.columns, "kept": kept, "alerts": alert_columns(batch.alerts), "sent": batch.sent}
    return waiting if plan is None else waiting | {"plan": plan.as_row()}


def load_spooled(path: Path, policy: Policy) -> Batch | None:
    """Return a batch that waits in the spool, or None when it is gone or makes no sense and is put aside.

    Raises:
        MemoryError: there is too little memory for it now.
        OSError: it cannot be read now.
    """
    waiting = spool.load(path)
    if waiting is None:
        return None
    try:
        return batch_of_spooled(waiting, policy)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - anything may be wrong with what somebody else wrote
        spool.put_aside(path)
        return None


def spooled_sent(rows: Columns) -> dict[str, Columns]:
    """Return rows of messages that were sent while the database could not be reached, as they go to the spool."""
    return {"sent": rows}


def batch_of_spooled(waiting: dict[str, Any], policy: Policy) -> Batch:
    """Return the batch that was spooled; columns added since then are empty.

    Raises:
        ValueError: it lacks what every span has. Whatever else is wrong with it raises something.
    """
    spans = waiting.get("spans") or {}
    size = len(spans.get("trace_id", ()))
    columns = {name: spans.get(name) or [None] * size for name in SPANS.given}
    for name, kind in _NEEDED.items():
        if not all(isinstance(value, kind) for value in columns[name]):
            raise ValueError(f"a spooled span has no {name}")
    kept = waiting.get("kept") or {}
    evidence = {
        (trace_id, span_id): kept_evidence(signature, text)
        for trace_id, span_id, signature, text in zip(
            *(kept.get(name, ()) for name in ("trace_id", "span_id", "signature", "evidence")), strict=True
        )
    }
    batch = batch_of_columns(columns, policy, evidence)
    batch.alerts = _alerts(waiting.get("alerts") or {})
    if waiting.get("plan") is not None:
        plan = DeliveryPlan.of_row(waiting["plan"])
        batch.plans = dict.fromkeys([*columns["trace_id"], *(alert.trace_id for alert in batch.alerts)], plan)
    sent = waiting.get("sent") or {}
    batch.sent = {name: list(sent.get(name) or [None] * len(sent.get("sink", ()))) for name in DELIVERIES.given}
    return batch


def _alerts(columns: Columns) -> list[Alert]:
    names = list(columns)
    rows = [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return [
        Alert(
            alert_id=row["alert_id"],
            run_id=row["run_id"],
            trace_id=row["trace_id"],
            span_id=row["span_id"],
            at_ns=row["at_ns"],
            task=row["task"],
            agent=row["agent"],
            tool=row["tool"],
            resolved_ns=row["resolved_ns"],
            verdict=Verdict(
                pattern=Pattern(row["pattern"]),
                action=Action(row["action"]),
                stop_reason=StopReason(row["stop_reason"]) if row["stop_reason"] else None,
                severity=row["severity"],
                message=row["message"],
                evidence=orjson.loads(row["evidence"]),
            ),
        )
        for row in rows
    ]
