"""What other thresholds would have flagged over stored runs."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

import pytest

from otel_processor.errors import StoreError
from otel_processor.policy import Policy
from otel_processor.recording.recorder import Recorder
from otel_processor.store.database import Database
from otel_processor.what_if import reading
from otel_processor.what_if.choosing import Choice
from otel_processor.what_if.comparing import what_if
from otel_processor.what_if.results import FirstVerdict, LeftOut, Outcome
from tests.integration import processes
from tests.integration.stored import rows, value
from tests.integration.test_parity import NAMES, SCENARIOS, run_live
from tests.unit.factory import agent_span, model_span, tool_span

if TYPE_CHECKING:
    from pathlib import Path

    from otel_processor.model import SpanRecord

LAX = Policy(hard_loop_repeats=50, hard_loop_write_repeats=50, no_progress_alert_steps=40, no_progress_stop_steps=50)
STRICT = Policy(hard_loop_repeats=2, no_progress_alert_steps=2, no_progress_stop_steps=3)


def loop(run: str, times: int, *, at: int = 0, task: str = "count", agent: str = "clerk") -> list[SpanRecord]:
    """A run that makes the same call so many times."""
    more = {"loop.task": task, "gen_ai.agent.name": agent}
    spans = [agent_span(f"{run}.root", trace=run, at=at, seconds=900, more=more)]
    for number in range(times):
        spans.append(model_span(f"{run}.m{number}", trace=run, parent=f"{run}.root", at=at + 10 * number))
        spans.append(tool_span(f"{run}.{number}", trace=run, parent=f"{run}.root", at=at + 10 * number + 5))
    return spans


def record(db: Path, spans: list[SpanRecord], policy: Policy | None = None) -> None:
    assert Recorder(db, policy, clock=lambda: 10**15).record(spans, timeout_seconds=10)


@pytest.fixture
def history(db: Path) -> Path:
    """A healthy run, one that repeats a call twice, one three times, one eight times."""
    for number, times in enumerate((1, 2, 3, 8)):
        record(db, loop(f"run{times}", times, at=1_000 * number, agent="clerk" if times < 8 else "robot"))
    return db


def stored_alerts(db: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {run_id: set() for (run_id,) in rows(db, "select run_id from run_rows")}
    for run_id, pattern in rows(db, "select run_id, pattern from alerts"):
        found[run_id].add(pattern)
    return found


def flagged(outcome: Outcome, side: str) -> dict[str, set[str]]:
    judged = {run.run_id: set(getattr(run, side).patterns) for run in outcome.outcomes}
    return {run_id: patterns for run_id, patterns in judged.items() if patterns}


@pytest.mark.parametrize("name", NAMES)
def test_under_the_policy_in_force_it_says_what_the_recorder_said(name: str, db: Path) -> None:
    (scenario,) = (each for each in SCENARIOS if each.__name__ == name)
    spans = run_live(scenario, db)
    fresh = db.with_name("fresh.duckdb")
    record(fresh, spans)
    outcome = what_if(fresh, Policy(), Policy())
    told = stored_alerts(fresh)
    assert outcome.left_out == {}
    assert (outcome.runs, outcome.spans) == (len(told), len(spans))
    assert flagged(outcome, "before") == flagged(outcome, "after") == {run: said for run, said in told.items() if said}
    assert not any(run.differs for run in outcome.outcomes)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("policy", [LAX, STRICT], ids=["lax", "strict"])
def test_under_another_policy_it_says_what_the_recorder_would_have_said(name: str, policy: Policy, db: Path) -> None:
    (scenario,) = (each for each in SCENARIOS if each.__name__ == name)
    spans = run_live(scenario, db)
    fresh = db.with_name("fresh.duckdb")
    record(fresh, spans, policy)
    outcome = what_if(db, Policy(), policy)
    assert flagged(outcome, "after") == {run: said for run, said in stored_alerts(fresh).items() if said}


def test_a_stricter_policy_flags_more_and_earlier(history: Path) -> None:
    outcome = what_if(history, Policy(), STRICT)
    assert (outcome.flagged_before, outcome.flagged_after, outcome.newly, outcome.no_longer) == (2, 3, 1, 0)
    by_run = {run.run_id: run for run in outcome.outcomes}
    assert set(by_run) == {"run2", "run3", "run8"}
    assert by_run["run2"].before.first is None
    assert by_run["run2"].after.first == FirstVerdict(
        "hard_loop",
        "stop",
        2,
        (60 + 15 + 1_000 + 1) * 10**9,
        "search was called 2 times with the same arguments and nothing new came back",
    )
    steps = [
        (run.run_id, run.before.first and run.before.first.step, run.after.first and run.after.first.step)
        for run in outcome.outcomes
    ]
    assert steps == [("run8", 3, 2), ("run3", 3, 2), ("run2", None, 2)]
    counts = {count.pattern: (count.before, count.after, count.newly, count.no_longer) for count in outcome.patterns}
    assert counts["hard_loop"] == (2, 3, 1, 0)
    assert counts["cycle"] == (0, 0, 0, 0)
    assert (outcome.stops_before, outcome.stops_after) == (2, 3)


def test_a_laxer_policy_flags_less(history: Path) -> None:
    outcome = what_if(history, Policy(), LAX)
    assert (outcome.flagged_before, outcome.flagged_after, outcome.newly, outcome.no_longer) == (2, 0, 0, 2)
    assert (outcome.stops_before, outcome.stops_after) == (2, 0)
    assert all(run.differs and run.after.first is None for run in outcome.outcomes)


def test_it_is_for_some_runs(history: Path) -> None:
    newest = what_if(history, Policy(), STRICT, Choice(runs=1))
    assert ([run.run_id for run in newest.outcomes], newest.left_out) == (["run8"], {LeftOut.NOT_ASKED: 3})
    clerk = what_if(history, Policy(), STRICT, Choice(agent="clerk"))
    assert (clerk.runs, clerk.left_out) == (3, {})
    assert what_if(history, Policy(), STRICT, Choice(task="nothing")).runs == 0
    few = what_if(history, Policy(), STRICT, Choice(spans=20))
    assert few.left_out == {LeftOut.TOO_MANY_SPANS: 2}
    assert few.spans <= 20
    assert (Choice(runs=10**9).bounded_runs, Choice(spans=10**9).bounded_spans) == (2_000, 200_000)


def test_texts_that_are_too_long_for_memory_are_left_out_and_others_read_later(
    history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BYTES_AT_ONCE", 1)
    whole = what_if(history, Policy(), STRICT)
    assert (whole.runs, whole.flagged_after, whole.left_out) == (4, 3, {})
    monkeypatch.setattr(reading, "BYTES_AT_MOST", 1)
    assert what_if(history, Policy(), STRICT).left_out == {LeftOut.TOO_LARGE: 4}


def test_a_declared_run_over_several_traces_is_judged_whole(db: Path) -> None:
    declared = {"loop.run.id": "mine"}
    record(db, [tool_span(str(number), trace=f"t{number}", at=number, more=declared) for number in range(3)])
    outcome = what_if(db, Policy(), LAX)
    assert flagged(outcome, "before") == {"mine": {"hard_loop"}}
    assert flagged(outcome, "after") == {}


def test_a_conversation_stays_the_run_that_it_is(db: Path) -> None:
    talk = {"gen_ai.conversation.id": "talk"}
    spans = [tool_span(f"m{number}", trace=f"m{number}", at=100 * number, more=talk) for number in (0, 1, 2, 30, 31, 32)]
    record(db, spans, Policy(run_idle_timeout_seconds=150))
    runs = {run_id for (run_id,) in rows(db, "select run_id from run_rows")}
    outcome = what_if(db, Policy(run_idle_timeout_seconds=1), Policy(run_idle_timeout_seconds=10**6, hard_loop_repeats=4))
    assert (outcome.runs, outcome.left_out) == (len(runs), {})
    assert flagged(outcome, "before") == stored_alerts(db)
    assert flagged(outcome, "after") == {}


def test_what_was_cut_is_compared_as_it_was(db: Path) -> None:
    """Two long answers that differ behind the cut are two answers; stored, they look alike."""
    long = "word " * 20_000
    answers = [tool_span(str(number), f"read:page={long}{'new ' * number}{number}", at=number) for number in range(4)]
    record(db, answers)
    assert value(db, "select count(*) from spans where cut is not null") == 4
    outcome = what_if(db, Policy(), Policy())
    assert flagged(outcome, "before") == {run: said for run, said in stored_alerts(db).items() if said}


def test_spending_far_above_the_tasks_own_history_is_known(db: Path) -> None:
    for number in range(4):
        spans = loop(f"done{number}", 1, at=1_000 * number)
        record(db, spans)
    reads = [tool_span(f"x{n}", f"read:{n}=line {n}", trace="long", parent="x", at=9_000 + n) for n in range(9)]
    models = [model_span(f"y{n}", trace="long", parent="x", at=9_000 + n) for n in range(9)]
    root = agent_span("x", trace="long", at=8_999, seconds=900, more={"loop.task": "count"})
    candidate = Policy(spend_spike_runs=4)
    record(db, [root, *reads, *models], candidate)
    outcome = what_if(db, Policy(), candidate)
    assert flagged(outcome, "before") == {}
    assert (
        flagged(outcome, "after") == {"long": {"spend_spike"}} == {run: said for run, said in stored_alerts(db).items() if said}
    )


def test_nothing_is_written_and_writers_get_in(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = history.read_bytes()
    what_if(history, Policy(), STRICT)
    assert history.read_bytes() == before
    monkeypatch.setattr(reading, "SPANS_AT_ONCE", 1)
    wrote = []

    def write(done: int, of: int) -> None:
        with Database(history).write(timeout_seconds=0):
            wrote.append((done, of))

    what_if(history, Policy(), STRICT, on_progress=write)
    assert wrote == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_it_can_be_cancelled(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SPANS_AT_ONCE", 1)
    cancel = threading.Event()

    def stop(done: int, _: int) -> None:
        if done == 2:
            cancel.set()

    outcome = what_if(history, Policy(), STRICT, on_progress=stop, cancel=cancel)
    assert (outcome.runs, outcome.left_out, outcome.was_cancelled) == (2, {LeftOut.CANCELLED: 2}, True)
    assert {run.run_id for run in outcome.outcomes} == {"run8", "run3"}


def test_a_bug_costs_the_run_that_it_is_about(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from otel_processor.runs.ledger import Ledger

    apply = Ledger.apply

    def failing(self: Ledger, spans: Any) -> Any:
        spans = list(spans)
        if any(read.span.trace_id == "run3" for read in spans):
            raise RuntimeError("a bug")
        return apply(self, spans)

    monkeypatch.setattr(Ledger, "apply", failing)
    outcome = what_if(history, Policy(), STRICT)
    assert (outcome.runs, outcome.left_out) == (3, {LeftOut.BUG: 1})


def test_no_database_and_an_empty_one(db: Path) -> None:
    with pytest.raises(StoreError, match="no database"):
        what_if(db, Policy(), STRICT)
    with Database(db).write(timeout_seconds=5):
        pass
    outcome = what_if(db, Policy(), STRICT)
    assert (outcome.runs, outcome.outcomes, outcome.left_out) == (0, (), {})


def test_what_the_docs_show_works(history: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = (processes.ROOT / "docs/detection.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```python\n(.*?what_if.*?)```", text, re.DOTALL)
    monkeypatch.chdir(history.parent)
    exec(shown.replace(', task="research"', ""), {})
    first, *others = capsys.readouterr().out.splitlines()
    assert first == "2 1 0 1"
    assert [line.split()[0] for line in others] == ["run8", "run3"]
