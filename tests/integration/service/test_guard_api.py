"""An agent in any language asks before it calls a tool, and is nudged and stopped like one that runs here."""

from __future__ import annotations

import itertools
import threading
import time
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from otel_processor import LoopGuard
from otel_processor.alerts.log import LOGGER
from otel_processor.model import Mode
from otel_processor.policy import Policy
from otel_processor.recording.replaying import Replay
from tests.integration.agents import tool_attributes
from tests.integration.service.guarding import Agent
from tests.integration.service.serving import JSON, Serving, request_of, serving_here
from tests.integration.stored import eventually, rows, value
from tests.unit.privacy.secrets import SECRETS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TRACE, SPAN = "ab" * 16, "cd" * 8
PARENT = f"00-{TRACE}-{SPAN}-01"


@pytest.fixture
def service(db: Path) -> Iterator[Serving]:
    with serving_here(db, mode=Mode.ENFORCE) as found:
        yield found


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A service for tests that look at no rows."""
    with serving_here(tmp_path_factory.mktemp("shared") / "agents.duckdb", mode=Mode.ENFORCE) as found:
        yield found


@pytest.fixture
def run() -> str:
    """A run of the test's own."""
    return f"run-{next(NUMBERS)}"


NUMBERS = itertools.count()


def spans_of(*, run_id: str | None = None, root: bool, calls: int, began: int) -> bytes:
    """What the same agent sends over OTLP: calls that it made, and its root once it has ended."""
    request, _ = request_of(0)
    scope = request.resource_spans[0].scope_spans[0]
    said = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "asker"}
    spans = [(SPAN, b"", said, began, time.time_ns())] if root else []
    for number in range(calls):
        at = began + number
        spans.append((f"{number + 1:016x}", bytes.fromhex(SPAN), tool_attributes("search", {"q": "x"}, "nothing"), at, at))
    for span_id, parent, attributes, start, end in spans:
        span = scope.spans.add(trace_id=bytes.fromhex(TRACE), span_id=bytes.fromhex(span_id), parent_span_id=parent, name="x")
        span.start_time_unix_nano, span.end_time_unix_nano = start, end
        for name, text in (attributes | ({"loop.run.id": run_id} if run_id else {})).items():
            span.attributes.add(key=name).value.string_value = text
    body: bytes = request.SerializeToString()
    return body


def test_it_is_answered_as_here(db: Path) -> None:
    """The same agent, asking over HTTP and asking a LoopGuard, gets the same answers in each mode."""
    for mode in Mode:
        here = LoopGuard(goal="find it", mode=mode, on_alert=lambda _: None)
        with serving_here(db, mode=mode) as service:
            agent = Agent(service, {"run_id": f"run-{mode}", "goal": "find it"})
            for _ in range(7):
                here.on_step()
                agent.say("step")
                expected = here.before_tool("search", {"q": "x"})
                found = agent.say("before_tool", tool="search", arguments={"q": "x"})
                assert {name: found[name] for name in ("action", "pattern", "stop_reason", "severity", "message")} == {
                    "action": expected.action,
                    "pattern": expected.pattern,
                    "stop_reason": expected.stop_reason,
                    "severity": expected.severity,
                    "message": expected.message,
                }
                assert found["allowed"] is expected.allows_call
                assert (found["advised"]["action"], found["advised"]["message"]) == (expected.advised, expected.advised_message)
                if expected.allows_call:
                    here.after_tool("nothing")
                    agent.say("after_tool", result="nothing")
                else:
                    here.skip_tool(expected)
                    agent.say("skip_tool")
            here.finish()
            told = agent.say("end")
            timed = {"seconds": 0.0, "run_id": ""}
            assert {n: v for n, v in told.items() if n != "in_words"} | timed == orjson.loads(
                orjson.dumps(here.report().as_dict())
            ) | timed
    assert here.stopped


