"""Each type of task has thresholds of its own: in tags, in alerts, in rows, and before the agent's own span has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import baggage, context
from opentelemetry.sdk.trace import TracerProvider

from otel_processor import instrument
from otel_processor.policy import Policy
from tests.integration.agents import agent, call_tool
from tests.integration.stored import rows, value

if TYPE_CHECKING:
    from pathlib import Path

    from opentelemetry.trace import Tracer

LOOSE = {"hard_loop_repeats": 50, "no_progress_alert_steps": 50, "no_progress_stop_steps": 50, "soft_loop_repeats": 50}
POLICY = Policy(task_types={"research": LOOSE})
TAGS = "select count(*) from spans where attributes ->> '$.\"loop.pattern\"' is not null"


def search(tracer: Tracer, **more: Any) -> None:
    for _ in range(4):
        call_tool(tracer, "search", {"q": "cats"}, "nothing", **more)


@pytest.mark.parametrize("way", ["on the agent", "in baggage"])
def test_a_patient_type_of_task_is_not_told_of_what_others_are(db: Path, way: str) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    installed = instrument(db, policy=POLICY, tracer_provider=provider)
    tracer = provider.get_tracer("agent")
    token = context.attach(baggage.set_baggage("loop.task.type", "research")) if way == "in baggage" else None
    with agent(tracer, "reader", more={"loop.task.type": "research"} if token is None else None):
        search(tracer)
        # Stored while the agent's span is open.
        assert installed.force_flush()
        assert value(db, "select count(*) from alerts") == 0
        assert value(db, "select policy_hash from runs") == POLICY.for_task_type("research").hash
    if token is not None:
        context.detach(token)
    with agent(tracer, "other"):
        search(tracer)
    assert installed.force_flush()
    provider.shutdown()
    assert value(db, TAGS) == 2
    assert rows(db, "select task, task_type, flagged_reason, policy_hash from runs order by started_at") == [
        ("reader", "research", None, POLICY.for_task_type("research").hash),
        ("other", None, "loop_detected:repeated_tool_signature", POLICY.hash),
    ]
    assert {task for (task,) in rows(db, "select task from alerts")} == {"other"}
