"""Messages and processes: the agent's own work, several writers, one that is killed, a fork."""

from __future__ import annotations

import logging
import os
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from otel_processor import AlertSettings, DuckDBSpanExporter, LoopGuard, instrument
from otel_processor.delivery.claiming import LEASE_NS
from otel_processor.errors import ConfigError
from tests.integration import processes
from tests.integration.agents import agent, call_tool, loop, trace_id
from tests.integration.alert_receiver import AlertReceiver, alert_receiver
from tests.integration.delivering import Clock, alert, sender, states
from tests.integration.records import SECOND
from tests.integration.stored import eventually, rows, value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

    from otel_processor.model import Alert


@pytest.fixture
def receiver() -> Iterator[AlertReceiver]:
    """A webhook's receiver."""
    with alert_receiver() as received:
        yield received


def test_an_agent_tells_of_its_loop_and_of_the_end(provider: TracerProvider, db: Path, receiver: AlertReceiver) -> None:
    seen: list[Alert] = []
    settings = AlertSettings(webhook=receiver.url, urls=(f"json://127.0.0.1:{receiver.port}/chat/",))
    installed = instrument(db, tracer_provider=provider, alerts=settings, on_alert=seen.append)
    tracer = provider.get_tracer("agent")
    with agent(tracer, "looper") as root:
        for _ in range(3):
            call_tool(tracer, "search", {"q": 1}, "none")
        eventually(lambda: len(receiver.messages) >= 2, seconds=20, what="both messages")
        run = trace_id(root)
    installed.shutdown()
    hook = [message.json for message in receiver.messages if message.path == "/hook"]
    chat = [message.json["title"] for message in receiver.messages if message.path == "/chat/"]
    assert [(body["kind"], body["run"]["id"]) for body in hook] == [("alert", run), ("recovery", run)]
    assert hook[1]["resolved"]["by"] == "run_ended"
    assert chat == ["critical: hard_loop in looper", "Over: hard_loop in looper"]
    assert [str(told.verdict.pattern) for told in seen] == ["hard_loop"]
    assert value(db, "select count(*) from deliveries where state <> 'sent'") == 0


def test_a_receiver_that_hangs_holds_up_no_agent(provider: TracerProvider, db: Path, receiver: AlertReceiver) -> None:
    """Spans end, and a flush comes back, while the message is still without an answer."""
    receiver.hangs = threading.Event()
    installed = instrument(db, tracer_provider=provider, alerts=AlertSettings(webhook=receiver.url))
    loop(provider.get_tracer("agent"), 5)
    eventually(lambda: receiver.messages, seconds=20, what="the message")
    loop(provider.get_tracer("agent"), 5)
    assert installed.force_flush()
    assert value(db, "select count(*) from calls") == 10
    assert not receiver.hangs.is_set()
    assert rows(db, "select distinct state from deliveries where state = 'sent'") == []
    receiver.hangs.set()
    installed.shutdown()


def test_a_callback_that_fails_keeps_nobody_from_being_told(provider: TracerProvider, db: Path, receiver: AlertReceiver) -> None:
    def broken(_: Alert) -> None:
        raise RuntimeError("a bug of the callback's")

    installed = instrument(db, tracer_provider=provider, alerts=AlertSettings(webhook=receiver.url), on_alert=broken)
    loop(provider.get_tracer("agent"), 3)
    installed.shutdown()
    assert "alert" in receiver.kinds