def test_a_loop_is_nudged_and_stopped_for_good(shared: Serving, run: str) -> None:
    agent = Agent(shared, {"run_id": run, "goal": "find the invoice"})
    assert agent.loop(9) == ["continue", "continue", "nudge", "nudge", "stop"]
    asked = agent.say("before_tool", tool="something_else")
    assert (asked["action"], asked["stop_reason"]) == ("stop", "loop_detected:repeated_tool_signature")
    assert "find the invoice" in asked["message"]
    told = agent.say("end", partial="half of it")
    assert (told["stop_reason"], told["tool_calls"], told["refused_calls"]) == (asked["stop_reason"], 2, 4)
    assert told["partial"] == ["half of it"]
    assert told["in_words"].startswith("The run was stopped: loop_detected:repeated_tool_signature.")
    assert shared.ask("GET", f"/v1/guard/report?run_id={run}").json == told


def test_what_is_only_advised_is_said_apart(db: Path) -> None:
    """An agent that gives each message to the model, or ends for any stop reason, is not stopped by a service that observes."""
    with serving_here(db, mode=Mode.OBSERVE) as service:
        agent = Agent(service, {"run_id": "watched", "goal": "find the invoice"})
        assert agent.loop(6) == ["continue"] * 6
        asked = agent.say("before_tool", tool="search", arguments={"q": "x"})
        assert (asked["action"], asked["allowed"], asked["message"], asked["stop_reason"]) == ("continue", True, "", None)
        advised = asked["advised"]
        assert (advised["action"], advised["pattern"]) == ("stop", "hard_loop")
        assert advised["stop_reason"] == "loop_detected:repeated_tool_signature"
        assert "make no more tool calls" in advised["message"]
        assert agent.say("before_tool", tool="something_else")["message"] == ""


def test_asking_changes_nothing(shared: Serving, run: str) -> None:
    """However often; the call keeps its id."""
    agent = Agent(shared, {"run_id": run})
    ids = {agent.say("before_tool", tool="search", arguments={"q": 1})["call_id"] for _ in range(20)}
    assert len(ids) == 1
    assert shared.ask("GET", f"/v1/guard/report?run_id={run}").json["tool_calls"] == 0
    assert agent.say("before_tool", tool="search", arguments={"q": 1})["action"] == "continue"


def test_what_is_told_twice_counts_once(shared: Serving, run: str) -> None:
    """A client that does not get the answer sends it again."""
    agent = Agent(shared, {"run_id": run})
    agent.say("before_tool", tool="search", arguments={"q": 1}, call_id="c-1")
    for _ in range(5):
        assert agent.say("after_tool", call_id="c-1", result="x")["action"] == "continue"
    agent.say("before_tool", tool="search", arguments={"q": 2}, call_id="c-2")
    for _ in range(2):
        agent.say("skip_tool", call_id="c-2")
    told = [agent.say("end", reason="cancelled") for _ in range(2)]
    assert told[0] == told[1] | {"seconds": told[0]["seconds"]}
    assert (told[0]["tool_calls"], told[0]["refused_calls"], told[0]["stop_reason"]) == (1, 1, "cancelled")


def test_a_call_that_nobody_asked_about_counts_by_its_name(shared: Serving, run: str) -> None:
    """As after a restart of the service, and for agents that only tell."""
    agent = Agent(shared, {"run_id": run})
    answers = [agent.say("after_tool", tool="search", arguments={"q": 1}, result="nothing", call_id=f"c-{n}") for n in range(3)]
    assert [answer["action"] for answer in answers] == ["continue", "continue", "nudge"]
    refused = agent.post("after_tool", call_id="c-9", result="x")
    assert (refused.status, refused.headers["content-type"]) == (409, "application/problem+json")
    assert "ask `before_tool` first" in refused.json["detail"]


def test_one_request_a_call_is_enough_for_a_loop(shared: Serving, run: str) -> None:
    agent = Agent(shared, {"run_id": run})
    actions = [agent.say("tool_call", tool="search", arguments={"q": 1})["action"] for _ in range(5)]
    assert actions[0] == "continue"
    assert "nudge" in actions


