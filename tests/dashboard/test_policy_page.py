"""The page of thresholds says which are in force, and what others would have flagged once it is asked for."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from dashboard import data
from dashboard.components.policy import trial as trials
from dashboard.questions import policy as questions
from otel_processor.policy import Policy
from otel_processor.policy_file import load_policy
from otel_processor.recording.recorder import Recorder
from otel_processor.what_if import reading
from otel_processor.what_if.choosing import Choice
from otel_processor.what_if.comparing import what_if
from otel_processor.what_if.fields import policy_with
from tests.dashboard import seed
from tests.dashboard.conftest import open_page, texts
from tests.unit.factory import agent_span, model_span, tool_span

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

    from dashboard.components.policy.trial import Trial
    from otel_processor.what_if.results import Outcome

STRICT = ["hard_loop_repeats:2", "no_progress_alert_steps:2", "no_progress_stop_steps:3"]
LAX = ["hard_loop_repeats:50", "hard_loop_write_repeats:50", "no_progress_alert_steps:40", "no_progress_stop_steps:50"]


def record(db: Path, run: str, times: int, policy: Policy | None = None, *, at: int = 0, **more: str) -> None:
    """A run that makes the same call so many times."""
    root = agent_span(
        f"{run}.root", trace=run, at=at, seconds=900, more={"loop.task": "count", "gen_ai.agent.name": "clerk"} | more
    )
    spans = [root]
    for number in range(times):
        spans.append(model_span(f"{run}.m{number}", trace=run, parent=root.span_id, at=at + 10 * number))
        spans.append(tool_span(f"{run}.{number}", trace=run, parent=root.span_id, at=at + 10 * number + 5))
    assert Recorder(db, policy, clock=lambda: 10**15).record(spans, timeout_seconds=10)


@pytest.fixture
def history(db: Path) -> Path:
    """A healthy run, one that repeats a call twice, one three times, one eight times."""
    for number, times in enumerate((1, 2, 3, 8)):
        record(db, f"run{times}", times, at=1_000 * number)
    return db


def page(*changes: str, **parameters: str) -> AppTest:
    return (
        open_page("views/policy.py", **parameters, set=list(changes)) if changes else open_page("views/policy.py", **parameters)
    )


def trial_of(shown: AppTest) -> Trial | None:
    found: Trial | None = shown.session_state.get("policy trial")
    return found


def run_button(shown: AppTest) -> Any:
    return shown.button(key="policy run")


def judged(shown: AppTest) -> Outcome:
    """Press the button, wait for the end, and see the result on the page."""
    run_button(shown).click().run()
    begun = trial_of(shown)
    assert begun is not None
    assert begun.wait(60)
    shown.run()
    assert not shown.exception
    assert begun.outcome is not None, begun.problem
    return begun.outcome


def metrics(shown: AppTest) -> dict[str, str]:
    return {metric.label: str(metric.value) for metric in shown.metric}


def frame_with(shown: AppTest, column: str) -> Any:
    return next(frame.value for frame in shown.dataframe if column in frame.value.columns)


def address(shown: AppTest, name: str) -> list[str]:
    value = shown.query_params.get(name, [])
    return [value] if isinstance(value, str) else list(value)


def test_all_at_defaults_is_said_and_each_threshold_explained(history: Path) -> None:
    shown = page()
    assert not shown.exception
    said = texts(shown)
    assert f"4 chosen runs were judged by the policy {Policy().hash}" in said
    assert "All thresholds are at their defaults." in said
    cells = [str(cell) for table in shown.table for cell in table.value.iloc[:, 0]]
    assert any("`hard_loop_repeats`" in cell and "Two can be an honest second look" in cell for cell in cells)
    assert not any("badge" in str(value) for table in shown.table for value in table.value.iloc[:, 1])


def test_what_differs_from_the_defaults_is_marked_and_task_types_have_their_own(db: Path) -> None:
    policy = Policy(hard_loop_repeats=7, effects={"look": "poll"}, task_types={"research": {"max_steps": 9}})
    record(db, "plain", 1, policy)
    record(db, "typed", 1, policy, at=1_000, **{"loop.task.type": "research"})
    shown = page()
    assert not shown.exception
    assert f"2 chosen runs were judged by the policy {policy.hash}" in texts(shown)
    differing = shown.table[0].value
    assert [str(cell).split()[0] for cell in differing.iloc[:, 0]] == ["`hard_loop_repeats`"]
    assert list(differing.iloc[0, 1:]) == [":orange-badge[7]", "3"]
    assert frame_with(shown, "type").to_dict("records") == [
        {"type": "research", "runs": 1, "field": "max_steps", "value": "9", "otherwise": "off"}
    ]
    assert frame_with(shown, "name").to_dict("records") == [{"field": "effects", "name": "look", "value": "poll"}]


def test_several_policies_are_told_apart_and_one_is_chosen_by_the_address(db: Path) -> None:
    older, newer = Policy(hard_loop_repeats=5), Policy(max_steps=30)
    record(db, "first", 1, older)
    record(db, "second", 1, newer, at=5_000)
    shown = page()
    assert list(frame_with(shown, "differs")["differs"]) == ["max_steps", "hard_loop_repeats"]
    assert "`max_steps`" in str(shown.table[0].value.iloc[0, 0])
    linked = page(policy=older.hash)
    assert "`hard_loop_repeats`" in str(linked.table[0].value.iloc[0, 0])
    assert linked.number_input(key="policy hard_loop_repeats 1").value == 5


def test_runs_whose_policy_is_not_stored_say_so_and_are_compared_with_the_defaults(seeded_db: Path) -> None:
    shown = page()
    assert not shown.exception
    said = texts(shown)
    assert "judged before policies were stored" in said
    assert "yours is compared with the defaults" in said
    assert not shown.table


def test_a_link_changes_thresholds_and_judges_nothing(history: Path) -> None:
    shown = page(*STRICT, of="1000")
    assert not shown.exception
    assert "To try: hard_loop_repeats: 3 → 2; no_progress_alert_steps: 4 → 2; no_progress_stop_steps: 5 → 3" in texts(shown)
    assert trial_of(shown) is None
    assert not shown.metric
    assert not run_button(shown).disabled


@pytest.mark.parametrize("changes", [STRICT, LAX], ids=["stricter", "laxer"])
def test_it_counts_what_the_engine_counts(history: Path, changes: list[str]) -> None:
    shown = page(*changes)
    found = judged(shown)
    values = {name: int(value) for name, _, value in (change.partition(":") for change in changes)}
    expected = what_if(history, Policy(), policy_with(values), Choice())
    assert found.outcomes == expected.outcomes
    more = changes is STRICT
    assert (expected.flagged_after > expected.flagged_before) is more
    assert metrics(shown) == {
        "Judged runs": "4",
        "Flagged": "2 → 3" if more else "2 → 0",
        "Newly flagged": "1" if more else "0",
        "No longer flagged": "0" if more else "2",
        "Advised to stop": "2 → 3" if more else "2 → 0",
    }
    counts = frame_with(shown, "no_longer").set_index("pattern")
    assert list(counts.loc["Repeated call"]) == ([2, 3, 1, 0] if more else [2, 0, 0, 2])
    listed = frame_with(shown, "message")
    assert list(listed["run"]) == (["run?run=run2&step=2"] if more else ["run?run=run8&step=3", "run?run=run3&step=3"])
    assert "with the same arguments" in listed["message"].iloc[0]
    if more:
        otherwise = shown.dataframe[-1].value
        assert list(otherwise["run"]) == ["run?run=run8&step=2", "run?run=run3&step=2"]
        assert "Repeated call at step 3" in otherwise["before"].iloc[0]


def test_the_policy_in_force_itself_can_be_judged_and_runs_left_out_are_told(history: Path) -> None:
    shown = page(agent="clerk", of="100")
    judged(shown)
    assert "Tried: the policy in force itself. agent clerk" in texts(shown)
    assert metrics(shown)["Flagged"] == "2"
    begun = trial_of(shown)
    assert begun is not None
    assert (begun.question.choice.runs, begun.question.choice.agent, begun.question.choice.task) == (100, "clerk", None)


def test_filters_that_it_does_not_obey_are_told(history: Path) -> None:
    assert "counts for nothing here" not in texts(page(task="count")).replace("count for nothing", "counts for nothing")
    assert "several names count for nothing here" in texts(page(service="shop"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("hard_loop_repeats:1", "policy.hard_loop_repeats is 1; it must be a whole number of at least 2"),
        ("hard_loop_repeats:many", "policy.hard_loop_repeats is 'many'; it must be a whole number of at least 2"),
        ("hard_loop_repeats:", "policy.hard_loop_repeats is None"),
        ("soft_loop_similarity:1.5", "policy.soft_loop_similarity is 1.5; it must be a share from 0 to 1"),
        ("max_cost_usd:inf", "policy.max_cost_usd is 'inf'"),
        ("max_tokens:" + "9" * 400, "policy.max_tokens is '999"),
        ("repeat_scope:never", "policy.repeat_scope is 'never'; use one of change, consecutive, run"),
        ("patterns:hard_lop", "policy.patterns holds 'hard_lop'; did you mean hard_loop?"),
        ("no_progress_alert_steps:9", "policy.no_progress_stop_steps must not be below policy.no_progress_alert_steps"),
        ("cycle_rounds:999", "policy.cycle_rounds is 999; here it must be at most 50"),
    ],
)
def test_a_value_that_cannot_be_is_told_and_not_judged(history: Path, change: str, told: str) -> None:
    shown = page(change)
    assert not shown.exception
    assert told in texts(shown)
    assert run_button(shown).disabled
    assert not [code for code in shown.code if "hard_loop" in code.value]
    assert address(shown, "set") == [change]


def test_what_is_typed_stands_in_the_address_and_can_be_taken_back(history: Path) -> None:
    shown = page()
    shown.number_input(key="policy hard_loop_repeats 1").set_value(1).run()
    assert "it must be a whole number of at least 2" in texts(shown)
    assert run_button(shown).disabled
    shown.number_input(key="policy hard_loop_repeats 1").set_value(4).run()
    shown.number_input(key="policy max_steps 1").set_value(12).run()
    assert address(shown, "set") == ["hard_loop_repeats:4", "max_steps:12"]
    assert "Instead of 3" in texts(shown)
    assert not run_button(shown).disabled
    shown.button(key="policy reset").click().run()
    assert address(shown, "set") == []
    assert shown.number_input(key="policy hard_loop_repeats 2").value == 3
    assert "To try" not in texts(shown)


def test_a_part_of_the_address_that_is_no_threshold_is_told(history: Path) -> None:
    shown = page("prices:5", "hard_lop_repeats:3", "x", "hard_loop_repeats:4")
    assert not shown.exception
    said = texts(shown)
    for part in ("prices:5", "hard_lop_repeats:3", "x"):
        assert f"The link sets {part}, which is no threshold" in said
    assert "To try: hard_loop_repeats: 3 → 4" in said


def test_a_preset_is_a_start_and_the_file_makes_the_same_policy(history: Path, tmp_path: Path) -> None:
    shown = page("max_steps:5")
    shown.selectbox(key="policy start 1").set_value("three_signals").run()
    assert (address(shown, "start"), address(shown, "set")) == (["three_signals"], [])
    shown.number_input(key="policy max_steps 2").set_value(40).run()
    assert address(shown, "set") == ["max_steps:40"]
    file = tmp_path / "policy.toml"
    file.write_text(shown.code[0].value, encoding="utf-8")
    assert load_policy(file) == Policy.preset("three_signals", max_steps=40)
    assert "OTEL_PROCESSOR_POLICY=policy.toml" in texts(shown)
    linked = page(start="three_signals")
    assert linked.selectbox(key="policy start 1").value == "three_signals"


class Held:
    """What-ifs that wait after their first run."""

    def __init__(self) -> None:
        self.waits = threading.Event()
        self.go_on = threading.Event()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """What-ifs that wait after their first run until they are told to go on."""
    monkeypatch.setattr(reading, "SPANS_AT_ONCE", 1)
    held = Held()
    judge = questions.judged

    def slowly(*asked: Any, on_progress: Any, cancel: threading.Event) -> Outcome:
        def told(done: int, of: int) -> None:
            on_progress(done, of)
            held.waits.set()
            assert held.go_on.wait(60)

        return judge(*asked, on_progress=told, cancel=cancel)

    monkeypatch.setattr(questions, "judged", slowly)
    yield held
    held.go_on.set()


def test_it_is_cancelled_with_the_counts_so_far(history: Path, held: Held) -> None:
    shown = page(*STRICT)
    run_button(shown).click().run()
    assert held.waits.wait(60)
    shown.run()
    assert not shown.exception
    assert run_button(shown).disabled
    assert "1 of 4 runs judged" in shown.get("progress")[0].proto.text
    begun = trial_of(shown)
    shown.button(key="policy cancel").click().run()
    assert "It stops after the runs that it is at." in texts(shown)
    held.go_on.set()
    assert begun is not None
    assert begun.wait(60)
    shown.run()
    assert not shown.exception
    assert "Cancelled: these are the counts of the runs judged so far." in texts(shown)
    assert metrics(shown)["Judged runs"] == "1"
    assert "3 runs were not judged any more." in texts(shown)
    assert not run_button(shown).disabled


def test_few_are_judged_at_once(history: Path, held: Held) -> None:
    begun = []
    for _ in range(trials.MOST_AT_ONCE):
        shown = page(*STRICT)
        run_button(shown).click().run()
        begun.append(trial_of(shown))
    one_more = page(*STRICT)
    run_button(one_more).click().run()
    assert trial_of(one_more) is None
    assert "Others are trying thresholds at this moment." in texts(one_more)
    held.go_on.set()
    assert all(each is not None and each.wait(60) for each in begun)
    judged(one_more)
    assert metrics(one_more)["Judged runs"] == "4"


def test_without_a_database_and_without_runs_it_says_what_to_do(db: Path) -> None:
    missing = page(*STRICT)
    assert not missing.exception
    assert "No database yet" in texts(missing)
    seed.create(db)
    data.forget()
    empty = page(*STRICT)
    assert not empty.exception
    assert "No runs yet" in texts(empty)


def test_texts_of_others_are_shown_and_do_not_act(db: Path) -> None:
    hostile = seed.HOSTILE_TEXT
    policy = Policy(volatile_keys=frozenset({hostile}), effects={hostile: "poll"}, task_types={hostile: {"hard_loop_repeats": 5}})
    more = {"loop.task": hostile, "gen_ai.agent.name": hostile}
    for number in range(2):
        record(db, f"run{number}", 3, policy, at=1_000 * number, **more)
    shown = page("hard_loop_repeats:2", f"repeat_scope:{hostile}", hostile)
    assert not shown.exception
    shown.selectbox(key="policy repeat_scope 1").set_value("run").run()
    judged(shown)
    elements = [shown.markdown, shown.caption, shown.info, shown.warning, shown.error, shown.subheader, shown.header, shown.title]
    read_as_markdown = [str(element.value) for kind in elements for element in kind]
    read_as_markdown += [str(cell) for table in shown.table for cell in table.value.to_numpy().flatten()]
    assert not [text for text in read_as_markdown if "script" in text or "example.com" in text]
    everything = texts(shown) + "".join(frame.value.to_csv() for frame in shown.dataframe)
    assert "<script>" in everything
    assert not {"\x1b", "\u202e"} & set(everything)


def test_it_speaks_spanish(history: Path) -> None:
    shown = page(*STRICT, lang="es")
    judged(shown)
    said = texts(shown)
    assert "Umbrales en vigor" in [header.value for header in shown.header]
    assert "Para probar: hard_loop_repeats: 3 → 2" in said
    assert metrics(shown)["Marcadas"] == "2 → 3"
