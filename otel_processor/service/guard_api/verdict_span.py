"""How a guarded run ended, as one span: so that runs whose agents send no spans have a row, and the others their stop reason."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from otel_processor.dialects import names
from otel_processor.model import SpanRecord, StopReason
from otel_processor.runs.run_facts import GUARD_SERVICE
from otel_processor.version import package_version

if TYPE_CHECKING:
    from otel_processor.service.guard_api.hosted_guard import HostedGuard


def verdict_span(guard: HostedGuard) -> SpanRecord | None:
    """Return the span of a run that is over or was stopped, or None where the agent's own spans say all there is to say.

    In the trace of an agent that named one it is no call and no agent, and only says why the run was ended and
    which loop was seen first. Else it is the
    root of a trace of its own, of the agent, with what the run spent.
    """
    report = guard.report()
    is_root = guard.parent_span_id is None
    if not is_root and report.stop_reason is StopReason.COMPLETED and report.flagged_reason is None:
        return None
    began_ns, last_ns = guard.times_ns
    said: dict[str, Any] = {names.LOOP_TASK: guard.task, names.LOOP_TASK_TYPE: guard.task_type}
    if guard.run_id != guard.trace_id:
        said[names.LOOP_RUN_ID] = guard.run_id
    if report.stop_reason is not StopReason.COMPLETED:
        said[names.LOOP_STOP_REASON_DECLARED] = str(report.stop_reason)
    if report.flagged_reason is not None:
        said[names.LOOP_FLAGGED_REASON_DECLARED] = str(report.flagged_reason)
    if is_root:
        said |= {
            names.OPERATION: "invoke_agent",
            names.AGENT_NAME: guard.agent or guard.task or "agent",
            names.INPUT_TOKENS: report.input_tokens,
            names.OUTPUT_TOKENS: report.output_tokens,
            names.USAGE_COST: report.cost_usd,
        }
    return SpanRecord(
        trace_id=guard.trace_id,
        span_id=uuid.uuid4().hex[:16],
        parent_span_id=guard.parent_span_id,
        name="run under guard",
        kind="INTERNAL",
        start_ns=began_ns,
        end_ns=max(last_ns, began_ns),
        status="UNSET",
        status_message="",
        service=GUARD_SERVICE,
        scope=GUARD_SERVICE,
        scope_version=package_version(),
        attributes={name: value for name, value in said.items() if value is not None},
        events=(),
        resource={"service.name": GUARD_SERVICE},
        links=(),
    )