def test_calls_side_by_side_are_told_apart(shared: Serving, run: str) -> None:
    """By their ids, and those of several agents by their names."""
    agent = Agent(shared, {"run_id": run})
    for number in range(3):
        agent.say("before_tool", tool="read", arguments={"page": number}, call_id=f"c-{number}")
    for number in (2, 0, 1):
        agent.say("after_tool", call_id=f"c-{number}", result=f"page {number} of news {'abc'[number] * 20}")
    for who in ("scout", "clerk"):
        agent.say("before_tool", tool="search", arguments={"by": who}, agent=who)
    agent.say("after_tool", agent="scout", error="404 Not Found")
    agent.say("after_tool", agent="clerk", result="a hit about something new and long enough to tell")
    tried = {one["arguments"]: one["outcome"] for one in agent.say("end")["attempts"]}
    assert tried['{"by":"scout"}'].startswith("failed: ")
    assert tried['{"by":"clerk"}'] == "new"
    assert [tried[f'{{"page":{number}}}'] for number in range(3)] == ["new"] * 3


def test_what_only_the_agent_knows_is_heard(shared: Serving, run: str) -> None:
    """Progress, turns and what they cost, that the model was told, and that a person goes on."""
    agent = Agent(shared, {"run_id": run})
    for number in range(5):
        agent.say("step")
        agent.say("turn", text=f"let me look {number}", input_tokens=100, output_tokens=10, cost_usd=0.01)
        agent.say("before_tool", tool="look", arguments={"n": number}, call_id=f"c{number}")
        nudged = agent.say("after_tool", call_id=f"c{number}", result="the very same answer")
    assert nudged["action"] == "nudge"
    assert agent.say("before_tool", tool="other")["action"] == "nudge"
    agent.say("told", pattern=nudged["pattern"])
    assert agent.say("before_tool", tool="other")["action"] == "continue"
    agent.say("progress", what="tests passed: 12")
    told = agent.say("end", reason="handed_to_human", note="needs approval")
    assert (told["input_tokens"], told["output_tokens"], told["cost_usd"]) == (500, 50, 0.05)
    assert (told["stop_reason"], told["message"], told["partial"]) == (
        "handed_to_human",
        "needs approval",
        ["tests passed: 12"],
    )


def test_the_policy_is_the_services_and_goes_by_the_type_of_task(db: Path) -> None:
    policy = Policy(max_tool_calls=5, task_types={"short": {"max_tool_calls": 1}})
    with serving_here(db, policy=policy, mode=Mode.ENFORCE) as service:
        agent = Agent(service, {"run_id": "r", "task_type": "short"})
        assert agent.call("one") == "continue"
        asked = agent.say("before_tool", tool="two")
        assert (asked["action"], asked["stop_reason"]) == ("stop", "max_tool_calls_reached")
        other = Agent(service, {"run_id": "other"})
        assert [other.call(f"tool_{number}") for number in range(2)] == ["continue"] * 2


def test_a_run_that_has_ended_is_told_of_no_more(shared: Serving, run: str) -> None:
    """Asking is answered all the same; its id can be used again."""
    agent = Agent(shared, {"run_id": run})
    agent.call("search")
    agent.say("end")
    refused = agent.post("step")
    assert (refused.status, refused.json["status"]) == (409, 409)
    assert "`start`" in refused.json["detail"]
    assert agent.say("before_tool", tool="search")["action"] == "continue"
    assert agent.say("start") == {"run_id": run, "mode": "enforce", "is_new": True}
    assert agent.say("start")["is_new"] is False
    agent.say("step")
    assert shared.ask("GET", f"/v1/guard/report?run_id={run}").json["tool_calls"] == 0


