"""Messages: what is sent when, what waits, and what a restart remembers."""

from __future__ import annotations

import logging
import socket
from typing import TYPE_CHECKING

import pytest

from otel_processor.alerts.metrics import alert_metrics
from otel_processor.alerts.settings import AlertSettings
from otel_processor.alerts.sink import Outcome
from otel_processor.alerts.sinks import open_sinks
from otel_processor.delivery.dispatcher import Dispatcher
from otel_processor.delivery.pace import MOST_ATTEMPTS
from otel_processor.model import Action, Pattern
from otel_processor.policy import Policy
from otel_processor.recording.recorder import Recorder
from otel_processor.recording.replaying import Replay
from otel_processor.store import spool
from tests.integration import processes
from tests.integration.alert_receiver import AlertReceiver, alert_receiver
from tests.integration.delivering import Clock, alert, end_alerts, sender, states
from tests.integration.records import SECOND, START, record, tool_record
from tests.integration.stored import rows, value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from otel_processor.alerts.notice import Notice

MINUTE = 60


@pytest.fixture
def receiver() -> Iterator[AlertReceiver]:
    """A webhook's receiver."""
    with alert_receiver() as received:
        yield received


@pytest.fixture
def clock() -> Clock:
    """The time of all processes of a test."""
    return Clock()


