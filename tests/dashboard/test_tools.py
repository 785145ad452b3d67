"""The page of tools counts what calls came to, and shows one tool in detail."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from dashboard.charts import tools as charts
from dashboard.filters import Filters
from dashboard.questions import tools as questions
from otel_processor.store.database import Database
from tests.dashboard import seed
from tests.dashboard.conftest import open_page, parameter, texts

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

EVERYTHING = Filters()
FAILED: dict[str, Any] = {"is_error": True, "error_class": "transient", "error_message": "503", "progress": None}


def page(**parameters: str) -> AppTest:
    return open_page("views/tools.py", **parameters)


def figures(filters: Filters = EVERYTHING) -> dict[str, dict[Hashable, Any]]:
    """The rows about each tool; the one about all others is called `...`."""
    answer = questions.figures(filters)
    assert answer.problem == ""
    return {"..." if row["is_rest"] else row["choice"]: row for row in answer.frame.to_dict("records")}


def write(path: Path, *runs: list[seed.Row], **columns: Any) -> None:
    with Database(path).write(timeout_seconds=10) as connection:
        for number, calls in enumerate(runs, start=1):
            seed.add_run(connection, f"{number:032x}", calls, **columns)


def call(name: str = "fetch", query: str = "a", **columns: Any) -> seed.Row:
    return seed.tool(1, name, {"q": query}, **columns)


def test_a_call_comes_out_in_one_way_only(db: Path) -> None:
    calls = [call(), call(progress=False), call(progress=None), call(**FAILED), call(**FAILED | {"progress": False})]
    write(db, calls)
    found = figures()["fetch"]
    outcomes = {name: found[f"{name}_calls"] for name in ("new", "stale", "unknown", "failed")}
    assert outcomes == {"new": 1, "stale": 1, "unknown": 1, "failed": 2}
    assert sum(outcomes.values()) == found["calls"] == 5
    # Flat are all without progress, of those of which it is known.
    assert (found["flat_calls"], found["known_calls"]) == (2, 3)


def test_a_failure_that_only_the_result_tells_is_a_failure(db: Path) -> None:
    told = call(error_class="permanent")
    write(db, [told, call(is_error=True, error_class=None), call(is_error=True, error_class="validation")])
    found = figures()["fetch"]
    assert found["failed_calls"] == 3
    assert [found[f"{name}_errors"] for name in charts.ERROR_CLASSES] == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("outcomes", "retries"),
    [("FFS", 2), ("F", 0), ("SF", 0), ("SFS", 1), ("FFF", 2), ("FSFS", 2), ("SSS", 0)],
)
def test_a_retry_directly_follows_a_failure_of_the_same_call(db: Path, outcomes: str, retries: int) -> None:
    write(db, [call(**(FAILED if outcome == "F" else {})) for outcome in outcomes])
    found = figures()["fetch"]
    assert found["retries"] == retries
    assert found["repeated_calls"] == len(outcomes) - 1


def test_what_another_run_or_another_call_does_is_no_retry_and_no_repeat(db: Path) -> None:
    write(db, [call(**FAILED)], [call(), call(query="b"), call(query="b", signature=None)])
    found = figures()["fetch"]
    assert (found["retries"], found["repeated_calls"], found["signed_calls"], found["calls"]) == (0, 0, 3, 4)
    assert found["runs"] == 2


def test_latency_is_of_calls_whose_times_are_known(db: Path) -> None:
    write(db, [call(), call(started_at=None), call(ended_at=None)], seconds_per_call=10.0)
    found = figures()["fetch"]
    assert (found["timed_calls"], found["seconds_median"], found["seconds_max"]) == (1, 8.0, 8.0)


def test_tools_beyond_the_first_ones_are_one_row_that_keeps_the_sums(db: Path) -> None:
    number = questions.TOOLS_SHOWN + 3
    calls = [call(f"tool {place:03}") for place in range(number)]
    write(db, [*calls, call("tool 007", progress=False)])
    found = figures()
    assert len(found) == questions.TOOLS_SHOWN + 1
    assert next(iter(found)) == "tool 007"
    rest = found["..."]
    assert (rest["tools"], rest["calls"]) == (3, 3)
    # A median over several tools says nothing, and neither do runs that may be the same.
    assert pd.isna(rest["seconds_median"])
    assert pd.isna(rest["runs"])
    assert sum(row["calls"] for row in found.values()) == number + 1


def test_the_filters_choose_runs(seeded_db: Path) -> None:
    assert set(figures(Filters(tasks=("crawl",)))) == {"fetch"}
    assert set(figures(Filters(agents=("planner",)))) == {"search"}
    assert figures(Filters(services=("elsewhere",))) == {}
    assert set(figures(Filters(models=(seed.HOSTILE_TEXT,)))) == {seed.HOSTILE_TEXT, "dump"}


def test_the_most_repeated_calls_lead_to_the_run_that_made_them_most_often(db: Path) -> None:
    flat = call(progress=False)
    write(db, [call(), call()], [call(), flat, flat], [call()], [call(query="b"), call(query="b")])
    first, second = questions.repeats(EVERYTHING, "fetch").frame.to_dict("records")
    assert (first["times"], first["runs"], first["flat_calls"]) == (5, 2, 2)
    assert (first["run_id"], first["run_times"]) == (f"{2:032x}", 3)
    assert first["arguments"] == '{"q": "a"}'
    assert (second["times"], second["arguments"]) == (2, '{"q": "b"}')


def test_failures_are_counted_by_what_they_say(db: Path) -> None:
    told_by_result = {"error_class": "other", "result": "error: no such page"}
    write(db, [call(**FAILED), call(**FAILED), call(**told_by_result), call()])
    rows = questions.errors(EVERYTHING, "fetch").frame.to_dict("records")
    assert [(row["message"], row["error_class"], row["times"]) for row in rows] == [
        ("503", "transient", 2),
        ("error: no such page", "other", 1),
    ]


def test_calls_without_a_tool_name_can_be_asked_for(db: Path) -> None:
    write(db, [call(tool=None), call()])
    assert figures()[""]["calls"] == 1
    assert list(questions.over_time(EVERYTHING, "").frame["calls"]) == [1]
    shown = page(tool="")
    assert not shown.exception
    assert shown.selectbox[-1].value == ""
    assert "Slowest calls" in [heading.value for heading in shown.subheader]


def test_without_runs_it_says_so(empty_db: Path) -> None:
    shown = page()
    assert not shown.exception
    assert "No runs yet" in texts(shown)


def test_without_tool_calls_it_says_so(db: Path) -> None:
    write(db, [seed.model(1)])
    shown = page()
    assert not shown.exception
    assert "No tool call was seen in these runs." in texts(shown)
    assert not shown.get("plotly_chart")


def test_it_shows_all_tools_and_charts_over_them(seeded_db: Path) -> None:
    shown = page()
    assert not shown.exception
    (table,) = shown.dataframe
    assert list(table.value["tool"])[:1] == ["search"]
    assert len(shown.get("plotly_chart")) == 4


def test_a_healthy_database_has_no_chart_of_failures(db: Path) -> None:
    seed.seed_healthy(db)
    shown = page()
    assert "No tool call failed." in texts(shown)
    assert len(shown.get("plotly_chart")) == 3


def test_the_tool_in_the_address_is_shown_in_detail(seeded_db: Path) -> None:
    shown = page(tool="fetch")
    assert not shown.exception
    headings = [heading.value for heading in shown.subheader]
    for heading in ("Outcomes over time", "Who calls it", "Most repeated calls", "Commonest failures", "Slowest calls"):
        assert heading in headings
    failures = shown.dataframe[3].value
    assert list(failures["message"]) == ["503 Service Unavailable"]
    assert list(failures["run"]) == [f"run?run={seed.RESOLVED}&step=3"]
    assert parameter(shown, "tool") == "fetch"


def test_a_tool_is_chosen_by_its_name(seeded_db: Path) -> None:
    shown = page()
    shown.selectbox[-1].set_value("read").run()
    assert not shown.exception
    assert parameter(shown, "tool") == "read"
    assert "Outcomes over time" in [heading.value for heading in shown.subheader]
    next(button for button in shown.button if button.label == "Close").click().run()
    assert "tool" not in shown.query_params


def test_a_tool_that_nobody_called_is_told_as_such(seeded_db: Path) -> None:
    shown = page(tool="<b>nothing</b>")
    assert not shown.exception
    assert "No call of this tool was seen in these runs." in texts(shown)


def test_what_tools_and_agents_say_is_never_read_as_markup(seeded_db: Path) -> None:
    shown = page(tool=seed.HOSTILE_TEXT)
    assert not shown.exception
    assert shown.selectbox[-1].value == seed.HOSTILE_TEXT
    assert "<script>" not in texts(shown)
    names = list(shown.dataframe[0].value["tool"])
    assert any("<script>" in name and "\x1b" not in name and "\u202e" not in name for name in names)
    drawn = json.dumps([json.loads(chart.proto.spec) for chart in shown.get("plotly_chart")])
    assert "&lt;script" in drawn
    assert "<script" not in drawn


def test_it_speaks_spanish(seeded_db: Path) -> None:
    shown = page(tool="fetch", lang="es")
    assert not shown.exception
    assert "Fallos más frecuentes" in [heading.value for heading in shown.subheader]


def some(number: int, **columns: Any) -> pd.DataFrame:
    """Rows as `tool_figures` returns them, all alike."""
    counts = dict.fromkeys(charts._SUMMED, 0) | {"tools": 1, "calls": 10, "new_calls": 10, "signed_calls": 10, "timed_calls": 10}
    row = counts | {"is_rest": False, "seconds_median": 1.0, "seconds_p95": 2.0, "seconds_max": 3.0} | columns
    return pd.DataFrame([row | {"tool": f"tool {place}"} for place in range(number)])


def test_two_hundred_tools_are_fifteen_rows_and_the_rest() -> None:
    folded = charts.folded(some(200))
    assert len(folded) == charts.TOOLS_TOLD_APART + 1
    assert folded["calls"].sum() == 2_000
    figure = charts.outcomes(some(200))
    assert figure.layout.yaxis.ticktext[-1] == "<i>185 other tools</i>  <b>1.9k</b>"


def test_parts_of_a_bar_are_shares_of_its_calls() -> None:
    figure = charts.outcomes(some(1, new_calls=5, stale_calls=2, failed_calls=3))
    assert [list(part.x) for part in figure.data] == [[0.5], [0.2], [0.0], [0.3]]


def test_the_tool_with_most_failures_is_on_top_and_others_are_left_out() -> None:
    frame = some(3)
    frame.loc[2, ["failed_calls", "permanent_errors"]] = 4
    frame.loc[1, ["failed_calls", "other_errors"]] = 1
    figure = charts.errors(frame)
    assert [text.partition("  ")[0] for text in figure.layout.yaxis.ticktext] == ["tool 2", "tool 1"]


def test_one_slow_tool_does_not_flatten_the_others() -> None:
    frame = some(3)
    assert charts.latency(frame).layout.xaxis.type is None
    frame.loc[0, "seconds_p95"] = 600.0
    assert charts.latency(frame).layout.xaxis.type == "log"
