"""A webhook and apprise against a real receiver."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import logging
import re
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from otel_processor.alerts.apprise import AppriseSink
from otel_processor.alerts.notice import EndedBy, Kind, Mention, Notice
from otel_processor.alerts.settings import AlertSettings
from otel_processor.alerts.webhook import Webhook
from otel_processor.errors import ConfigError
from tests.integration.alert_receiver import AlertReceiver, alert_receiver

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "a key that both sides know"


@pytest.fixture
def receiver() -> Iterator[AlertReceiver]:
    """Something that receives."""
    with alert_receiver() as received:
        yield received


def notice(**more: object) -> Notice:
    """A notice as it is usual."""
    fields: dict[str, object] = {
        "kind": Kind.ALERT,
        "notice_id": "0a" * 16,
        "at_ns": 1_760_000_000_000_000_000,
        "run_id": "run-1",
        "task": "find-invoice",
        "pattern": "hard_loop",
        "severity": "critical",
        "action": "stop",
        "message": "search was called 3 times",
    }
    return Notice(**(fields | more))  # type: ignore[arg-type]


def verifies(headers: dict[str, str], body: bytes, secret: str, now: float) -> bool:
    """What a receiver does, as docs/alerts.md says."""
    timestamp = headers["X-Otel-Processor-Timestamp"]
    expected = "v1=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    is_fresh = abs(now - int(timestamp)) <= 300
    return is_fresh and hmac.compare_digest(expected, headers["X-Otel-Processor-Signature"])


def test_a_signature_verifies_and_nothing_else_does(receiver: AlertReceiver) -> None:
    sent = Webhook(receiver.url, SECRET, clock=lambda: 1_000_000.9).send(notice())
    assert sent.sent
    (message,) = receiver.messages
    headers = dict(message.headers)
    assert headers["Content-Type"] == "application/json"
    assert verifies(headers, message.body, SECRET, 1_000_100)
    assert not verifies(headers, message.body, "another key", 1_000_100)
    assert not verifies(headers, message.body.replace(b"run-1", b"run-2"), SECRET, 1_000_100)
    assert not verifies(headers | {"X-Otel-Processor-Timestamp": "1000200"}, message.body, SECRET, 1_000_200)
    assert not verifies(headers, message.body, SECRET, 1_000_000 + 301)


def test_without_a_secret_nothing_is_signed(receiver: AlertReceiver) -> None:
    Webhook(receiver.url).send(notice())
    assert "X-Otel-Processor-Signature" not in receiver.messages[0].headers


def test_name_and_password_go_into_a_header(receiver: AlertReceiver) -> None:
    Webhook(f"http://me:p%40ss@127.0.0.1:{receiver.port}/x?y=1").send(notice())
    (message,) = receiver.messages
    assert message.path == "/x?y=1"
    assert message.headers["Authorization"] == "Basic bWU6cEBzcw=="


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed(status: int, receiver: AlertReceiver) -> None:
    with alert_receiver() as elsewhere:
        receiver.answers = [(status, {"Location": elsewhere.url})]
        outcome = Webhook(receiver.url, SECRET).send(notice())
        assert not outcome.sent
        assert "redirects are not followed" in outcome.error
        assert elsewhere.messages == []
        assert len(receiver.messages) == 1


@pytest.mark.parametrize(
    ("status", "headers", "seconds", "answered"),
    [
        (429, {"Retry-After": "90"}, 90, False),
        (503, {"Retry-After": "Sun, 09 Sep 2001 01:46:50 GMT"}, 10, False),
        (429, {"Retry-After": "999999"}, 3_600, False),
        (429, {"Retry-After": "soon"}, None, False),
        (500, {}, None, False),
        (404, {}, None, True),
        (400, {"Retry-After": "90"}, None, True),
    ],
)
def test_what_an_answer_asks_for(
    status: int, headers: dict[str, str], seconds: float | None, answered: bool, receiver: AlertReceiver
) -> None:
    receiver.answers = [(status, headers)]
    outcome = Webhook(receiver.url, clock=lambda: 1_000_000_000.0).send(notice())
    assert (outcome.sent, outcome.error) == (False, f"it answered {status}")
    assert (outcome.retry_after_seconds, outcome.answered) == (seconds, answered)


def test_a_receiver_that_answers_byte_by_byte_is_left() -> None:
    """Each byte comes within the time of a read; all together may not take longer than one message may."""
    stop = threading.Event()

    def drip(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            while not stop.wait(0.05):
                try:
                    connection.sendall(b"HTTP/1.1 200 OK\r\nX-A: "[:1] if stop.is_set() else b"H")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip, args=(listening,), daemon=True)
        thread.start()
        try:
            outcome = Webhook(f"http://127.0.0.1:{listening.getsockname()[1]}/", timeout_seconds=0.5).send(notice())
        finally:
            stop.set()
            thread.join(10)
    assert (outcome.sent, outcome.error) == (False, "no answer within 0.5 s")


def test_a_host_of_many_addresses_gets_no_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of waiting connections that is full lets nobody in, as a host that is gone does, address by address."""
    look_up = socket.getaddrinfo
    with socket.socket() as full, contextlib.ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        tried: list[int] = []

        def six(*arguments: Any) -> Any:
            for number in range(6):
                tried.append(number)
                yield from look_up(*arguments)

        monkeypatch.setattr(socket, "getaddrinfo", six)
        outcome = Webhook(f"http://127.0.0.1:{full.getsockname()[1]}/", timeout_seconds=0.5).send(notice())
    assert outcome.error == "no answer within 0.5 s"
    # The first one took all the time, and the second is not begun.
    assert len(tried) <= 2


