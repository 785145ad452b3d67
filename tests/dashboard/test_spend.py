"""The page of spending adds up what is known, says what is not, and counts nothing twice."""

from __future__ import annotations

import json
import tomllib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from dashboard import theme
from dashboard.charts import base
from dashboard.charts import spend as charts
from dashboard.components.spend.unpriced import remedy
from dashboard.filters import Filters
from dashboard.questions import spend as questions
from otel_processor.store.database import Database
from otel_processor.store.opening import open_read_only
from otel_processor.store.scripts import query
from otel_processor.store.temporary_views import make_views
from tests.dashboard import seed
from tests.dashboard.conftest import open_page, parameter, texts

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

EVERYTHING = Filters()
PRICED: dict[str, Any] = {"cost_usd": 0.5, "cost_source": "price_list"}


def page(**parameters: str | list[str]) -> AppTest:
    return open_page("views/spend.py", **parameters)


def metrics(shown: AppTest) -> dict[str, str]:
    return {metric.label: str(metric.value) for metric in shown.metric}


def headings(shown: AppTest) -> list[str]:
    return [str(heading.value) for heading in shown.subheader]


def write(path: Path, *runs: list[seed.Row], **columns: Any) -> None:
    with Database(path).write(timeout_seconds=10) as connection:
        for number, calls in enumerate(runs, start=1):
            seed.add_run(connection, f"{number:032x}", calls, **columns)


def name_of(value: Any) -> str | None:
    return None if pd.isna(value) else str(value)


def models(filters: Filters = EVERYTHING) -> dict[str | None, dict[Hashable, Any]]:
    answer = questions.models(filters, "cost")
    assert answer.problem == ""
    return {name_of(row["model"]): row for row in answer.frame.to_dict("records")}


def groups(kind: str, filters: Filters = EVERYTHING) -> dict[str | None, dict[Hashable, Any]]:
    answer = questions.groups(filters, "cost")
    assert answer.problem == ""
    return {name_of(row["name"]): row for row in answer.frame.to_dict("records") if row["kind"] == kind}


def everything(filters: Filters = EVERYTHING) -> dict[Hashable, Any]:
    (row,) = groups("everything", filters).values()
    return row


def test_what_is_not_known_is_not_nothing(db: Path) -> None:
    write(db, [seed.model(1, None), seed.model(2, 100)], [seed.model(1, 200, model="priced", **PRICED)])
    found = models()["gpt-5-mini"]
    assert pd.isna(found["cost"])
    assert (found["calls"], found["unpriced_calls"], found["unpriced_tokens"], found["calls_without_usage"]) == (2, 1, 100, 1)
    row = everything()
    assert (row["cost"], row["tokens"], row["runs_without_cost"], row["unpriced_calls"]) == (0.5, 300, 1, 1)


def test_the_share_of_the_cache_is_one_of_calls_that_report_it(db: Path) -> None:
    write(db, [seed.model(1, 1000, cache_read_tokens=450), seed.model(2, 5000), seed.model(3, None, cache_read_tokens=7)])
    found = models()["gpt-5-mini"]
    assert (found["cache_read_tokens"], found["cache_input_tokens"], found["calls_without_cache"]) == (450, 900, 1)
    assert metrics(page())["From cache"] == "50 %"


def test_where_costs_come_from_is_counted(db: Path) -> None:
    sources = ("span", "override", "price_list", "price_list")
    write(db, [seed.model(1, cost_usd=1.0, cost_source=source) for source in sources])
    found = models()["gpt-5-mini"]
    assert [found[f"{name}_cost"] for name in ("span", "override", "list")] == [1.0, 1.0, 2.0]
    (table,) = [table.value for table in page().dataframe if "Source" in table.value.columns]
    assert table.to_numpy().tolist() == [
        ["the span itself", "1", "$1.00", "25 %"],
        ["your prices", "1", "$1.00", "25 %"],
        ["price list", "2", "$2.00", "50 %"],
    ]


