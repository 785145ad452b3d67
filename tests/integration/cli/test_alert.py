"""`otel-processor alert --test`, and what `doctor` and `replay` say of alerts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from otel_processor.cli import cli
from otel_processor.recording.recorder import Recorder
from tests.integration.alert_receiver import AlertReceiver, alert_receiver
from tests.integration.delivering import Clock, alert, sender
from tests.integration.records import tool_record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from click.testing import CliRunner


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def receiver() -> Iterator[AlertReceiver]:
    """Something that receives."""
    with alert_receiver() as received:
        yield received


def test_one_message_through_every_sink(runner: CliRunner, receiver: AlertReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_PROCESSOR_ALERT_WEBHOOK", receiver.url)
    monkeypatch.setenv("OTEL_PROCESSOR_ALERT_WEBHOOK_SECRET", "key")
    monkeypatch.setenv("OTEL_PROCESSOR_ALERT_URLS", f"json://127.0.0.1:{receiver.port}/a/, json://127.0.0.1:{receiver.port}/b/")
    result = runner.invoke(cli, ["alert", "--test"])
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert [line.split("#")[0] for line in lines] == [f"sent      http://127.0.0.1:{receiver.port}"] + [
        f"sent      json://127.0.0.1:{receiver.port}"
    ] * 2
    assert [message.path for message in receiver.messages] == ["/hook", "/a/", "/b/"]
    assert receiver.messages[0].json["kind"] == "test"
    assert "X-Otel-Processor-Signature" in receiver.messages[0].headers


def test_one_that_fails_is_named_with_the_reason(runner: CliRunner, receiver: AlertReceiver) -> None:
    receiver.answers = [(403, {})]
    result = runner.invoke(
        cli, ["alert", "--test", "--webhook", f"{receiver.url}/hush", "--url", f"json://127.0.0.1:{receiver.port}/hush/"]
    )
    assert result.exit_code == 1
    first, second = result.stdout.splitlines()
    assert first.startswith("not sent  http://127.0.0.1")
    assert first.endswith(": it answered 403")
    assert second.startswith("sent      json://127.0.0.1")
    assert "hush" not in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["alert", "--test"], "no sink is configured: set OTEL_PROCESSOR_ALERT_URLS"),
        (["alert"], "otel-processor alert --test"),
        (["alert", "--test", "--url", "hush://hush"], "none that apprise knows"),
        (["alert", "--test", "--webhook", "hush.example"], "is no web address"),
    ],
)
def test_what_cannot_be_tried_says_what_to_do(runner: CliRunner, arguments: list[str], said: str) -> None:
    result = runner.invoke(cli, arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert "hush.example" not in result.stderr


def test_doctor_names_sinks_and_what_was_given_up(
    runner: CliRunner, tmp_path: Path, receiver: AlertReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, clock = tmp_path / "agents.duckdb", Clock()
    receiver.answers = [(404, {})] * 20
    one = sender(db, clock, receiver.url)
    one.tell(alert())
    for _ in range(11):
        one.look()
        clock.forward(901)
    one.tell(alert("run-2"))
    one.look()
    monkeypatch.setenv("OTEL_PROCESSOR_ALERT_WEBHOOK", f"{receiver.url}?hush=1")
    result = runner.invoke(cli, ["doctor", "--db", str(db)])
    assert f"from warning on to http://127.0.0.1:{receiver.port}#" in result.stdout
    assert "are not signed" in result.stdout
    assert "1 waiting, 1 retrying, 0 sent, 1 gave up; last error: it answered 404" in result.stdout
    assert "hush" not in result.stdout
    monkeypatch.setenv("OTEL_PROCESSOR_ALERT_PER_MINUTE", "many")
    result = runner.invoke(cli, ["doctor", "--db", str(db)])
    assert "OTEL_PROCESSOR_ALERT_PER_MINUTE is 'many'; it takes a number" in result.stdout
    assert result.exit_code == 1


def test_replay_says_which_patterns_changed(runner: CliRunner, tmp_path: Path) -> None:
    db, policy = tmp_path / "agents.duckdb", tmp_path / "policy.toml"
    loop = [tool_record("search", {"q": 1}, "none") for _ in range(4)]
    assert Recorder(db).record(loop, timeout_seconds=5)
    policy.write_text("no_progress_alert_steps = 2\n")
    result = runner.invoke(cli, ["replay", "--db", str(db), "--policy", str(policy)])
    assert result.exit_code == 0, result.output
    assert "     no_progress  1 new, 0 resolved" in result.stdout
    assert "hard_loop  " not in result.stdout