def test_an_alert_is_sent_once_with_what_its_run_spent(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    one = sender(db, clock, receiver.url, dashboard_url="https://dash.example/base/")
    spans = [tool_record("search", {"q": 1}, "none", trace="b" * 32) for _ in range(5)]
    assert one.recorder.record(spans, timeout_seconds=5)
    one.look()
    one.look()
    assert receiver.kinds.count("alert") == len(receiver.messages) == value(db, "select count(*) from alerts")
    body = receiver.messages[0].json
    assert body["alert"]["pattern"] == "hard_loop"
    assert body["run"] == {"id": "b" * 32, "url": f"https://dash.example/base/run?run={'b' * 32}"}
    assert body["spent"] == {"steps": 5}
    assert {state for _, _, _, state, _ in states(db)} == {"sent"}
    ids = [message.json["id"] for message in receiver.messages]
    assert ids == [message.headers["X-Otel-Processor-Delivery"] for message in receiver.messages]
    assert sorted(ids) == sorted(row[0] for row in rows(db, "select delivery_id from deliveries"))


def test_a_refused_message_is_tried_again_later_and_later(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    one = sender(db, clock, receiver.url)
    receiver.answers = [(500, {}), (500, {})]
    one.tell(alert())
    wait = one.look()
    assert wait is not None
    assert 2.5 <= wait <= 5.1
    assert states(db) == [("alert", "run-1", "hard_loop", "pending", 1)]
    assert value(db, "select error from deliveries") == "it answered 500"
    one.look()
    assert len(receiver.messages) == 1
    clock.forward(wait)
    again = one.look()
    assert again is not None
    assert 5 <= again <= 10.1
    clock.forward(again)
    one.look()
    assert states(db) == [("alert", "run-1", "hard_loop", "sent", 3)]
    assert len({message.json["id"] for message in receiver.messages}) == 1
    assert len(receiver.messages) == 3
    assert value(db, "select error from deliveries") is None


def test_a_receiver_that_is_not_there_yet_gets_its_message(db: Path, clock: Clock) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    one = sender(db, clock, f"http://127.0.0.1:{port}/hook")
    one.tell(alert())
    wait = one.look()
    assert wait is not None
    assert "refused" in value(db, "select error from deliveries").lower()
    with alert_receiver(port) as received:
        clock.forward(wait)
        one.look()
        assert received.kinds == ["alert"]


def test_a_receiver_that_asks_for_time_gets_it(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    """Also for the other messages that wait for it, to which that is no failure."""
    one = sender(db, clock, receiver.url)
    receiver.answers = [(429, {"Retry-After": "120"})]
    one.tell(alert("run-1"), alert("run-2"))
    wait = one.look()
    assert wait is not None
    assert wait > 55
    clock.forward(119)
    one.look()
    assert len(receiver.messages) == 1
    clock.forward(2)
    one.look()
    assert receiver.kinds == ["alert"] * 3
    assert [attempts for *_, attempts in states(db)] == [2, 1] or [attempts for *_, attempts in states(db)] == [1, 2]


def test_a_message_is_given_up_in_the_end(
    db: Path, clock: Clock, receiver: AlertReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    one = sender(db, clock, receiver.url)
    receiver.answers = [(503, {})] * 50
    one.tell(alert())
    with caplog.at_level(logging.WARNING, "otel_processor.delivery"):
        for _ in range(30):
            one.look()
            clock.forward(901)
    assert len(receiver.messages) == MOST_ATTEMPTS
    assert states(db) == [("alert", "run-1", "hard_loop", "gave_up", MOST_ATTEMPTS)]
    assert "given up: it answered 503" in caplog.records[-1].getMessage()
    # What comes later is tried all the same.
    receiver.answers = []
    one.tell(alert("run-2"))
    one.look()
    assert receiver.messages[-1].json["run"]["id"] == "run-2"


def test_one_message_that_is_refused_holds_up_no_other(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    one = sender(db, clock, receiver.url)
    receiver.answers = [(413, {})]
    one.tell(*(alert(f"run-{number}", number=number, at=START + number * SECOND) for number in range(3)))
    one.look()
    assert sorted(state for *_, state, _ in states(db)) == ["pending", "sent", "sent"]


def test_a_silent_receiver_is_asked_once_for_all_that_waits(db: Path, clock: Clock) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    one = sender(db, clock, f"http://127.0.0.1:{port}/hook")
    one.tell(*(alert(f"run-{number}") for number in range(8)))
    for _ in range(60):
        one.look()
        clock.forward(120)
    assert {(state, attempts) for *_, state, attempts in states(db)} == {("gave_up", MOST_ATTEMPTS)}


def test_what_opens_again_within_the_cooldown_is_not_told_again(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    one = sender(db, clock, receiver.url)
    one.tell(alert(number=1))
    one.look()
    clock.forward(10)
    end_alerts(db, clock.now_ns)
    one.look()
    assert receiver.kinds == ["alert", "recovery"]
    clock.forward(10)
    one.tell(alert(number=2, at=clock.now_ns), alert(number=3, pattern=Pattern.CYCLE, at=clock.now_ns))
    one.look()
    assert receiver.titles[2:] == ["critical: cycle in find-invoice"]
    assert states(db)[-1] == ("alert", "run-1", "hard_loop", "suppressed", 0)
    # It is over before the cooldown is: it stays untold, and so does its end.
    clock.forward(10)
    end_alerts(db, clock.now_ns)
    clock.forward(1_000)
    one.look()
    assert receiver.kinds == ["alert", "recovery", "alert", "recovery"]


def test_what_is_open_still_when_the_cooldown_is_over_is_told(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    """Else somebody who read that it is over would go on believing it."""
    one = sender(db, clock, receiver.url, cooldown_seconds=100)
    one.tell(alert(number=1))
    one.look()
    end_alerts(db, clock.now_ns)
    clock.forward(30)
    one.tell(alert(number=2, at=clock.now_ns))
    wait = one.look()
    assert receiver.kinds == ["alert", "recovery"]
    assert wait is not None
    clock.forward(71)
    one.look()
    assert receiver.kinds == ["alert", "recovery", "alert"]


def test_cooldown_and_recovery_survive_a_restart(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    first = sender(db, clock, receiver.url)
    first.tell(alert(number=1))
    first.look()
    clock.forward(20)
    end_alerts(db, clock.now_ns)
    second = sender(db, clock, receiver.url)
    second.look()
    assert receiver.kinds == ["alert", "recovery"]
    second.tell(alert(number=2, at=clock.now_ns + SECOND))
    second.look()
    third = sender(db, clock, receiver.url)
    third.look()
    assert receiver.kinds == ["alert", "recovery"]
    assert [state for *_, state, _ in states(db)].count("suppressed") == 1


def test_a_recovery_says_what_it_was_over_with(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    one = sender(db, clock, receiver.url)
    loop = [tool_record("search", {"q": 1}, "none", trace="c" * 32) for _ in range(3)]
    assert one.recorder.record(loop, timeout_seconds=5)
    one.look()
    assert receiver.kinds == ["alert"]
    more = [tool_record("search", {"q": 2}, "a page of quite another kind, with much that is new", trace="c" * 32)]
    assert one.recorder.record(more, timeout_seconds=5)
    one.look()
    assert receiver.messages[-1].json["resolved"]["by"] == "progress"
    assert receiver.titles[-1] == f"Over: hard_loop in run {'c' * 32}"


def test_an_alert_that_is_over_before_it_is_sent_says_so_and_no_more(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    one = sender(db, clock, receiver.url)
    one.tell(alert())
    end_alerts(db, clock.now_ns)
    one.look()
    clock.forward(100)
    one.look()
    assert receiver.kinds == ["alert"]
    assert "resolved" in receiver.messages[0].json
    assert "Over at" in receiver.messages[0].json["text"]


def test_what_is_too_much_for_a_minute_comes_as_one_summary(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    one = sender(db, clock, receiver.url, per_minute=3, dashboard_url="http://dash.example")
    for number in range(12):
        clock.forward(0.001)
        one.tell(alert(f"run-{number % 6}", list(Pattern)[number // 6], number=number, at=START + number))
    one.look()
    assert receiver.kinds == ["alert"] * 3
    clock.forward(59)
    one.look()
    assert len(receiver.messages) == 3
    end_alerts(db, clock.now_ns, "run-5")
    clock.forward(2)
    one.look()
    assert receiver.kinds == ["alert"] * 3 + ["summary"]
    body = receiver.messages[-1].json
    assert body["title"] == "and 9 more alerts in 6 runs"
    assert (body["more"]["alerts"], body["more"]["runs"], body["more"]["over"]) == (9, 6, 2)
    assert len(body["more"]["first"]) == 5
    assert body["more"]["first"][0]["url"].startswith("http://dash.example/run?run=run-")
    assert [state for *_, state, _ in states(db)].count("summed") == 9
    clock.forward(600)
    one.look()
    assert len(receiver.messages) == 4


def test_a_summary_that_is_refused_is_tried_again_with_all_that_it_tells(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    one = sender(db, clock, receiver.url, per_minute=1)
    one.tell(*(alert(f"run-{number}") for number in range(3)))
    one.look()
    receiver.answers = [(500, {})]
    clock.forward(61)
    one.look()
    assert [state for *_, state, _ in states(db)].count("held") == 2
    clock.forward(61)
    one.look()
    assert receiver.titles[-2:] == ["and 2 more alerts in 2 runs"] * 2
    assert [state for *_, state, _ in states(db)].count("summed") == 2


def test_only_what_is_grave_enough_is_sent_and_what_becomes_so_is(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    one = sender(db, clock, receiver.url, min_severity="critical")
    one.tell(alert(severity="warning", action=Action.NUDGE))
    one.look()
    assert (receiver.messages, states(db)) == ([], [])
    one.tell(alert())
    one.look()
    assert receiver.titles == ["critical: hard_loop in find-invoice"]


def test_an_alert_that_becomes_graver_is_not_told_twice(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    one = sender(db, clock, receiver.url)
    one.tell(alert(severity="warning", action=Action.NUDGE))
    one.look()
    one.tell(alert())
    one.look()
    assert receiver.titles == ["warning: hard_loop in find-invoice"]


LOOP = [tool_record("search", {"q": 1}, "none", trace="d" * 32) for _ in range(5)]


def test_files_are_read_for_nobody(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    """Neither an import nor what one left in the spool, nor a replay, sends messages about old runs."""
    importer = Recorder(db)
    with processes.held(db):
        assert importer.record(LOOP, timeout_seconds=0.1)
    one = sender(db, clock, receiver.url)
    assert one.recorder.fold_spool(timeout_seconds=5)
    assert value(db, "select count(*) from alerts") > 0
    list(Replay(db, Policy(no_progress_alert_steps=2)).run(timeout_seconds=5))
    one.look()
    assert (receiver.messages, states(db)) == ([], [])


def test_what_waited_in_the_spool_is_told_whoever_takes_it_along(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    """Also where that is a process without sinks: the batch says who is to be told."""
    one = sender(db, clock, receiver.url)
    with processes.held(db):
        assert one.recorder.tell([alert()], timeout_seconds=0.1)
        assert one.recorder.record(LOOP, timeout_seconds=0.1)
    assert len(spool.pending(db)) == 2
    assert Recorder(db, clock=clock).fold_spool(timeout_seconds=5)
    one.look()
    assert sorted(message.json["run"]["id"] for message in receiver.messages) == ["d" * 32, "d" * 32, "run-1"]
    assert value(db, "select count(*) from alerts") == 3


def test_a_spool_of_an_older_version_is_up_to_who_takes_it_along(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    from otel_processor.recording.preparing import prepare
    from otel_processor.recording.spooling import spooled_columns

    columns = spooled_columns(prepare(LOOP, Policy()))
    del columns["sent"]
    spool.save(db, columns)
    one = sender(db, clock, receiver.url)
    assert one.recorder.fold_spool(timeout_seconds=5)
    one.look()
    assert set(receiver.kinds) == {"alert"}


def test_the_alert_of_a_guard_that_died_does_not_stay_open(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    """Nothing of its run is stored, so that nothing else says that it is over."""
    one = sender(db, clock, receiver.url)
    one.tell(alert())
    assert one.recorder.record([tool_record("search", {"q": 1}, "hit", trace="e" * 32, at=START)], timeout_seconds=5)
    one.look()
    clock.forward(1_700)
    assert one.recorder.close_idle(timeout_seconds=5)
    assert value(db, "select count(*) from alerts where resolved_at is null") == 1
    clock.forward(200)
    assert one.recorder.close_idle(timeout_seconds=5)
    one.look()
    assert value(db, "select count(*) from alerts where resolved_at is null") == 0
    assert receiver.kinds == ["alert", "recovery"]


def test_a_database_out_of_reach_for_long_keeps_no_alert_from_its_reader(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    one = sender(db, clock, receiver.url)
    told = alert()
    with processes.held(db):
        one.dispatcher.saw(told)
        assert one.recorder.tell([told], timeout_seconds=0.1)
        assert one.dispatcher.look_once()
        assert receiver.messages == []
        clock.forward(31)
        assert one.dispatcher.look_once()
        assert receiver.kinds == ["alert"]
        clock.forward(31)
        assert one.dispatcher.look_once()
    # Whoever writes next finds that it was sent; its end is told as usual.
    assert Recorder(db, clock=clock).fold_spool(timeout_seconds=5)
    one.look()
    assert states(db) == [("alert", "run-1", "hard_loop", "sent", 1)]
    end_alerts(db, clock.now_ns)
    sender(db, clock, receiver.url).look()
    assert receiver.kinds == ["alert", "recovery"]
    assert receiver.messages[0].json["id"] == value(db, "select delivery_id from deliveries where kind = 'alert'")


def test_no_secret_gets_into_the_database_or_the_log(db: Path, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    secrets = ["hush-user", "hush-password", "hush-path", "hush-query", "hush-key"]
    one = sender(
        db,
        clock,
        f"http://hush-user:hush-password@127.0.0.1:{port}/hush-path?token=hush-query",
        webhook_secret="hush-key",
        urls=(
            f"json://hush-user:hush-password@127.0.0.1:{port}/hush-path/?+x=hush-query",
            f"ntfy://hush-user:hush-password@127.0.0.1:{port}/hush-path",
        ),
    )
    with caplog.at_level(logging.DEBUG):
        one.tell(alert())
        for _ in range(3):
            one.look()
            clock.forward(100)
    stored = str(rows(db, "select * from deliveries"))
    logged = "\n".join(record.getMessage() for record in caplog.records)
    assert "could not be delivered" in logged
    assert value(db, "select count(*) from deliveries where error is not null") == 3
    for text in (stored, logged, repr(one.settings), str(one.dispatcher._sinks.keys())):
        assert "hush" not in text, [secret for secret in secrets if secret in text]
    assert db.read_bytes().find(b"hush") == -1


def test_a_clock_that_goes_back_delays_nothing_that_is_new(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    """What was tried an hour, or a day, later than now does not count as tried within this minute."""
    one = sender(db, clock, receiver.url, per_minute=2)
    for seconds in (3_600, 86_400):
        clock.forward(seconds)
        one.tell(alert(f"before-{seconds}"), alert(f"too-{seconds}"))
        one.look()
        clock.forward(-seconds)
        one.tell(alert(f"after-{seconds}", at=clock.now_ns))
        one.look()
        assert receiver.messages[-1].json["run"]["id"] == f"after-{seconds}"
        clock.forward(61)


def test_what_a_wrong_clock_put_off_for_a_day_is_sent(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    one, other = sender(db, clock, receiver.url), sender(db, clock, receiver.url)
    clock.forward(86_400)
    receiver.answers = [(500, {})]
    one.tell(alert("failed"))
    one.look()
    one.tell(alert("left to its writer"))
    clock.forward(-86_400)
    wait = other.look()
    assert receiver.kinds == ["alert"] * 3
    assert {state for *_, state, _ in states(db)} == {"sent"}
    assert wait is not None
    assert wait > 1


def test_the_cooldown_begins_when_it_is_told(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    """Also of what was suppressed at first: its row is older than its message."""
    one = sender(db, clock, receiver.url, cooldown_seconds=100)
    one.tell(alert(number=1))
    one.look()
    end_alerts(db, clock.now_ns)
    clock.forward(90)
    one.tell(alert(number=2, at=clock.now_ns))
    clock.forward(11)
    one.look()
    end_alerts(db, clock.now_ns)
    one.look()
    assert receiver.kinds == ["alert", "recovery", "alert", "recovery"]
    clock.forward(95)
    one.tell(alert(number=3, at=clock.now_ns))
    one.look()
    assert len(receiver.messages) == 4
    clock.forward(6)
    one.look()
    assert receiver.kinds[4:] == ["alert"]


def test_an_alert_that_somebody_removed_keeps_nobody_busy(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    one = sender(db, clock, receiver.url)
    one.tell(alert(number=1))
    one.look()
    end_alerts(db, clock.now_ns)
    clock.forward(10)
    one.tell(alert(number=2, at=clock.now_ns), alert("run-2"))
    one.look()
    with one.recorder.database.write(timeout_seconds=5) as connection:
        connection.execute("delete from alerts")
    clock.forward(1_000)
    assert one.look() is None


def test_a_bug_in_a_sink_holds_up_no_other_and_tells_nothing(
    db: Path, clock: Clock, receiver: AlertReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        name = "broken#1"

        def send(self, _: Notice) -> Outcome:
            raise KeyError("hush")

    settings = AlertSettings(webhook=receiver.url)
    sinks = (Broken(), *open_sinks(settings))
    recorder = Recorder(db, plan=settings.plan(tuple(sink.name for sink in sinks)), clock=clock)
    dispatcher = Dispatcher(recorder, sinks, settings, clock=clock)
    assert recorder.tell([alert("run-1"), alert("run-2")], timeout_seconds=5)
    with caplog.at_level(logging.WARNING, "otel_processor"):
        while dispatcher.look_once() == 0.0:
            pass
    assert receiver.kinds == ["alert", "alert"]
    assert (
        rows(db, "select state, attempts, error from deliveries where sink = 'broken#1'")
        == [("pending", 1, "a bug: KeyError")] * 2
    )
    assert "hush" not in caplog.text


def test_all_that_is_given_up_is_said_and_counted(
    db: Path, clock: Clock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what was not even asked for since its receiver did not answer others."""
    counted: list[str] = []
    monkeypatch.setattr(alert_metrics(), "tried", lambda _, outcome: counted.append(outcome))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    one = sender(db, clock, f"http://127.0.0.1:{port}/hook")
    one.tell(*(alert(f"run-{number}") for number in range(6)))
    with caplog.at_level(logging.WARNING, "otel_processor.delivery"):
        while (wait := one.look()) is not None:
            clock.forward(wait)
    assert counted.count("gave_up") == 6
    assert "6 messages to http://127.0.0.1:" in caplog.text
    assert "could not be delivered, given up: ConnectionRefusedError" in caplog.text


def test_a_summary_that_may_have_arrived_gets_no_more_to_tell(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    """Whoever drops what has an id that was seen would never hear of the rest."""
    one = sender(db, clock, receiver.url, per_minute=1)
    one.tell(alert("run-0"), alert("run-1"))
    one.look()
    clock.forward(61)
    receiver.answers = [(500, {})]
    one.look()
    one.tell(alert("run-2", at=clock.now_ns))
    for _ in range(4):
        clock.forward(61)
        one.look()
    told: dict[str, set[str]] = {}
    for message in receiver.messages:
        told.setdefault(message.json["id"], set()).add(message.json["title"])
    assert {len(titles) for titles in told.values()} == {1}
    assert sum(message.json.get("more", {"alerts": 0})["alerts"] for message in receiver.messages[2:]) == 2


def test_a_sink_that_hangs_is_asked_once_while_the_database_is_out_of_reach(
    db: Path, clock: Clock, receiver: AlertReceiver
) -> None:
    """Each further message would hold up the others by ten seconds more."""
    asked: list[str] = []

    class Hanging:
        name = "hanging#1"

        def send(self, notice: Notice) -> Outcome:
            asked.append(notice.notice_id)
            return Outcome(False, "no answer within 10 s")

    settings = AlertSettings(webhook=receiver.url)
    sinks = (Hanging(), *open_sinks(settings))
    recorder = Recorder(db, plan=settings.plan(tuple(sink.name for sink in sinks)), clock=clock)
    dispatcher = Dispatcher(recorder, sinks, settings, clock=clock)
    dispatcher._wake = lambda: None  # type: ignore[method-assign]
    assert recorder.tell([alert("before")], timeout_seconds=5)
    with processes.held(db):
        for number in range(4):
            dispatcher.saw(alert(f"run-{number}"))
        clock.forward(31)
        dispatcher.look_once()
    assert receiver.kinds == ["alert"] * 4
    assert len(asked) == 1


def test_a_summary_says_how_many_are_over_and_not_of_what(db: Path, clock: Clock, receiver: AlertReceiver) -> None:
    """The ends of alerts that were told before may be more than the alerts that it tells."""
    one = sender(db, clock, receiver.url, per_minute=3)
    one.tell(*(alert(f"run-{number}") for number in range(3)))
    one.look()
    end_alerts(db, clock.now_ns)
    clock.forward(1)
    one.tell(alert("late", at=clock.now_ns))
    one.look()
    clock.forward(61)
    one.look()
    assert receiver.titles[-1] == "and 1 more alert in 1 run"
    assert "Over by now: 3 alerts." in receiver.messages[-1].json["text"]


def test_a_busy_file_is_said_once_it_is_busy_for_long(
    db: Path, clock: Clock, receiver: AlertReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    one = sender(db, clock, receiver.url)
    one.tell(alert())
    with processes.held(db), caplog.at_level(logging.WARNING, "otel_processor.delivery"):
        one.dispatcher.look_once()
        clock.forward(5)
        one.dispatcher.look_once()
        assert caplog.records == []
        clock.forward(6)
        one.dispatcher.look_once()
    assert "messages wait: " in caplog.text
    one.look()
    assert receiver.kinds == ["alert"]


@pytest.mark.parametrize("restarted", [False, True])
def test_the_alert_of_a_run_that_is_named_later_goes_along(
    db: Path, clock: Clock, receiver: AlertReceiver, restarted: bool
) -> None:
    """SDKs send children before the root, which alone may carry the run's name: one loop is one alert, told once, and ends."""
    one = sender(db, clock, receiver.url)
    root = "0123456789abcdef"
    for _ in range(4):
        call = tool_record("search", {"q": 1}, "none", trace="9" * 32, parent=root)
        assert one.recorder.record([call], timeout_seconds=5)
    one.look()
    assert rows(db, "select run_id, pattern, resolved_at from alerts") == [("9" * 32, "hard_loop", None)]
    if restarted:
        one = sender(db, clock, receiver.url)
    named = {"gen_ai.operation.name": "invoke_agent", "loop.run.id": "invoice-7", "loop.task": "find the invoice"}
    assert one.recorder.record([record(named, trace="9" * 32, span=root, at=START)], timeout_seconds=5)
    one.look()
    assert rows(db, "select run_id, pattern, resolved_at is null from alerts") == [("invoice-7", "hard_loop", False)]
    assert {run_id for (run_id,) in rows(db, "select run_id from deliveries")} == {"invoice-7"}
    assert receiver.kinds == ["alert", "recovery"]