def test_a_total_that_only_the_root_tells_counts_once_and_by_no_model(db: Path) -> None:
    write(db, [seed.tool(1, "search", {"q": "a"})], root_input_tokens=70, root_output_tokens=30, root_cost_usd=0.25)
    of_root: seed.Row = {"root_input_tokens": 900, "root_output_tokens": 100, "root_cost_usd": 9.0}
    with Database(db).write(timeout_seconds=10) as connection:
        # Its model calls tell their tokens, and not what they cost.
        seed.add_run(connection, seed.HEALTHY, [seed.model(1, 1000)], **of_root)
    rows = questions.models(EVERYTHING, "cost").frame.to_dict("records")
    told = {name_of(row["model"]): (row["is_root"], row["calls"], row["tokens"], row["cost"]) for row in rows}
    assert told[None] == (True, 0, 100, 9.25)
    assert told["gpt-5-mini"][:3] == (False, 1, 1000)
    row = everything()
    assert (row["tokens"], row["cost"]) == (1100, 9.25)
    over_time = questions.over_time(EVERYTHING, "cost").frame
    assert over_time["cost"].sum() == 9.25
    assert over_time["tokens"].sum() == 1100


def test_tokens_of_calls_that_were_not_recorded_count_and_are_no_calls(db: Path) -> None:
    write(db, [seed.model(0, 400), seed.model(1, 100)])
    found = models()["gpt-5-mini"]
    assert (found["calls"], found["tokens"]) == (1, 500)


def test_chosen_models_restrict_the_calls_everywhere(db: Path) -> None:
    mixed = [seed.model(1, 100, model="a", **PRICED), seed.model(2, 300, model="b", cost_usd=7.0, cost_source="span")]
    write(db, mixed, [seed.model(1, 900, model="b", **PRICED)])
    only = Filters(models=("a",))
    assert set(models(only)) == {"a"}
    row = everything(only)
    assert (row["runs"], row["tokens"], row["cost"]) == (1, 100, 0.5)
    # Kept per run: what part of it this model wasted is not known.
    assert pd.isna(row["wasted_cost"])
    assert questions.over_time(only, "cost").frame["cost"].tolist() == [0.5]
    shown = page(model="a")
    assert not shown.exception
    assert metrics(shown)["Cost"] == "$0.50"
    assert metrics(shown)["Wasted cost"] == "-"
    assert "Only calls of the chosen models count." in texts(shown)


def test_groups_add_up_to_everything_and_what_comes_after_many_is_one_row(db: Path) -> None:
    with Database(db).write(timeout_seconds=10) as connection:
        for number in range(1, 41):
            calls = [seed.model(1, 100, cost_usd=float(number), cost_source="span"), seed.flat(1, "search", {}, 1)]
            seed.add_run(connection, f"{number:032x}", calls, task=f"task {number:02}", agent=None)
    tasks = groups("task")
    assert list(tasks)[:2] == ["task 40", "task 39"]
    rest = tasks[None]
    assert (len(tasks), rest["is_rest"], rest["names"]) == (questions.NAMES_SHOWN + 1, True, 25)
    row = everything()
    assert sum(task["cost"] for task in tasks.values()) == row["cost"] == row["wasted_cost"] == sum(range(1, 41))
    assert list(groups("agent")) == [None]
    assert groups("agent")[None]["is_rest"] is False


@pytest.mark.parametrize("measure", ["cost", "tokens"])
def test_the_models_of_a_stack_are_those_that_come_first_by_its_measure(db: Path, measure: charts.Measure) -> None:
    calls = [
        seed.model(1, 1000 - number, model=f"m{number}", cost_usd=float(number), cost_source="span") for number in range(1, 10)
    ]
    write(db, calls)
    frame = questions.over_time(EVERYTHING, measure).frame
    first = ["m9", "m8", "m7", "m6", "m5", "m4"] if measure == "cost" else ["m1", "m2", "m3", "m4", "m5", "m6"]
    assert list(frame["model"])[:6] == first
    assert list(frame["is_rest"]) == [False] * 6 + [True]
    assert frame["cost"].sum() == 45