def test_the_run_is_named_by_the_trace_or_the_baggage(shared: Serving) -> None:
    """As an instrumented HTTP client sends them along without being asked to."""
    assert Agent(shared, headers={"traceparent": PARENT}).say("step")["run_id"] == TRACE
    both = Agent(shared, headers={"traceparent": PARENT, "baggage": "a=b, loop.run.id=my%20run;x=y"})
    assert both.say("step")["run_id"] == "my run"
    assert both.say("step", run_id="said")["run_id"] == "said"
    refused = Agent(shared, headers={"traceparent": PARENT.replace("ab", "zz")}).post("step")
    assert (refused.status, "run_id" in refused.json["detail"]) == (400, True)
    assert shared.ask("GET", "/v1/guard/report").status == 400
    assert shared.ask("GET", "/v1/guard/report?run_id=nobody").status == 404


# What is stored.


def test_an_agent_that_only_asks_has_its_alerts_and_a_run(service: Serving, db: Path) -> None:
    """Its calls are not stored, but why it ended and what it spent."""
    agent = Agent(service, {"run_id": "only-asks", "task": "invoices", "agent": "asker", "task_type": "finding"})
    agent.say("turn", input_tokens=900, output_tokens=30, cost_usd=0.5)
    agent.loop(9)
    eventually(lambda: stored(db, "alerts"), seconds=5, what="the alert")
    agent.say("end")
    eventually(lambda: stored(db, "runs"), seconds=5, what="the run")
    assert rows(db, "select run_id, task, task_type, agent, tokens, cost_usd, stop_reason, flagged_reason from runs") == [
        ("only-asks", "invoices", "finding", "asker", 930, 0.5, REASON, REASON)
    ]
    assert rows(db, f"select {COUNTED} from runs") == NOT_KNOWN
    eventually(lambda: value(db, "select count(resolved_at) from alerts") == 1, seconds=5, what="the alert is over")
    assert rows(db, "select run_id, task, tool, pattern, action, stop_reason from alerts") == [
        ("only-asks", "invoices", "search", "hard_loop", "stop", REASON)
    ]
    assert value(db, "select count(*) from alerts join spans using (trace_id)") == 1


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.NUDGE])
def test_a_run_that_looped_and_went_on_is_flagged(db: Path, mode: Mode) -> None:
    """The agent's calls are not stored: only the guard can say so."""
    with serving_here(db, mode=mode) as service:
        agent = Agent(service, {"run_id": "only-asks", "task": "invoices"})
        agent.loop(5)
        agent.say("end")
        eventually(lambda: stored(db, "runs"), seconds=5, what="the run")
    assert rows(db, "select stop_reason, flagged_reason, status from runs") == [("completed", REASON, "ok")]
    assert rows(db, f"select {COUNTED} from runs") == NOT_KNOWN
    assert value(db, "select severity from alerts where pattern = 'hard_loop'") == "critical"


def test_the_loop_that_the_guard_saw_first_flags_a_traced_run_whose_spans_show_none(db: Path) -> None:
    """What the spans say of the run stays what it is."""
    with serving_here(db) as service:
        agent = Agent(service, headers={"traceparent": PARENT})
        began = time.time_ns()
        agent.loop(5)
        agent.say("end")
        assert service.post(spans_of(root=True, calls=1, began=began)).status == 200
        eventually(lambda: rows(db, "select 1 from runs where flagged_reason is not null"), seconds=5, what="the flag")
        assert rows(db, "select run_id, task, agent, service, tool_calls, stop_reason, flagged_reason from runs") == [
            (TRACE, "asker", "asker", "shop", 1, "completed", REASON)
        ]
        assert rows(db, f"select max(end_unix_nano) = max(end_unix_nano) filter (span_id = '{SPAN}') from spans") == [(True,)]


def test_a_run_that_falls_silent_is_abandoned_though_nobody_asks_any_more(db: Path) -> None:
    policy = Policy(run_idle_timeout_seconds=1)
    with serving_here(db, policy=policy, mode=Mode.ENFORCE, guard_look_seconds=0.1) as service:
        Agent(service, {"run_id": "silent", "task": "t"}).loop(4)
        eventually(lambda: stored(db, "runs"), seconds=20, what="the run")
        assert service.ask("GET", "/v1/guard/report?run_id=silent").status == 404
    assert rows(db, "select run_id, stop_reason from runs") == [("silent", "abandoned")]
    assert rows(db, "select pattern, resolved_at is null from alerts") == [("hard_loop", False)]