def test_a_connection_that_comes_when_the_time_is_over_is_cut(receiver: AlertReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking a name up cannot be cut; what follows may not begin a time of its own."""
    look_up = socket.getaddrinfo

    def slow(*arguments: Any) -> Any:
        time.sleep(0.4)
        return look_up(*arguments)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    outcome = Webhook(receiver.url, timeout_seconds=0.2).send(notice())
    assert (outcome.sent, outcome.error) == (False, "no answer within 0.2 s")
    assert receiver.messages == []


def test_an_address_of_any_letters_is_sent_as_the_web_writes_it(receiver: AlertReceiver) -> None:
    assert Webhook(f"{receiver.url}/ñ%C3%B1/a%2Fb?x=ñ&y=1").send(notice()).sent
    assert receiver.messages[0].path == "/hook/%C3%B1%C3%B1/a%2Fb?x=%C3%B1&y=1"


def test_no_text_calls_a_whole_channel(receiver: AlertReceiver) -> None:
    """Each service begins it in its own way, and the package finds one of them without its bracket."""
    called = "@everyone <!channel> !here> <users/all> what! a < b"
    assert AppriseSink(f"json://127.0.0.1:{receiver.port}/").send(notice(task=called, message=called)).sent
    for text in (receiver.messages[0].json["title"], receiver.messages[0].json["message"]):
        assert not re.search(r"[@!<]\w", text), text
        assert "what! a < b" in text


def test_a_receiver_that_hangs_is_left(receiver: AlertReceiver) -> None:
    receiver.hangs = threading.Event()
    outcome = Webhook(receiver.url, timeout_seconds=0.3).send(notice())
    assert (outcome.sent, outcome.error) == (False, "no answer within 0.3 s")


def test_apprise_sends_title_and_text(receiver: AlertReceiver) -> None:
    sink = AppriseSink(f"json://127.0.0.1:{receiver.port}/")
    assert sink.send(notice(steps=3, tokens=1_234, cost_usd=0.5, link="http://dash.example/run?run=run-1")).sent
    (message,) = receiver.messages
    assert message.json["title"] == "critical: hard_loop in find-invoice"
    assert message.json["type"] == "failure"
    assert "Spent so far: 3 steps, 1,234 tokens, $0.5000" in message.json["message"]
    assert message.json["message"].endswith("http://dash.example/run?run=run-1")


def test_apprise_says_why_not_and_no_redirect_is_followed(receiver: AlertReceiver) -> None:
    with alert_receiver() as elsewhere:
        receiver.answers = [(307, {"Location": elsewhere.url}), (403, {})]
        sink = AppriseSink(f"json://127.0.0.1:{receiver.port}/")
        assert not sink.send(notice()).sent
        assert elsewhere.messages == []
    refused = sink.send(notice())
    assert not refused.sent
    assert "403" in refused.error


def test_what_apprise_logs_elsewhere_is_the_hosts_own(caplog: pytest.LogCaptureFixture, receiver: AlertReceiver) -> None:
    with caplog.at_level(logging.DEBUG):
        AppriseSink(f"json://127.0.0.1:{receiver.port}/hush-token/").send(notice())
        assert "hush" not in caplog.text
        logging.getLogger("apprise").warning("of the host")
    assert "of the host" in caplog.text


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("tgram://123456789:abcdefg_hijklmnopqrstuvwxyz0123456/12315544/", "tgram#"),
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#general", "slack#"),
        ("discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js", "discord#"),
        ("ntfy://a-secret-topic", "ntfy#"),
        ("mailto://user:pass@example.com", "mailto://example.com:25#"),
        ("json://user:pass@hooks.example:8080/token", "json://hooks.example:8080#"),
    ],
)
def test_a_token_that_stands_where_others_have_a_host_is_not_told(url: str, name: str) -> None:
    assert re.fullmatch(re.escape(name) + "[0-9a-f]{8}", AppriseSink(url).name)
    assert AppriseSink(url).name == AppriseSink(url).name


@pytest.mark.parametrize("url", ["hush://hush-token", "hush-token", "json://", "tgram://hush-token"])
def test_a_url_that_apprise_does_not_know_is_refused_without_being_told(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        AppriseSink(url, 2)
    assert "URL 2 of OTEL_PROCESSOR_ALERT_URLS" in str(refused.value)
    assert "hush-token" not in str(refused.value)


HOSTILE = "in\x1b[2Jvoice\u202e\r\nX-Evil: 1\x00\u2028<script>@everyone\ud800"


def test_hostile_text_is_inert(receiver: AlertReceiver) -> None:
    """Control characters, a turned direction, line breaks, half characters: in a text, in a title, in a header."""
    hostile = notice(
        task=HOSTILE, run_id=HOSTILE, agent=HOSTILE, message=HOSTILE, pattern=HOSTILE, action=HOSTILE, notice_id=HOSTILE
    )
    assert Webhook(receiver.url, SECRET).send(hostile).sent
    assert AppriseSink(f"json://127.0.0.1:{receiver.port}/").send(hostile).sent
    hook, chat = receiver.messages
    assert "X-Evil" not in hook.headers
    assert hook.json["title"].isprintable()
    assert (hook.json["run"]["task"] + hook.json["run"]["agent"] + hook.json["alert"]["message"]).isprintable()
    assert "@everyone" not in chat.json["title"] + chat.json["message"]
    for text in (hook.json["text"], chat.json["message"].replace("\u2060", ""), chat.json["title"].replace("\u2060", "")):
        assert all(line.isprintable() for line in text.split("\n")), text
    summary = notice(kind=Kind.SUMMARY, first=(Mention(run_id=HOSTILE, task=HOSTILE, pattern=HOSTILE),), more_alerts=1)
    assert all(line.isprintable() for line in summary.text().split("\n"))
    assert summary.as_json()["more"]["first"][0]["task"].isprintable()
    assert len(str(notice(task="t" * 50_000, message="m" * 50_000).as_json())) < 3_000
    assert summary.title().isprintable()


def test_a_link_leads_to_the_run_whatever_its_id(receiver: AlertReceiver) -> None:
    link = AlertSettings(dashboard_url="http://dash.example/").link_of("a b&c=\u202e#\ud800")
    assert link == "http://dash.example/run?run=a+b%26c%3D%E2%80%AE%23%5Cud800"


def test_a_notice_leaves_out_what_is_not_known() -> None:
    bare = Notice(kind=Kind.ALERT, notice_id="1", at_ns=0)
    assert set(bare.as_json()) == {"version", "kind", "id", "at", "title", "text"}
    assert "Spent" not in bare.text()
    over = notice(kind=Kind.RECOVERY, resolved_ns=1_760_000_060_000_000_000, ended_by=EndedBy.RUN_ENDED)
    assert "Over: the run ended at 2025-10-09T08:54:20Z." in over.text()
    assert over.title() == "Over: hard_loop in find-invoice"


def test_sending_takes_no_thread_that_keeps_the_process(receiver: AlertReceiver) -> None:
    """The package would time a service on threads of a pool, which the end of the interpreter waits for."""
    before = set(threading.enumerate())
    AppriseSink(f"json://127.0.0.1:{receiver.port}/").send(notice())
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        new = [thread for thread in set(threading.enumerate()) - before if not thread.daemon]
        if not new:
            break
    assert new == []