def test_days_are_those_of_who_looks(db: Path) -> None:
    noon = datetime(2026, 3, 4, 20, 0, tzinfo=UTC)
    with Database(db).write(timeout_seconds=10) as connection:
        for number, days in enumerate((0, 10)):
            started = noon + timedelta(days=days)
            seed.add_run(connection, f"{number:032x}", [seed.model(1, **PRICED)], started_at=started)
    connection = open_read_only(db)
    try:
        make_views(connection, "chosen_runs", {})
        asked = {"zone": "Asia/Kathmandu", "top": 9, "top_stacked": 6, "measure": "cost"}
        stretches = connection.execute(query("spend_calls"), asked).df()["stretch"].dropna()
    finally:
        connection.close()
    # Kathmandu is five and three quarter hours ahead: it is the next day there.
    assert [day.date().isoformat() for day in stretches] == ["2026-03-05", "2026-03-15"]


def test_without_runs_it_says_so(empty_db: Path) -> None:
    shown = page()
    assert not shown.exception
    assert "No runs yet" in texts(shown)


def test_without_model_calls_it_says_so(db: Path) -> None:
    write(db, [seed.tool(1, "search", {})])
    shown = page()
    assert not shown.exception
    assert "No tokens and no cost are known of these runs." in texts(shown)


def test_without_any_cost_it_shows_tokens_and_says_what_to_do(seeded_db: Path) -> None:
    shown = page()
    assert not shown.exception
    assert metrics(shown)["Cost"] == "-"
    assert metrics(shown)["Wasted cost"] == "-"
    assert "Tokens by model" in headings(shown)
    assert "by" not in shown.query_params
    assert "input = 0.20, output = 0.60" in texts(shown)
    assert "No cost is known" in texts(shown)


def test_the_measure_stands_in_the_address(db: Path) -> None:
    write(db, [seed.model(1, **PRICED)])
    assert "Cost by task" in headings(page())
    assert "Tokens by task" in headings(page(by="tokens"))
    shown = page()
    shown.segmented_control(key="by cost .").set_value("tokens").run()
    assert not shown.exception
    assert parameter(shown, "by") == "tokens"
    assert "Tokens by task" in headings(shown)


def test_asked_for_costs_that_nobody_knows_it_says_so(seeded_db: Path) -> None:
    shown = page(by="cost")
    assert not shown.exception
    assert not shown.get("plotly_chart")
    assert "Cost by task" in headings(shown)


def test_the_dearest_runs_lead_to_their_pages(db: Path) -> None:
    write(db, [seed.model(1, **PRICED)], [seed.model(1, cost_usd=12.0, cost_source="span")], [seed.model(1)])
    (table,) = [table.value for table in page().dataframe if "run" in table.value.columns]
    assert list(table["run"]) == [f"run?run={2:032x}", f"run?run={1:032x}"]
    assert list(table["cost"]) == [12.0, 0.5]


def test_models_without_a_price_are_named_with_what_they_used(db: Path) -> None:
    write(
        db,
        [
            seed.model(1, 300, model="house", provider="vllm"),
            seed.model(2, 100, model="house", provider="vllm"),
            seed.model(3, **PRICED),
        ],
    )
    (table,) = [table.value for table in page().dataframe if "Provider" in table.value.columns]
    assert table.to_numpy().tolist() == [["vllm", "house", "2", "400"]]


def test_theremedy_is_a_policy_file_whatever_the_models_are_called() -> None:
    names = ["gpt-5", 'a "quoted" one', "back\\slash", "left out"]
    prices = tomllib.loads(remedy([{"model": name} for name in names]))["prices"]
    assert list(prices) == names[:3]


