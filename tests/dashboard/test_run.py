"""The run page shows one run from its address, and whatever its text says stays text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from dashboard import data
from dashboard.questions import run as questions
from otel_processor.store.database import Database
from otel_processor.store.totals import recount
from tests.dashboard import seed
from tests.dashboard.conftest import parameter, run_page, texts

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from streamlit.testing.v1 import AppTest


def bars(page: AppTest) -> dict[str, list[object]]:
    """The bars of the timeline that a page shows."""
    figure = json.loads(page.get("plotly_chart")[0].proto.spec)
    found: dict[str, list[object]] = next(trace for trace in figure["data"] if trace["type"] == "bar")
    return found


def test_without_a_run_the_reader_chooses_one(seeded_db: Path) -> None:
    page = run_page(None)
    assert not page.exception
    assert not page.get("plotly_chart")
    page.selectbox[0].set_value(seed.HEALTHY).run()
    assert not page.exception
    assert parameter(page, "run") == seed.HEALTHY
    assert page.get("plotly_chart")


def test_without_a_database_it_says_how_to_get_one(db: Path) -> None:
    page = run_page(None)
    assert not page.exception
    assert "No database yet" in texts(page)
    page = run_page(seed.HEALTHY)
    assert not page.exception
    assert "No database yet" in texts(page)


def test_without_runs_it_says_so(empty_db: Path) -> None:
    page = run_page(None)
    assert not page.exception
    assert "No runs yet" in texts(page)


def test_a_run_that_is_not_there_is_told_as_such(seeded_db: Path) -> None:
    page = run_page("<script>alert(1)</script>")
    assert not page.exception
    assert "No such run" in texts(page)


def test_a_looping_run_shows_its_verdict_and_its_loop(seeded_db: Path) -> None:
    page = run_page(seed.LOOPING)
    assert not page.exception
    seen = texts(page)
    assert "search was called 3 times with the same arguments" in seen
    assert "\nrepeated call (loop_detected:repeated_tool_signature)" in seen
    assert "7 times search, steps 1 to 7" in seen
    numbers = {metric.label: metric.value for metric in page.metric}
    assert (numbers["Steps"], numbers["Longest flat streak"], numbers["Repeated calls"]) == ("7", "6", "86 %")


def test_the_step_of_the_first_verdict_is_open_at_first(seeded_db: Path) -> None:
    page = run_page(seed.LOOPING)
    assert page.number_input[0].value == 4
    assert "brought nothing new" in texts(page)


def test_a_step_can_be_chosen_and_stands_in_the_address(seeded_db: Path) -> None:
    page = run_page(seed.HEALTHY, step="1")
    assert '"q": "cats"' in texts(page)
    page.number_input[0].set_value(2).run()
    assert not page.exception
    assert '"page": 1' in texts(page)
    assert parameter(page, "step") == "2"


def test_a_step_that_does_not_exist_shows_the_last(seeded_db: Path) -> None:
    for asked in ("999", "-3", "<b>"):
        page = run_page(seed.HEALTHY, step=asked)
        assert not page.exception
        assert page.number_input[0].value == 3


def test_a_run_without_usage_is_not_called_free(seeded_db: Path) -> None:
    page = run_page(seed.NO_USAGE)
    numbers = {metric.label: metric.value for metric in page.metric}
    assert (numbers["Tokens"], numbers["Cost"]) == ("-", "-")
    assert "usage not reported" in texts(page)


def test_parallel_calls_of_a_step_are_all_drawn_and_read(seeded_db: Path) -> None:
    page = run_page(seed.PARALLEL, step="1")
    assert not page.exception
    for word in ("ants", "bees", "cows"):
        assert f'"q": "{word}"' in texts(page)
    drawn = bars(page)
    assert len(set(zip(map(str, drawn["x"]), map(str, drawn["base"]), strict=True))) == 5


def test_the_lanes_of_two_agents_are_told_apart(seeded_db: Path) -> None:
    page = run_page(seed.TWO_AGENTS)
    assert not page.exception
    layout = json.loads(page.get("plotly_chart")[0].proto.spec)["layout"]
    assert layout["yaxis"]["ticktext"] == ["planner: search", "worker: search"]


def test_hostile_text_stays_text(seeded_db: Path) -> None:
    page = run_page(seed.HOSTILE, step="1")
    assert not page.exception
    # Only these are read as Markdown or HTML: none of them may hold what somebody else wrote.
    read_as_markup = [
        str(element.value) for kind in (page.markdown, page.caption, page.title, page.subheader) for element in kind
    ]
    read_as_markup += [element.proto.body for element in page.get("html")]
    for text in read_as_markup:
        assert "<script" not in text
        assert "](https" not in text
        assert "\x1b" not in text
    code = "\n".join(element.value for element in page.code)
    assert "<script>alert('run')</script>" in code
    for acting in ("\x1b", "\u202e"):
        assert acting not in texts(page)
    spec = page.get("plotly_chart")[0].proto.spec
    assert "<script" not in json.loads(spec)["data"][0]["hovertext"][1]


def test_a_long_result_is_cut_with_a_note(seeded_db: Path) -> None:
    page = run_page(seed.HOSTILE, step="2")
    assert "these are the first 20,000 of 1,000,000 characters" in texts(page)
    assert max(len(element.value) for element in page.code) == 20_000


def test_ten_thousand_steps_are_read_and_drawn_five_hundred_at_a_time(db: Path) -> None:
    long_run = "9" * 32
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, long_run, [seed.model(1)])
        connection.execute(
            "insert into call_rows (trace_id, span_id, step, kind, tool, is_error, flat_steps, signature, end_unix_nano) "
            "select $run, printf('%016x', i), i, 'tool', 'search', false, 0, printf('%064x', i % 50), i * 1000000 "
            "from range(2, 10001) as t(i)",
            {"run": long_run},
        )
        recount(connection, [long_run], first_end_ns=0)
    page = run_page(long_run)
    assert not page.exception
    assert len(bars(page)["x"]) == 500
    assert len(page.dataframe[0].value) == 500
    assert page.number_input[0].value == 10_000
    page.selectbox(key=f"block {long_run}").set_value(1).run()
    assert not page.exception
    assert len(bars(page)["x"]) == 500
    assert min(page.dataframe[0].value["step"]) == 1


def test_a_link_to_an_early_step_of_a_long_run_shows_its_page(db: Path) -> None:
    long_run = "8" * 32
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, long_run, [])
        connection.execute(
            "insert into call_rows (trace_id, span_id, step, kind, tool, is_error, flat_steps, end_unix_nano) "
            "select $run, printf('%016x', i), i, 'tool', 'search', false, 0, i from range(1, 1201) as t(i)",
            {"run": long_run},
        )
        recount(connection, [long_run], first_end_ns=0)
    page = run_page(long_run, step="7")
    assert list(page.dataframe[0].value["step"])[:3] == [1, 2, 3]


def test_a_run_without_calls_yet_says_so(db: Path) -> None:
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, seed.HEALTHY, [], status="running", stop_reason="running", ended_at=None)
    page = run_page(seed.HEALTHY)
    assert not page.exception
    assert "No call of this run was recorded yet." in texts(page)


def test_a_run_whose_agent_only_asked_the_guard_says_so(db: Path) -> None:
    reason = "loop_detected:repeated_tool_signature"
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(
            connection, seed.HEALTHY, [], service="otel_processor.guard", stop_reason=reason, flagged_reason=reason,
            root_input_tokens=900,
        )  # fmt: skip
        seed.add_alert(connection, seed.HEALTHY, 0, agent=None)
    page = run_page(seed.HEALTHY)
    assert not page.exception
    seen = texts(page)
    assert "The agent of this run only asked the guard." in seen
    assert "recorded yet" not in seen
    assert "Step" not in re.sub("see its steps", "", seen).replace("Steps", "")
    assert "agent researcher, tool search" in seen
    numbers = {metric.label: metric.value for metric in page.metric}
    assert {numbers[label] for label in ("Steps", "Longest flat streak", "Tool calls", "Repeated calls")} == {"-"}
    assert numbers["Tokens"] == "900"


def test_a_run_without_content_says_so(db: Path) -> None:
    stand_in = "[withheld:h1ghij:812]"
    calls = [seed.model(1, content="off"), seed.tool(1, "search", stand_in, stand_in, content="off")]
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, seed.HEALTHY, calls)
    seen = texts(run_page(seed.HEALTHY))
    assert "Content of this run was not kept" in seen
    assert seen.count("only hashes and lengths are stored") == 2
    assert "What the model said was not recorded" not in seen


CLOCK = "4" * 32


def seed_clock(db: Path) -> None:
    """A run that asks the same thing five times, and each time the hour alone is another."""
    calls = []
    for step in range(1, 6):
        result = f"Status of the export: waiting. Seen at 12:00:0{step}. {'The queue is long. ' * 40}"
        calls += [
            seed.model(step, cost_usd=0.01, cache_read_tokens=400, finish_reason="tool_calls"),
            seed.tool(step, "status", {"job": 7}, result, progress=step == 1, repeats=step, flat_steps=step - 1),
        ]
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, CLOCK, calls, task="watch", status="ok")


def add_span(db: Path, run_id: str, position: int, attributes: dict[str, object], **columns: object) -> None:
    """Insert the span of one call."""
    row = {
        "trace_id": run_id,
        "span_id": seed.span_id_of(run_id, position),
        "name": "chat",
        "kind": "INTERNAL",
        "start_unix_nano": 1,
        "end_unix_nano": 2,
        "status": "UNSET",
        "scope": "test",
        "attributes": json.dumps(attributes),
        "events": "[]",
        "resource": "{}",
        "received_at": "2026-01-01T00:00:00Z",
    }
    with Database(db).write(timeout_seconds=10) as connection:
        seed.insert(connection, "spans", row | columns)


def markup(page: AppTest) -> list[str]:
    """The texts with marked differences on a page."""
    return [element.proto.body for element in page.get("html") if "pre-wrap" in element.proto.body]


def test_a_repeated_call_stands_beside_the_last_one_that_it_repeats(db: Path) -> None:
    seed_clock(db)
    page = run_page(CLOCK, step="4")
    assert not page.exception
    seen = texts(page)
    assert "Same arguments as step 3; the result differs only in: 12:00:03 → 12:00:04" in seen
    before, after = markup(page)
    assert re.findall(r"<del[^>]*>([^<]*)</del>", before) == ["12:00:03"]
    assert re.findall(r"<ins[^>]*>([^<]*)</ins>", after) == ["12:00:04"]
    assert "equal characters …" in before
    assert "equal characters …" in after
    page.toggle[0].set_value(True).run()
    assert "equal characters …" not in markup(page)[0]


def test_what_it_is_compared_with_can_be_chosen(db: Path) -> None:
    seed_clock(db)
    page = run_page(CLOCK, step="5")
    choice = next(box for box in page.selectbox if box.label == "Compare with")
    assert choice.options == [
        "nothing: show this call alone",
        *(f"step {step}: same arguments" for step in (4, 3, 2, 1)),
    ]
    choice.set_value(2).run()
    assert not page.exception
    assert "Same arguments as step 1" not in texts(page)
    assert "Same arguments as step 2; the result differs only in: 12:00:02 → 12:00:05" in texts(page)
    next(box for box in page.selectbox if box.label == "Compare with").set_value(-1).run()
    assert markup(page) == []
    assert "Seen at 12:00:05" in texts(page)


def test_calls_of_one_step_can_be_told_apart_in_the_choice(db: Path) -> None:
    calls = [*(seed.tool(1, "search", {"q": word}) for word in ("ants", "bees", "cows")), seed.tool(2, "search", {"q": "dogs"})]
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, "9" * 32, calls)
    page = run_page("9" * 32, step="2")
    choice = next(box for box in page.selectbox if box.label == "Compare with")
    assert len(set(choice.options)) == len(choice.options) == 4


def test_a_first_call_is_compared_with_nothing(db: Path) -> None:
    seed_clock(db)
    page = run_page(CLOCK, step="1")
    assert not page.exception
    assert not [box for box in page.selectbox if box.label == "Compare with"]
    assert markup(page) == []


def test_a_flat_call_with_other_arguments_stands_beside_the_one_before_it_in_the_streak(db: Path) -> None:
    calls = [seed.tool(step, "read", {"page": step}, "the same page", flat_steps=step - 1) for step in range(1, 4)]
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, CLOCK, calls)
    page = run_page(CLOCK, step="3")
    assert "Arguments differ from step 2 in: 2 → 3; the result is the same" in texts(page)


def test_a_call_that_brought_something_new_is_compared_on_demand_only(db: Path) -> None:
    calls = [seed.tool(step, "read", {"page": step}, f"page {step}") for step in range(1, 4)]
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, CLOCK, calls)
    page = run_page(CLOCK, step="3")
    choice = next(box for box in page.selectbox if box.label == "Compare with")
    assert choice.value == -1
    assert markup(page) == []


def test_two_hostile_texts_side_by_side_stay_text(db: Path) -> None:
    calls = [
        seed.tool(step, "dump", {"q": "x"}, f"{seed.HOSTILE_TEXT} </ins><script>alert({step})</script>", repeats=step)
        for step in (1, 2)
    ]
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, CLOCK, calls)
    page = run_page(CLOCK, step="2")
    assert not page.exception
    shown = markup(page)
    assert len(shown) == 2
    for text in shown:
        assert "<script" not in text
        assert "\u202e" not in text
        assert "\x1b" not in text
        assert "&lt;script&gt;alert" in text


def test_what_the_model_said_thought_and_asked_for_is_shown(db: Path) -> None:
    seed_clock(db)
    parts = [
        {"type": "reasoning", "content": "It may be done by now."},
        {"type": "text", "content": f"Let me ask again. {seed.HOSTILE_TEXT}"},
        {"type": "tool_call", "id": "1", "name": "status", "arguments": {"job": 7}},
    ]
    messages = json.dumps([{"role": "assistant", "parts": parts}])
    add_span(db, CLOCK, 4, {"gen_ai.operation.name": "chat", "gen_ai.output.messages": messages})
    page = run_page(CLOCK, step="3")
    assert not page.exception
    seen = texts(page)
    assert "It may be done by now." in seen
    assert "Let me ask again. <script>" in seen
    assert 'status {"job": 7}' in seen
    assert "\x1b" not in seen
    assert "900 tokens in, 100 out, 400 of them from the cache, cost $0.0100" in seen
    assert "finished: tool_calls" in seen
    assert "What the model said was not recorded." in texts(run_page(CLOCK, step="2"))


def test_the_spans_of_a_step_are_read_on_demand_and_bounded(db: Path) -> None:
    seed_clock(db)
    add_span(db, CLOCK, 5, {"note": seed.HOSTILE_TEXT, "long": "x" * 60_000}, name="execute_tool status")
    add_span(db, CLOCK, 5, {"http.method": "GET"}, span_id="f" * 16, parent_span_id=seed.span_id_of(CLOCK, 5), name="GET /job")
    page = run_page(CLOCK, step="3")
    assert "execute_tool status" not in texts(page)
    page.session_state[f"raw {CLOCK} 3"] = True
    page.run()
    assert not page.exception
    seen = texts(page)
    assert "execute_tool status" in seen
    assert "GET /job" in seen
    assert "2 spans" in seen
    assert "cut, 60," in seen
    assert "\x1b" not in seen


def test_steps_are_reached_by_buttons_and_verdicts_by_theirs(seeded_db: Path) -> None:
    def press(page: AppTest, label: str) -> None:
        next(button for button in page.button if button.label == label).click().run()
        assert not page.exception

    page = run_page(seed.LOOPING, step="1")
    assert next(button for button in page.button if button.label == "Previous step").disabled
    press(page, "Next step")
    assert (page.number_input[0].value, parameter(page, "step")) == (2, "2")
    press(page, "Next verdict")
    assert (page.number_input[0].value, parameter(page, "step")) == (4, "4")
    assert next(button for button in page.button if button.label == "Next verdict").disabled
    press(page, "Previous step")
    press(page, "Go to step 4")
    assert page.number_input[0].value == 4


def test_a_link_to_another_step_of_the_same_run_is_followed(seeded_db: Path) -> None:
    page = run_page(seed.LOOPING, step="2")
    page.query_params["step"] = "6"
    page.run()
    assert page.number_input[0].value == 6
    page.number_input[0].set_value(5).run()
    assert parameter(page, "step") == "5"
    page.run()
    assert page.number_input[0].value == 5


def test_the_next_step_beyond_a_stretch_opens_the_next_stretch(db: Path) -> None:
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, CLOCK, [])
        connection.execute(
            "insert into call_rows (trace_id, span_id, step, kind, tool, is_error, flat_steps, end_unix_nano) "
            "select $run, printf('%016x', i), i, 'tool', 'search', false, 0, i from range(1, 1701) as t(i)",
            {"run": CLOCK},
        )
        recount(connection, [CLOCK], first_end_ns=0)
    page = run_page(CLOCK, step="500")
    assert list(page.dataframe[0].value["step"])[-1] == 500
    next(button for button in page.button if button.label == "Next step").click().run()
    assert page.number_input[0].value == 501
    assert next(iter(page.dataframe[0].value["step"])) == 501


def test_a_running_run_that_grows_leaves_the_chosen_step_where_it_is(seeded_db: Path) -> None:
    page = run_page(seed.LOOPING, step="3")
    with Database(seeded_db).write(timeout_seconds=10) as connection:
        for position, step in enumerate(range(8, 20), start=100):
            row = seed.flat(step, "search", {"q": "dogs"}, step - 1)
            place = {"trace_id": seed.LOOPING, "span_id": seed.span_id_of(seed.LOOPING, position), "end_unix_nano": 2**62 + step}
            seed.insert(connection, "call_rows", place | row)
        recount(connection, [seed.LOOPING])
    data.forget()
    page.run()
    assert not page.exception
    assert {metric.label: metric.value for metric in page.metric}["Steps"] == "19"
    assert page.number_input[0].value == 3


def test_tokens_and_cost_so_far_are_drawn_and_what_they_leave_out_is_said(db: Path) -> None:
    calls = [
        seed.model(1, 1000, cost_usd=0.01),
        seed.model(2, 1000),
        seed.model(3, None),
        seed.model(4, 1000, cost_usd=0.02),
    ]
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, CLOCK, calls)
    page = run_page(CLOCK)
    traces = {trace.get("name"): trace for trace in json.loads(page.get("plotly_chart")[0].proto.spec)["data"]}
    assert traces["tokens"]["x"] == [1, 2, 3, 4]
    assert "by step 4: 3k tokens" in traces["tokens"]["hovertext"]
    seen = texts(page)
    assert "by step 4: 3k tokens and $0.03" in seen
    assert "1 model call without a known price not counted." in seen
    assert "1 model call reported no usage." in seen


def test_the_curve_of_a_later_stretch_begins_with_what_was_spent_before(db: Path) -> None:
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, CLOCK, [])
        connection.execute(
            "insert into call_rows (trace_id, span_id, step, kind, model, is_error, flat_steps, input_tokens, end_unix_nano) "
            "select $run, printf('%016x', i), i, 'model', 'm', false, 0, 10, i from range(1, 1001) as t(i)",
            {"run": CLOCK},
        )
        recount(connection, [CLOCK], first_end_ns=0)
    answer = questions.run_spend(CLOCK, 501, 1000)
    assert (answer.frame["step"].iloc[0], answer.frame["tokens"].iloc[0]) == (501, 5_010)
    assert len(answer.frame) == 500


def test_the_calls_come_as_json_and_say_how_many_are_left_out(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed_clock(db)
    exported = json.loads(questions.exported(CLOCK))
    assert (exported["calls_of_run"], exported["calls_left_out"], len(exported["calls"])) == (10, 0, 10)
    assert [call["step"] for call in exported["calls"]] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert exported["calls"][1]["arguments"] == '{"job": 7}'
    assert exported["calls"][0]["cost_usd"] == 0.01
    monkeypatch.setattr(questions, "LONGEST_EXPORT", 4_000)
    bounded = json.loads(questions.exported(CLOCK))
    assert 0 < len(bounded["calls"]) < 10
    assert bounded["calls_left_out"] == 10 - len(bounded["calls"])
    assert len(questions.exported(CLOCK)) < 4_500
    page = run_page(CLOCK)
    assert [button.proto.label for button in page.get("download_button")] == ["All calls as JSON"]


def test_the_way_to_other_runs_of_the_task_is_offered(seeded_db: Path) -> None:
    page = run_page(seed.HEALTHY)
    links = {link.proto.label: link.proto.query_string for link in page.get("page_link")}
    assert links["Runs of the same task"] == "task=summarise"


def test_a_verdict_without_an_alert_is_not_denied(seeded_db: Path) -> None:
    with Database(seeded_db).write(timeout_seconds=10) as connection:
        connection.execute("delete from alerts")
    assert "the database keeps no alert of it" in texts(run_page(seed.LOOPING))
    assert "not been seen going in circles" in texts(run_page(seed.HEALTHY))


def test_it_speaks_spanish(db: Path) -> None:
    seed_clock(db)
    page = run_page(CLOCK, step="4", lang="es")
    assert not page.exception
    assert "Mismos argumentos que en el paso 3; el resultado solo difiere en: 12:00:03 → 12:00:04" in texts(page)
