"""What docs/alerts.md tells a receiver to do, done with a real message."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from otel_processor.alerts.notice import Kind, Notice
from otel_processor.alerts.webhook import Webhook
from tests.integration.alert_receiver import alert_receiver
from tests.integration.delivering import alert
from tests.unit.alerts.test_metrics import Measured

DOCS = (Path(__file__).parents[2] / "docs" / "alerts.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The code of one language."""
    return re.findall(rf"```{language}\n(.*?)```", DOCS, re.DOTALL)


def test_the_receivers_check_takes_ours_and_nothing_else() -> None:
    (code,) = blocks("python")
    names: dict[str, Any] = {}
    exec(code, names)
    with alert_receiver() as received:
        assert Webhook(received.url, "key").send(Notice(kind=Kind.TEST, notice_id="1", at_ns=0)).sent
        Webhook(received.url, "key", clock=lambda: 1_000_000_000.0).send(Notice(kind=Kind.TEST, notice_id="2", at_ns=0))
    fresh, old = received.messages
    assert names["is_ours"](fresh.headers, fresh.body, "key")
    assert not names["is_ours"](fresh.headers, fresh.body + b" ", "key")
    assert not names["is_ours"](fresh.headers, fresh.body, "another")
    assert not names["is_ours"](old.headers, old.body, "key")
    assert not names["is_ours"]({}, fresh.body, "key")


def test_the_example_has_the_keys_of_a_message() -> None:
    (text,) = blocks("json")
    shown = json.loads(text)
    notice = Notice(
        kind=Kind.ALERT,
        notice_id="1",
        at_ns=0,
        run_id="r",
        task="t",
        agent="a",
        alert_id="1",
        pattern="hard_loop",
        severity="critical",
        action="stop",
        stop_reason="x",
        message="m",
        steps=1,
        tokens=1,
        cost_usd=0.1,
        link="http://h",
    )
    made = notice.as_json()
    assert shown.keys() == made.keys()
    for part in ("alert", "run", "spent"):
        assert shown[part].keys() == made[part].keys()


def test_the_rule_for_prometheus_names_metrics_that_there_are() -> None:
    """As Prometheus writes them: dots become underscores, a counter ends with `_total`."""
    (rule,) = blocks("yaml")
    told = set(re.findall(r"otel_processor_[a-z_]+", rule))
    measured = Measured()
    measured.metrics.told(alert())
    measured.metrics.over("run-1", [])
    measured.metrics.tried("https://h.example#1", "gave_up")
    made = {f"{name}_total" if name != "otel_processor_alerts_open" else name for name in measured.names()}
    measured.provider.shutdown()
    assert told <= made
    assert len(told) == 2