@pytest.mark.parametrize("by", ["run_id", "traceparent"])
@pytest.mark.parametrize("first", ["guard", "spans"])
def test_an_agent_that_asks_and_sends_spans_has_one_alert(service: Serving, db: Path, by: str, first: str) -> None:
    """Nothing counts twice, whichever comes first; the run ended as the guard says."""
    agent = Agent(service, {"run_id": "mine"}) if by == "run_id" else Agent(service, headers={"traceparent": PARENT})
    run_id, declared = ("mine", "mine") if by == "run_id" else (TRACE, None)
    began = time.time_ns()
    if first == "spans":
        assert service.post(spans_of(run_id=declared, root=False, calls=4, began=began)).status == 200
        assert stored(db, "alerts")
    agent.loop(9)
    agent.say("end")
    wanted = f"select 1 from runs where run_id = '{run_id}' and stop_reason = '{REASON}'"
    if first == "guard":
        eventually(lambda: stored(db, "alerts"), seconds=5, what="the guard's alert")
    assert service.post(spans_of(run_id=declared, root=True, calls=4, began=began)).status == 200
    eventually(lambda: rows(db, wanted), seconds=5, what="the guard's reason")
    assert rows(db, "select run_id, pattern, count(*) from alerts group by all") == [(run_id, "hard_loop", 1)]
    assert rows(db, "select run_id, steps, tool_calls, flagged_reason from runs") == [(run_id, 4, 4, REASON)]
    assert value(db, "select action from alerts") == "stop"


@pytest.mark.parametrize("by", ["run_id", "traceparent"])
def test_what_the_guard_saw_before_and_after_a_restart_counts_once_when_its_spans_come(db: Path, by: str) -> None:
    """The memory of the first process is gone, so nobody knows how many steps there were, until the spans say it."""
    about, headers = ({"run_id": "mine"}, {}) if by == "run_id" else ({}, {"traceparent": PARENT})
    run_id, declared = ("mine", "mine") if by == "run_id" else (TRACE, None)
    began = time.time_ns()
    with serving_here(db, mode=Mode.ENFORCE) as service:
        assert Agent(service, about, headers).loop(4)[-1] == "nudge"
        eventually(lambda: stored(db, "alerts"), seconds=5, what="the alert")
    with serving_here(db, mode=Mode.ENFORCE) as service:
        agent = Agent(service, about, headers)
        assert agent.loop(9)[-1] == "stop"
        agent.say("end")
        eventually(lambda: rows(db, "select 1 from spans"), seconds=5, what="the end")
        # Of a trace without an agent nobody knows that it is a run.
        assert rows(db, f"select {COUNTED} from runs") == (NOT_KNOWN if by == "run_id" else [])
    with serving_here(db, mode=Mode.ENFORCE) as service:
        for _ in range(2):
            assert service.post(spans_of(run_id=declared, root=True, calls=4, began=began)).status == 200
        assert rows(db, "select run_id, steps, tool_calls, stop_reason from runs") == [(run_id, 4, 4, REASON)]
        assert rows(db, "select run_id, pattern, count(*) from alerts group by all") == [(run_id, "hard_loop", 1)]
    for _ in Replay(db, Policy()).run(timeout_seconds=10):
        pass
    assert rows(db, "select run_id, steps, tool_calls, stop_reason from runs") == [(run_id, 4, 4, REASON)]


