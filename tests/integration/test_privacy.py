"""Secrets, and content where it is not kept, never reach a disk; what was decided by them stays as it was."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

from otel_processor import LoopGuard, instrument
from otel_processor.alerts.log import LOGGER
from otel_processor.errors import ConfigError
from otel_processor.model import Action, Alert, Pattern, SpanEvent, SpanRecord, StopReason, Verdict
from otel_processor.policy import Policy
from otel_processor.privacy.settings import CONTENT, REDACT, Privacy
from otel_processor.recording.recorder import Recorder
from otel_processor.recording.replaying import Replay
from otel_processor.store.spool import folder_of
from tests.integration import processes
from tests.integration.agents import agent, call_tool
from tests.integration.stored import ALERTS, CALLS, RUNS, rows, value
from tests.unit.factory import (
    agent_span,
    failure_span,
    invoker_span,
    make_span,
    model_span,
    sibling_span,
    told_model_span,
    tool_span,
)
from tests.unit.privacy.places import EXAMPLES, PLACES, in_base64
from tests.unit.privacy.secrets import SECRETS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

AS_IT_COMES = Privacy(kinds=frozenset())
NO_CONTENT = Privacy(keeps_content=False)
MODES = {"redacted": Privacy(), "off": NO_CONTENT}

DECIDED = (
    "select trace_id, span_id, kind, agent, tool, step, progress, repeats, flat_steps, signature, fingerprint, is_error,"
    " error_class, effect, input_tokens, finish_reason from calls order by all"
)


def bytes_of(db: Path) -> bytes:
    """All that lies on the disk: the database, its log, its spool."""
    places = [*db.parent.glob(f"{db.name}*"), *(folder_of(db).glob("*") if folder_of(db).exists() else ())]
    return b"".join(place.read_bytes() for place in places if place.is_file())


def write(db: Path, spans: Sequence[SpanRecord], privacy: Privacy, *, size: int = 1_000) -> None:
    recorder = Recorder(db, privacy=privacy)
    for first in range(0, len(spans), size):
        assert recorder.record(spans[first : first + size], timeout_seconds=10)
    recorder.close()


def tables(db: Path) -> list[list[tuple[Any, ...]]]:
    return [rows(db, each) for each in (CALLS, RUNS, ALERTS, DECIDED)]


# Secrets anywhere.


def test_no_secret_of_any_kind_in_any_place_reaches_the_disk(tmp_path: Path) -> None:
    """Each kind in each place, all in one batch: none comes out, whether content is kept or not."""
    spans = [
        replace(place(tool_span(f"{number:016x}", "search:cats=a cat"), text), trace_id=f"{number:032x}")
        for number, (place, text) in enumerate((place, f"é{text}é") for place in PLACES.values() for text, _ in EXAMPLES.values())
    ]
    for mode, privacy in MODES.items():
        db = tmp_path / f"{mode}.duckdb"
        write(db, spans, privacy)
        assert value(db, "select count(*) from spans") == len(spans)
        stored = bytes_of(db)
        text = "\n".join(
            str(row) for table in ("spans", "call_rows", "run_rows", "trace_runs") for row in rows(db, f"from {table}")
        )
        for secret in (part for _, parts in EXAMPLES.values() for part in parts):
            assert secret.encode() not in stored
            assert secret not in text
            assert not any(part in text for part in in_base64(secret))


def test_what_is_looked_for_is_there_where_nothing_is_taken_out(db: Path) -> None:
    """The test above can fail: this is what it finds without redaction."""
    secret = SECRETS["github_token"]
    write(db, [tool_span("1", "search:cats=a cat", more={"note": secret})], AS_IT_COMES)
    assert secret in str(rows(db, "from spans"))


# What was decided stays.

KEY, PASSWORD = SECRETS["openai_key"], "correct-horse-9"


def looping() -> list[SpanRecord]:
    """Runs in which secrets are everywhere, told by the calls themselves, by models, by children and by siblings."""
    spans: list[SpanRecord] = []
    for number in range(5):
        at = number * 10.0
        arguments = {"gen_ai.tool.call.arguments": json.dumps({"url": f"https://u:{PASSWORD}@x/{number % 2}", "api_key": KEY})}
        result = {"gen_ai.tool.call.result": json.dumps({"found": "nothing", "echo": f"Bearer {KEY}"})}
        spans += [
            tool_span(f"a{number}", "login", trace="a", parent="root-a", at=at, more=arguments | result),
            model_span(f"b{number}", trace="b", parent="root-b", at=at, requests=[(f"c{number}", "ask", f"where {KEY}")]),
            tool_span(f"t{number}", "ask", call_id=f"c{number}", trace="b", parent="root-b", at=at + 2),
            told_model_span(f"m{number}", (f"c{number}", "ask", f"denied for {KEY}"), trace="b", parent="root-b", at=at + 4),
            tool_span(f"f{number}", "shell:x", call_id=f"e{number}", trace="c", parent="root-c", at=at, seconds=4),
            failure_span(
                f"g{number}", f"e{number}", f"404 not found password={PASSWORD}", trace="c", parent=f"f{number}", at=at + 1
            ),
            tool_span(f"s{number}", "look:y", call_id=f"h{number}", trace="d", parent="root-d", at=at),
            sibling_span(f"i{number}", (f"h{number}", "look", f"is {KEY}"), trace="d", parent="root-d", at=at + 2),
            invoker_span(f"n{number}", (f"k{number}", "make", f"made {KEY}"), trace="e", parent="root-e", at=at),
        ]
    failed: dict[str, Any] = {"status": "ERROR", "status_message": f"UsageLimitExceeded: request_limit with {KEY}"}
    spans += [agent_span(f"root-{trace}", trace=trace, seconds=100, **(failed if trace == "a" else {})) for trace in "abcde"]
    return spans


@pytest.mark.parametrize("mode", MODES)
def test_rows_are_the_same_whatever_came_first_and_when_they_are_decided_anew(tmp_path: Path, mode: str) -> None:
    spans, privacy = looping(), MODES[mode]
    write(tmp_path / "at_once.duckdb", spans, privacy)
    expected = tables(tmp_path / "at_once.duckdb")
    for seed, size in ((1, 4), (2, 13)):
        shuffled = spans.copy()
        random.Random(seed).shuffle(shuffled)
        db = tmp_path / f"shuffled_{seed}.duckdb"
        write(db, shuffled, privacy, size=size)
        found = tables(db)
        assert found[3] == expected[3]
        assert found[:2] == expected[:2]
    for _ in Replay(tmp_path / "at_once.duckdb", Policy()).run(timeout_seconds=10):
        pass
    assert tables(tmp_path / "at_once.duckdb") == expected


def test_what_is_decided_without_secrets_is_what_is_decided_with_them(tmp_path: Path) -> None:
    """Signatures, fingerprints, progress, repeats, errors, why runs ended, alerts: only texts differ."""
    write(tmp_path / "plain.duckdb", looping(), AS_IT_COMES)
    write(tmp_path / "redacted.duckdb", looping(), Privacy())
    plain, redacted = tables(tmp_path / "plain.duckdb"), tables(tmp_path / "redacted.duckdb")
    assert redacted[1:] == plain[1:]
    assert {row[6] for row in redacted[3]} >= {False}
    assert any(KEY in str(row) for row in plain[0])
    assert not any(KEY in str(row) or PASSWORD in str(row) for row in redacted[0])


def test_without_content_calls_are_signed_and_compared_as_before(tmp_path: Path) -> None:
    write(tmp_path / "plain.duckdb", looping(), AS_IT_COMES)
    write(tmp_path / "off.duckdb", looping(), NO_CONTENT)
    same = (
        "select trace_id, span_id, kind, tool, step, signature, fingerprint, is_error, error_class, effect, input_tokens"
        " from calls order by all"
    )
    assert rows(tmp_path / "off.duckdb", same) == rows(tmp_path / "plain.duckdb", same)
    ended = "select run_id, task, stop_reason, flagged_reason, steps, tokens from runs order by all"
    assert rows(tmp_path / "off.duckdb", ended) == rows(tmp_path / "plain.duckdb", ended)
    assert {row[0] for row in rows(tmp_path / "off.duckdb", "select content from calls union select content from spans")} == {
        "off"
    }


# Content.

SAID = ["Kowalski owes 4,711 euros", "the patient said no", "kowalski@example.org", "Ödön lives in Nagy utca 9"]


def talking() -> list[SpanRecord]:
    """A run in which people and models say things in every place that is not a name."""
    first, second, third, fourth = SAID
    messages = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": f"{first}. {second}."}]}])
    spans = [
        model_span(f"m{number}", trace="1", parent="r", at=number * 5.0, more={"gen_ai.output.messages": messages, third: fourth})
        for number in range(4)
    ]
    spans += [
        tool_span(
            f"t{number}",
            f"search:{first}={second}",
            trace="1",
            parent="r",
            at=number * 5.0 + 2,
            more={
                "metadata.x": fourth,
                "embedding.vector": ["a", fourth],
                "user.email": third,
                "gen_ai.agent.description": first,
            },
            events=[SpanEvent(f"{second}!", 1, {"body": {"text": fourth}})],
            links=[{"trace_id": "a", "span_id": "b", "attributes": {"why": first}, "trace_state": f"x={third}"}],
            resource={"service.name": "shop", "process.command_args": [first], third: 1},
            extra={"scope_attributes": {"note": second}, "schema_url": "https://x/1.0", "flags": 1},
            status="ERROR" if number == 3 else "UNSET",
            status_message=first if number == 3 else "",
            trace_state=f"vendor={third}",
        )
        for number in range(4)
    ]
    return [
        *spans,
        agent_span("r", trace="1", seconds=60, more={"gen_ai.conversation.id": third, "loop.task": f"{first} and {second}"}),
    ]


def test_nothing_that_was_said_is_stored_where_content_is_not_kept(db: Path) -> None:
    write(db, talking(), Privacy(kinds=frozenset()))
    assert all(said in str([rows(db, f"from {table}") for table in ("spans", "calls", "runs", "alerts")]) for said in SAID)
    off = db.with_name("off.duckdb")
    write(off, talking(), NO_CONTENT)
    stored = bytes_of(off)
    text = "\n".join(str(row) for table in ("spans", "call_rows", "run_rows", "alerts") for row in rows(off, f"from {table}"))
    for said in SAID:
        for word in ("kowalski", "Kowalski", "patient", "Nagy", "4,711", said):
            assert word not in text
            assert word.encode() not in stored
    ((arguments, result, model, tokens),) = rows(
        off, "select arguments, result, model, input_tokens from (select max(arguments) as arguments, max(result) as result, "
        "max(model) as model, max(input_tokens) as input_tokens from calls)"
    )  # fmt: skip
    assert arguments.startswith('"[withheld:')
    assert result.startswith("[withheld:")
    assert result.endswith(f":{len(SAID[1])}]")
    assert (model, tokens) == ("m", 10)
    assert value(off, "select count(*) from alerts where pattern = 'hard_loop'") == 1


@pytest.mark.parametrize("mode", MODES)
def test_what_waits_in_the_spool_holds_no_more_than_the_database(tmp_path: Path, mode: str) -> None:
    straight = tmp_path / "straight.duckdb"
    write(straight, looping(), MODES[mode])
    db = tmp_path / "held.duckdb"
    recorder = Recorder(db, privacy=MODES[mode])
    write(db, [make_span("first", trace="0")], MODES[mode])
    with processes.held(db):
        spans = looping()
        for first in range(0, len(spans), 9):
            assert recorder.record(spans[first : first + 9], timeout_seconds=0.01)
        spooled = b"".join(file.read_bytes() for file in folder_of(db).iterdir())
    assert b"root-a" in spooled
    assert KEY.encode() not in spooled
    assert PASSWORD.encode() not in spooled
    if mode == "off":
        assert b"denied for" not in spooled
    # Whoever takes it along need not be told how it was written.
    assert Recorder(db).fold_spool(timeout_seconds=10)
    assert rows(db, DECIDED) == rows(straight, DECIDED)


# Through an agent's own process.


@pytest.mark.parametrize("content", [True, False])
def test_an_agent_tells_alerts_without_secrets_or_content(db: Path, content: bool) -> None:
    told: list[Alert] = []
    watched = instrument(db, tracer_provider=TracerProvider(), content=content, on_alert=told.append)
    tracer = watched.tracer_provider.get_tracer("tests")
    with agent(tracer, "looper"):
        for number in range(6):
            call_tool(tracer, "look_up", {"q": f"who has {KEY} {'now' * (number % 2)}"}, "nobody at all")
    assert watched.force_flush()
    watched.shutdown()
    assert any(KEY in str(alert.verdict.evidence) for alert in told), "the alert quotes what was asked"
    stored = rows(db, "select message, evidence::VARCHAR from alerts")
    assert stored
    assert KEY not in str(stored)
    assert KEY.encode() not in bytes_of(db)
    if not content:
        assert "who has" not in str(stored)
        assert b"nobody at all" not in bytes_of(db)


@pytest.mark.parametrize("by", ["spans", "guard"])
def test_the_log_of_an_agents_process_has_no_secrets(db: Path, caplog: pytest.LogCaptureFixture, by: str) -> None:
    told: list[Alert] = []
    watched = instrument(db, tracer_provider=TracerProvider(), on_alert=told.append)
    tracer = watched.tracer_provider.get_tracer("tests")
    guard = LoopGuard(run_id=f"run {KEY}", task=f"task {KEY}")
    with caplog.at_level("WARNING", LOGGER), agent(tracer, "looper"):
        for _ in range(6):
            if by == "spans":
                call_tool(tracer, f"look_up {KEY}", {"q": "x"}, "nobody at all")
            else:
                guard.before_tool(f"look_up {KEY}", {"q": "x"})
                guard.after_tool("nobody at all")
    watched.shutdown()
    assert any(KEY in str(alert) for alert in told), "what is registered gets alerts as they were seen"
    assert "look_up [redacted:openai_key:" in caplog.text
    assert KEY not in caplog.text


def test_tags_carry_no_content(provider: TracerProvider, db: Path) -> None:
    watched = instrument(db, tracer_provider=provider)
    tracer = provider.get_tracer("tests")
    with agent(tracer, "looper"):
        for _ in range(6):
            call_tool(tracer, "look_up", {"q": "a private question"}, "a private answer")
    assert watched.force_flush()
    watched.shutdown()
    tags = rows(db, "select key, value from (select unnest(json_keys(attributes)) as key, attributes->>key as value from spans)")
    ours = [text for key, text in tags if key.startswith("loop.")]
    events = rows(db, "select events::VARCHAR from spans where events::VARCHAR like '%loop.alert%'")
    assert ours
    assert events
    assert "private" not in str(ours) + str(events)


def test_settings_hold_for_an_agent_and_are_refused_before_anything_is_stored(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REDACT, "nonsense")
    with pytest.raises(ConfigError, match="no kind of secret"):
        instrument(db, tracer_provider=TracerProvider())
    with pytest.raises(ConfigError, match="content=False needs db="):
        instrument(None, "http://127.0.0.1:4318", content=False)
    monkeypatch.setenv(REDACT, "on")
    monkeypatch.setenv(CONTENT, "off")
    watched = instrument(db, tracer_provider=TracerProvider())
    call_tool(watched.tracer_provider.get_tracer("t"), "search", {"q": "cats"}, "a hit")
    assert watched.force_flush()
    watched.shutdown()
    assert value(db, "select content from calls") == "off"


def test_a_long_value_is_looked_at_as_far_as_it_is_stored(db: Path) -> None:
    secret = SECRETS["aws_access_key"]
    text = "x" * 65_530 + " " + secret + " y" * 5_000_000
    write(db, [tool_span("1", "search:cats", more={"gen_ai.tool.call.result": text})], Privacy())
    ((stored, cut),) = rows(db, "select attributes->>'$.\"gen_ai.tool.call.result\"', cut from spans")
    assert secret[:6] not in stored
    told = json.loads(cut)["attributes.gen_ai.tool.call.result"]
    assert told["length"] == len(text)
    assert told["redacted"] == {"aws_access_key": 1}


@pytest.mark.parametrize("mode", MODES)
def test_whoever_tells_an_alert_stores_no_more_of_it_than_of_spans(db: Path, mode: str) -> None:
    verdict = Verdict(
        pattern=Pattern.SEMANTIC_LOOP,
        action=Action.STOP,
        stop_reason=StopReason.SEMANTIC,
        severity="critical",
        message=f"said with {KEY}",
        evidence={
            "said": f"{SAID[0]} {KEY}",
            "asked": [SAID[1]],
            "deep": {SAID[0]: 1},
            "times": 3,
            "span_ids": ["a1"],
            "tool": "ask",
        },
    )
    whose: dict[str, Any] = {"run_id": "r", "trace_id": "t", "span_id": "a1", "task": f"task {KEY}", "agent": "x", "tool": "ask"}
    alert = Alert(alert_id="1", at_ns=10**18, verdict=verdict, **whose)
    recorder = Recorder(db, privacy=MODES[mode])
    with processes.held(db):
        assert recorder.tell([alert], timeout_seconds=0.01)
        assert KEY.encode() not in bytes_of(db)
    assert recorder.fold_spool(timeout_seconds=10)
    recorder.close()
    ((stored, evidence),) = rows(db, "select alerts::VARCHAR, evidence from alerts")
    assert KEY not in stored
    assert (SAID[0] in stored) is (mode == "redacted")
    assert (SAID[1] in stored) is (mode == "redacted")
    told = json.loads(evidence)
    assert (told["times"], told["span_ids"], told["tool"]) == (3, ["a1"], "ask")
