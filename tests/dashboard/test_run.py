"""The run page shows one run from its address, and whatever its text says stays text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from otel_processor.store.database import Database
from otel_processor.store.totals import recount
from tests.dashboard import seed
from tests.dashboard.conftest import parameter, run_page, texts

if TYPE_CHECKING:
    from pathlib import Path

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
    assert "flat: brought nothing new" in texts(page)


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
    assert "these are the first 20,000 of 50,000 characters" in texts(page)
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
    assert min(page.dataframe[0].value["Step"]) == 1


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
    assert list(page.dataframe[0].value["Step"])[:3] == [1, 2, 3]


def test_a_run_without_calls_yet_says_so(db: Path) -> None:
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, seed.HEALTHY, [], status="running", stop_reason="running", ended_at=None)
    page = run_page(seed.HEALTHY)
    assert not page.exception
    assert "No call of this run was recorded yet." in texts(page)