def test_an_agents_span_without_calls_does_not_say_that_it_made_none(service: Serving, db: Path) -> None:
    """As of a framework that tells of its agents and not of what they do; where calls come after all, they are counted."""
    agent = Agent(service, {"run_id": "mine"})
    assert service.post(spans_of(run_id="mine", root=True, calls=0, began=time.time_ns())).status == 200
    assert rows(db, "select service, steps, tool_calls from runs") == [("shop", 0, 0)]
    agent.say("turn", input_tokens=900, cost_usd=0.5)
    agent.loop(9)
    agent.say("end")
    eventually(lambda: rows(db, "select 1 from runs where tokens is not null"), seconds=5, what="the run")
    assert rows(db, f"select service, tokens, cost_usd, {COUNTED} from runs") == [("shop", 900, 0.5, *NOT_KNOWN[0])]
    assert service.post(spans_of(run_id="mine", root=True, calls=2, began=time.time_ns())).status == 200
    assert rows(db, "select tokens, steps, tool_calls, model_calls, failed_tool_calls from runs") == [(900, 2, 2, 0, 0)]


def test_a_traced_run_that_ends_well_is_left_to_its_spans(service: Serving, db: Path) -> None:
    agent = Agent(service, headers={"traceparent": PARENT})
    assert agent.call("search", {"q": "x"}) == "continue"
    agent.say("end")
    assert service.post(spans_of(root=True, calls=1, began=time.time_ns())).status == 200
    assert value(db, "select count(*) from spans") == 2
    assert rows(db, "select run_id, stop_reason, tool_calls from runs") == [(TRACE, "completed", 1)]


# What cannot be used.