def test_filters_choose_runs(seeded_db: Path) -> None:
    assert metrics(page(task="summarise"))["Tokens in"] == "2.7k"
    assert everything(Filters(agents=("planner",)))["runs"] == 1
    (hostile,) = models(Filters(tasks=(seed.HOSTILE_TEXT,)))
    assert hostile is not None
    assert hostile.startswith("<script>")
    assert everything(Filters(services=("elsewhere",)))["runs"] == 0


def test_what_others_call_their_models_is_never_read_as_markup(seeded_db: Path) -> None:
    shown = page()
    assert not shown.exception
    written = "\n".join(str(element.value) for kind in (shown.caption, shown.markdown, shown.subheader) for element in kind)
    assert "<script>" not in written
    drawn = json.dumps([json.loads(chart.proto.spec) for chart in shown.get("plotly_chart")])
    assert "&lt;script" in drawn
    assert "<script" not in drawn


def test_it_speaks_spanish(seeded_db: Path) -> None:
    shown = page(lang="es")
    assert not shown.exception
    assert "Tokens por tarea" in headings(shown)


def some(number: int, **columns: Any) -> pd.DataFrame:
    """Rows of one kind as `spend_groups` returns them."""
    row = {"is_rest": False, "names": 1, "cost": 4.0, "wasted_cost": 1.0, "tokens": 100, "wasted_tokens": 10, "unpriced_calls": 0}
    return pd.DataFrame([row | {"name": f"task {place}"} | columns for place in range(number)])


def test_the_wasted_part_of_a_bar_is_hatched() -> None:
    sound, wasted = charts.bars(some(2), "cost", "task").data
    assert (list(sound.x), list(wasted.x)) == ([3.0, 3.0], [1.0, 1.0])
    assert sound.marker.pattern.shape is None
    assert wasted.marker.pattern.shape == base.FLAGGED_HATCH
    assert sound.marker.color == theme.COST


def test_a_group_without_a_known_cost_has_no_bar() -> None:
    frame = pd.concat([some(1), some(1, cost=None, name="dear?")])
    assert len(charts.bars(frame, "cost", "task").layout.yaxis.ticktext) == 1


def test_many_small_names_together_do_not_flatten_the_others() -> None:
    little = pd.concat([some(3), some(1, is_rest=True, names=2, cost=5.0)])
    assert charts.bars(little, "cost", "task").layout.xaxis.range is None
    much = charts.bars(pd.concat([some(3), some(1, is_rest=True, names=90, cost=360.0)]), "cost", "task")
    assert list(much.layout.xaxis.range) == [0, 4.0 * charts.REST_DRAWN]
    assert [note.y for note in much.layout.annotations] == [3]
    assert much.layout.yaxis.ticktext[-1] == "<i>90 other tasks</i>  <b>$360.00</b>"


def test_two_hundred_models_are_fifteen_rows_and_the_rest() -> None:
    row = {"is_rest": False, "is_root": False, "models": 1, "provider": "p", "tokens": 10, "calls": 1, "unpriced_calls": 0}
    frame = pd.DataFrame([row | {"model": f"m{place}", "cost": float(place)} for place in range(200)])
    shown = charts.by_model(frame, "cost")
    assert len(shown) == charts.NAMES_TOLD_APART + 1
    assert shown["cost"].sum() == sum(range(200))
    assert charts.bars(shown, "cost", "model").layout.yaxis.ticktext[-1].startswith("<i>185 other models</i>")


def test_a_model_that_several_providers_serve_is_told_apart() -> None:
    row = {"is_rest": False, "is_root": False, "models": 1, "tokens": 10, "calls": 1, "unpriced_calls": 0, "cost": 1.0}
    frame = pd.DataFrame([row | {"model": "gpt-5", "provider": provider} for provider in ("openai", "azure")])
    assert list(charts.by_model(frame, "cost")["name"]) == ["gpt-5 (openai)", "gpt-5 (azure)"]