def test_the_exporter_alone_delivers_what_the_environment_says(
    provider: TracerProvider, db: Path, receiver: AlertReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `OTEL_TRACES_EXPORTER=duckdb` sets it up: no live processor, the alert is found with the rows."""
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    monkeypatch.setenv("OTEL_PROCESSOR_ALERT_WEBHOOK", receiver.url)
    monkeypatch.setenv("OTEL_PROCESSOR_ALERT_WEBHOOK_SECRET", "key")
    provider.add_span_processor(SimpleSpanProcessor(DuckDBSpanExporter(db)))
    loop(provider.get_tracer("agent"), 4)
    provider.shutdown()
    assert receiver.kinds.count("alert") == value(db, "select count(*) from alerts") > 0
    assert receiver.messages[0].headers["X-Otel-Processor-Signature"].startswith("v1=")


def test_a_guard_alone_is_stored_and_delivered_and_its_end_too(
    provider: TracerProvider, db: Path, receiver: AlertReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    installed = instrument(db, tracer_provider=provider, alerts=AlertSettings(webhook=receiver.url))
    with caplog.at_level(logging.WARNING, "otel_processor.alerts"), LoopGuard(task="by-hand", run_id="run-by-hand") as guard:
        for _ in range(3):
            guard.on_step()
            guard.before_tool("search", {"q": 1})
            guard.after_tool("none")
        eventually(lambda: receiver.messages, seconds=20, what="the message")
    installed.shutdown()
    assert rows(db, "select run_id, task, pattern, resolved_at is not null from alerts") == [
        ("run-by-hand", "by-hand", "hard_loop", True)
    ]
    assert receiver.kinds == ["alert", "recovery"]
    assert len([record for record in caplog.records if record.name == "otel_processor.alerts"]) == 1


def test_a_guard_beside_the_spans_of_its_run_tells_nothing_twice(
    provider: TracerProvider, db: Path, receiver: AlertReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    installed = instrument(db, tracer_provider=provider, alerts=AlertSettings(webhook=receiver.url, cooldown_seconds=0))
    tracer = provider.get_tracer("agent")
    with caplog.at_level(logging.WARNING, "otel_processor.alerts"), agent(tracer, "looper"), LoopGuard() as guard:
        for _ in range(3):
            guard.before_tool("search", {"q": 1})
            call_tool(tracer, "search", {"q": 1}, "none")
            guard.after_tool("none")
    installed.shutdown()
    assert rows(db, "select pattern, count(*) from alerts group by all") == [("hard_loop", 1)]
    assert receiver.kinds in (["alert"], ["alert", "recovery"])
    assert len([record for record in caplog.records if record.name == "otel_processor.alerts"]) == 1


def test_a_guard_with_a_callback_of_its_own_tells_that_and_nobody_else(
    provider: TracerProvider, db: Path, receiver: AlertReceiver
) -> None:
    installed = instrument(db, tracer_provider=provider, alerts=AlertSettings(webhook=receiver.url))
    seen: list[Alert] = []
    with LoopGuard(on_alert=seen.append) as guard:
        for _ in range(3):
            guard.before_tool("search", {"q": 1})
            guard.after_tool("none")
    installed.shutdown()
    assert len(seen) == 1
    assert receiver.messages == []


def test_two_processes_on_one_database_send_once(db: Path, receiver: AlertReceiver) -> None:
    """Four agents at a time, each of which sees what the others wrote; every alert is told once."""
    code = """
from otel_processor import instrument
installed = instrument(sys.argv[1])
tracer = trace.get_tracer("agent")
for number in range(6):
    with agent(tracer, f"agent-{sys.argv[2]}-{number}"):
        for _ in range(3):
            call_tool(tracer, "search", {"q": number}, "none")
    time.sleep(0.05)
installed.shutdown()
"""
    env = {"OTEL_PROCESSOR_ALERT_WEBHOOK": receiver.url, "OTEL_PROCESSOR_ALERT_PER_MINUTE": "1000"}
    agents = [processes.start(code, db, number, env=env) for number in range(4)]
    for one in agents:
        processes.finish(one)
    processes.run(code, db, "last", env=env)
    told = [(message.json["kind"], message.json["alert"]["id"]) for message in receiver.messages]
    assert len(told) == len(set(told))
    assert {alert_id for kind, alert_id in told if kind == "alert"} == {row[0] for row in rows(db, "select alert_id from alerts")}
    assert len({alert_id for _, alert_id in told}) == 30
    assert rows(db, "select distinct state from deliveries") == [("sent",)]


_KILLED = """
from otel_processor import instrument
installed = instrument(sys.argv[1])
tracer = trace.get_tracer("agent")
with agent(tracer, "victim"):
    for _ in range(3):
        call_tool(tracer, "search", {"q": 1}, "none")
    print("looped", flush=True)
    time.sleep(60)
"""


def test_what_a_killed_process_had_claimed_is_sent_by_another(db: Path) -> None:
    """It is killed between its claim and an answer; when the claim is over, and not before, somebody else sends it."""
    with alert_receiver() as dead_end:
        dead_end.hangs = threading.Event()
        victim = processes.start(_KILLED, db, env={"OTEL_PROCESSOR_ALERT_WEBHOOK": dead_end.url})
        try:
            eventually(lambda: dead_end.messages, seconds=40, what="a message on its way")
            assert value(db, "select state from deliveries") == "sending"
        finally:
            victim.send_signal(signal.SIGKILL)
            victim.communicate()
        lease_us, url = value(db, "select epoch_us(lease_until) from deliveries"), dead_end.url
        dead_end.hangs.set()
        dead_end.hangs = None
        before = len(dead_end.messages)
        clock = Clock(lease_us * 1_000 - SECOND)
        heir = sender(db, clock, url)
        heir.look()
        assert len(dead_end.messages) == before
        clock.forward(2)
        heir.look()
        assert len(dead_end.messages) == before + 1
        assert dead_end.messages[-1].json["id"] == dead_end.messages[0].json["id"]
        heir.look()
        assert len(dead_end.messages) == before + 1
    assert value(db, "select count(*) from deliveries where state = 'sent' and kind = 'alert'") == 1


def test_what_a_process_wrote_and_did_not_come_to_claim_is_sent_by_another(db: Path, receiver: AlertReceiver) -> None:
    clock = Clock()
    one, other = sender(db, clock, receiver.url), sender(db, clock, receiver.url)
    one.tell(alert())
    other.look()
    assert receiver.messages == []
    clock.forward(11)
    other.look()
    assert receiver.kinds == ["alert"]
    one.look()
    assert receiver.kinds == ["alert"]
    assert LEASE_NS > 30 * SECOND


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_sends_its_own_and_not_its_parents(db: Path, receiver: AlertReceiver) -> None:
    out, errors = processes.run(
        """
from otel_processor import instrument
installed = instrument(sys.argv[1])
tracer = trace.get_tracer("agent")
def work(name):
    with agent(tracer, name):
        for _ in range(3):
            call_tool(tracer, "search", {"q": name}, "none")
work("parent")
installed.force_flush()
child = os.fork()
work("child" if child == 0 else "parent-again")
installed.tracer_provider.shutdown()
if child == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""",
        db,
        env={"OTEL_PROCESSOR_ALERT_WEBHOOK": receiver.url},
    )
    assert out.strip() == "0", errors
    told = sorted((message.json["kind"], message.json["run"]["task"]) for message in receiver.messages)
    assert [task for kind, task in told if kind == "alert"] == ["child", "parent", "parent-again"]
    assert len(told) == len(set(told))
    assert {state for *_, state, _ in states(db)} == {"sent"}


def test_settings_that_cannot_be_used_are_refused_at_once(
    provider: TracerProvider, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="alerts= needs db="):
        instrument(None, "http://127.0.0.1:4318", alerts=AlertSettings(webhook="http://h.example/"), tracer_provider=provider)
    with pytest.raises(ConfigError, match="alerts is a str"):
        instrument(db, alerts="http://h.example/", tracer_provider=provider)  # type: ignore[arg-type]
    monkeypatch.setenv("OTEL_PROCESSOR_ALERT_URLS", "nonsense://hush")
    with pytest.raises(ConfigError, match="OTEL_PROCESSOR_ALERT_URLS") as refused:
        instrument(db, tracer_provider=provider)
    assert "hush" not in str(refused.value)


def test_without_sinks_nothing_is_ordered_and_no_thread_begins(provider: TracerProvider, db: Path) -> None:
    before = set(threading.enumerate())
    installed = instrument(db, tracer_provider=provider)
    loop(provider.get_tracer("agent"), 4)
    assert installed.force_flush()
    assert value(db, "select count(*) from deliveries") == 0
    assert "otel-processor-delivery" not in {thread.name for thread in set(threading.enumerate()) - before}
    installed.shutdown()


def test_a_process_that_ends_while_the_file_is_held_says_what_it_sent(db: Path, receiver: AlertReceiver) -> None:
    """It leaves word in the spool: nobody sends again what it sent and could not note any more."""
    clock = Clock()
    one = sender(db, clock, receiver.url)
    one.tell(alert())
    receiver.hangs = threading.Event()
    one.dispatcher.poke()
    eventually(lambda: receiver.messages, seconds=20, what="a message on its way")
    with processes.held(db):
        receiver.hangs.set()
        one.dispatcher.close(2)
    assert value(db, "select state from deliveries") == "sending"
    clock.forward(LEASE_NS / SECOND + 1)
    heir = sender(db, clock, receiver.url)
    assert heir.recorder.fold_spool(timeout_seconds=5)
    heir.look()
    assert states(db) == [("alert", "run-1", "hard_loop", "sent", 1)]
    assert receiver.kinds == ["alert"]