def test_only_who_brings_the_token_is_answered(db: Path) -> None:
    with serving_here(db, token="secret") as service:
        refused = Agent(service, {"run_id": "r"}).post("step")
        assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert "Authorization" in refused.json["detail"]
        assert service.ask("GET", "/v1/guard/report?run_id=r").status == 401
        assert service.ask("GET", "/v1/openapi.json").status == 200
        assert Agent(service, {"run_id": "r"}, {"Authorization": "Bearer secret"}).post("step").status == 200


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "truncated"),
        (b"[]", "got `array`"),
        (b'{"tool": "t"} x', "trailing"),
        (b'{"run_id": "r"}', "missing required field `tool`"),
        (b'{"run_id": 5, "tool": "t"}', "Expected `str | null`, got `int` - at `$.run_id`"),
        (b'{"run_id": "r", "tool": ""}', "length >= 1"),
        (b'{"run_id": "r", "tool": "t", "arguments": NaN}', "invalid character"),
        (b'{"run_id": "r", "tool": "t", "arguments": 1e999}', "out of range"),
        (b'{"run_id": "r", "tool": "\xff"}', "UTF-8"),
        (b'{"run_id": "r", "tool": "t", "arguments": ' + b"[" * 101 + b"]" * 101 + b"}", "nested deeper"),
        (b'{"run_id": "r", "tool": "t", "arguments": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested deeper"),
        (b'{"run_id": "r", "tool": "t", "arguments": ' + b"[" * 100_000, ""),
        (b'{"run_id": "' + b"r" * 257 + b'", "tool": "t"}', "length <= 256"),
        (b'{"tool": "t", "run_id": ""}', "length >= 1"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(shared: Serving, body: bytes, why: str) -> None:
    refused = shared.post(body, JSON, "/v1/guard/before_tool")
    assert (refused.status, refused.headers["content-type"]) == (400, "application/problem+json")
    assert refused.json["title"] == "Bad Request"
    assert why in refused.json["detail"]


@pytest.mark.parametrize(
    "arguments",
    [
        b"null",
        b"-0.0",
        b'"\\ud800 half of a pair"',
        b'{"\\udfff": "\\ud83d\\ude00 whole"}',
        b"123456789012345678901234567890",
        b'{"": {"": [1, true, "\\u0000"]}}',
        b"[" * 90 + b"]" * 90,
        b'"[[[[' + b"{" * 300 + b'\\""',
        b'"' + b"x" * 1_000_000 + b'"',
    ],
)
def test_arguments_and_results_may_be_any_json(shared: Serving, run: str, arguments: bytes) -> None:
    """Halves of surrogate pairs too: JavaScript writes them where it cuts a text in two."""
    of_run = b'{"run_id": "' + run.encode() + b'", '
    for _ in range(2):
        body = of_run + b'"tool": "t", "unknown": 1, "arguments": ' + arguments + b"}"
        asked = shared.post(body, JSON, "/v1/guard/before_tool")
        assert (asked.status, asked.json["action"]) == (200, "continue")
        body = of_run + b'"result": ' + arguments + b', "call_id": ' + orjson.dumps(asked.json["call_id"]) + b"}"
        assert shared.post(body, JSON, "/v1/guard/after_tool").status == 200
    third = shared.post(of_run + b'"tool": "t", "arguments": ' + arguments + b"}", JSON, "/v1/guard/before_tool")
    assert third.json["advised"]["action"] != "continue", "equal arguments are equal"
    assert shared.ask("GET", f"/v1/guard/report?run_id={run}").json["tool_calls"] == 2


def test_what_is_too_much_is_refused(db: Path) -> None:
    with serving_here(db, guard_body_bytes=1 << 20) as service:
        large = service.post(b'{"run_id": "r", "result": "' + b"x" * (1 << 20) + b'"}', JSON, "/v1/guard/after_tool")
        assert (large.status, large.json["detail"]) == (413, "the body is larger than 1 MiB; send the beginning of the text")
        assert service.post(b"{}", "text/plain", "/v1/guard/step").status == 415
        assert service.post(b"{}", JSON, "/v1/guard/step", Content_Encoding="gzip").status == 415
        wrong = service.ask("GET", "/v1/guard/step")
        assert (wrong.status, wrong.headers["allow"], wrong.json["detail"]) == (
            405,
            "POST",
            "this path does not take GET: use POST",
        )
        astray = service.post(b"{}", JSON, "/v1/guard/nothing")
        assert (astray.status, astray.json["status"], astray.json["title"]) == (404, 404, "Not Found")
        assert "/v1/openapi.json" in astray.json["detail"]
        assert {wrong.headers["content-type"], astray.headers["content-type"]} == {"application/problem+json"}
    with serving_here(db, guard_requests=0) as service:
        full = Agent(service, {"run_id": "r"}).post("step")
        assert (full.status, full.headers["retry-after"]) == (429, "1")


def test_the_log_of_the_service_has_no_secrets(shared: Serving, run: str, caplog: pytest.LogCaptureFixture) -> None:
    secret = SECRETS["github_token"]
    agent = Agent(shared, {"run_id": f"{run} {secret}", "task": f"task {secret}"})
    with caplog.at_level("WARNING", LOGGER):
        for _ in range(5):
            agent.call(f"fetch {secret}", {"q": "x"})
    assert "fetch [redacted:github_token:" in caplog.text
    assert secret not in caplog.text


def test_many_agents_at_once_are_kept_apart(shared: Serving) -> None:
    """Eight threads, each with a run of its own and all with one together."""
    found: dict[int, Any] = {}

    def work(number: int) -> None:
        own = Agent(shared, {"run_id": f"own-{number}"})
        together = Agent(shared, {"run_id": "shared", "agent": f"a{number}"})
        answers = own.loop(6)
        for turn in range(6):
            together.call("read", {"page": turn, "by": number}, f"page {turn}{number} " + f"w{turn}x{number} " * 5)
        found[number] = answers

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [["continue", "continue", "nudge", "nudge", "stop"]] * 8
    assert shared.ask("GET", "/v1/guard/report?run_id=shared").json["tool_calls"] == 48


REASON = "loop_detected:repeated_tool_signature"

COUNTED = (
    "steps, tool_calls, model_calls, failed_tool_calls, flat_steps, longest_flat_streak, open_flat_streak, "
    "repeated_signature_rate, wasted_tokens, wasted_cost_usd"
)
NOT_KNOWN = [(None,) * 10]
"""What is counted of calls, of a run without any: not known, and not 0."""


def stored(db: Path, table: str) -> bool:
    return db.exists() and bool(rows(db, f"select 1 from {table}"))


def test_a_result_that_comes_after_the_next_step_counts_once(shared: Serving, run: str) -> None:
    """Also where `tool` and `arguments` are said as well; an honest agent is not stopped for it."""
    agent = Agent(shared, {"run_id": run})
    said = []
    for number in range(4):
        call = {"call_id": f"c{number}", "tool": "read", "arguments": {"page": 1}}
        assert agent.say("before_tool", **call)["action"] == "continue"
        agent.say("step")
        told = {"call_id": f"c{number}", "result": f"page {number} tells of {number * 77} invoices"}
        said.append(agent.say("after_tool", **told).get("counted_before", False))
        assert agent.say("after_tool", **call | told).get("counted_before", False)
    # The first one had counted by the step: nobody could know yet that this agent tells results.
    assert said == [True, False, False, False]
    report = agent.say("end")
    assert (report["tool_calls"], report["stop_reason"]) == (4, "completed")


def test_what_a_late_result_declares_is_heard_once(shared: Serving, run: str) -> None:
    agent = Agent(shared, {"run_id": run})
    for number in range(2):
        agent.say("before_tool", tool="search", arguments={"q": "x"}, call_id=f"c{number}")
        agent.say("step")
    late = [agent.say("after_tool", call_id="c1", result="found", progress=True) for _ in range(2)]
    assert [one.get("counted_before", False) for one in late] == [True, True]
    assert agent.say("skip_tool", call_id="c0").get("counted_before", False)
    assert agent.say("end")["tool_calls"] == 2


def test_a_call_that_was_said_to_be_made_gets_no_second_count(shared: Serving, run: str) -> None:
    agent = Agent(shared, {"run_id": run})
    for number in range(2):
        agent.say("tool_call", tool="read", arguments={"page": number}, call_id=f"c{number}")
    assert agent.say("after_tool", call_id="c0", tool="read", arguments={"page": 0}, result="x").get("counted_before", False)
    assert not agent.say("after_tool", call_id="c1", result="y").get("counted_before", False)
    assert agent.say("end")["tool_calls"] == 2


def test_progress_after_a_step_is_not_kept_for_a_call_of_the_step_before(shared: Serving, run: str) -> None:
    """A call that stays open may never be told of: progress that is said meanwhile counts at once."""
    agent = Agent(shared, {"run_id": run})
    agent.call("search", {"q": "first"}, "x")
    agent.say("before_tool", tool="search", arguments={"q": "open"}, call_id="open")
    answers = []
    for _ in range(6):
        agent.say("step")
        agent.say("progress", what="tests passed")
        answers.append(agent.call("search", {"q": "x"}))
    assert set(answers) == {"continue"}


def test_workers_of_one_name_take_nothing_from_each_other(shared: Serving, run: str) -> None:
    """A step of one of them leaves the open calls of the others alone."""
    Agent(shared, {"run_id": run, "agent": "worker"}).call("search", {"q": "first"}, "x")
    late: list[bool] = []

    def work(worker: int) -> None:
        agent = Agent(shared, {"run_id": run, "agent": "worker"})
        for number in range(10):
            call_id = f"{worker}-{number}"
            agent.say("before_tool", tool="search", arguments={"q": call_id}, call_id=call_id)
            late.append(agent.say("after_tool", call_id=call_id, result=f"{call_id}: {number * 77}").get("counted_before", False))
            agent.say("step")

    workers = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert (len(late), any(late)) == (60, False)
    assert Agent(shared, {"run_id": run}).say("end")["tool_calls"] == 61


def test_an_agent_that_stops_telling_is_seen_all_the_same(shared: Serving, run: str) -> None:
    """It told one result: its other calls may stay open, but not so that it could repeat itself for ever."""
    agent = Agent(shared, {"run_id": run})
    agent.call("search", {"q": "first"}, "x")
    answers = []
    for number in range(12):
        agent.say("step")
        answers.append(agent.say("before_tool", tool="search", arguments={"q": "x"}, call_id=f"c{number}")["action"])
    assert "nudge" in answers
