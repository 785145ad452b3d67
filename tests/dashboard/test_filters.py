"""A choice of runs stands in the address, goes along from page to page, and nothing in an address can break a page."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.filters import ADDRESS_NAMES, FIRST_DAY, KINDS, LAST_DAY, MOST_NAMES, PERIODS, Filters
from otel_processor.store.database import Database
from tests.dashboard import seed
from tests.dashboard.conftest import overview, parameter, texts

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

names = st.lists(st.text(max_size=30), max_size=4, unique=True).map(tuple)
days = st.none() | st.dates(FIRST_DAY, LAST_DAY)


def times_asked(filters: Filters) -> list[int | None]:
    asked = [filters.parameters(ZoneInfo(name)) for name in ("UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago")]
    return [each[name] for each in asked for name in ("since_us", "until_us")]  # type: ignore[misc]


def runs_counted(page: AppTest) -> str:
    return next(str(metric.value) for metric in page.metric if metric.label == "Runs")


@given(st.sampled_from([*PERIODS]), days, days, st.tuples(names, names, names, names))
def test_an_address_says_the_whole_choice(
    period: str, since: date | None, until: date | None, chosen: tuple[tuple[str, ...], ...]
) -> None:
    filters = Filters("all" if since or until else period, since, until, *chosen)
    assert Filters.of_address(filters.to_address()) == filters


@given(st.dictionaries(st.sampled_from(sorted(ADDRESS_NAMES)), st.lists(st.text() | st.dates().map(str), max_size=80)))
def test_whatever_an_address_says_makes_a_bounded_choice(address: dict[str, list[str]]) -> None:
    filters = Filters.of_address(address)
    assert all(value is None or abs(value) < 2**63 for value in times_asked(filters))
    assert filters.period in PERIODS
    assert all(len(getattr(filters, field)) <= MOST_NAMES for field in KINDS)


def test_nothing_chosen_is_not_said_in_the_address() -> None:
    assert Filters().to_address() == {}


def test_days_win_over_a_time_range_up_to_now() -> None:
    asked = Filters(period="1h", since=date(2026, 3, 4)).parameters()
    assert asked["hours"] is None
    assert asked["since_us"] == 1_772_582_400_000_000


@pytest.mark.parametrize(
    ("name", "value", "runs"),
    [("task", "plan", "1"), ("agent", "planner", "1"), ("model", "gpt-5-mini", "5"), ("service", "agents", "6")],
)
def test_each_filter_of_the_address_applies(seeded_db: Path, name: str, value: str, runs: str) -> None:
    page = overview(**{name: value})
    assert not page.exception
    assert runs_counted(page) == runs
    assert f"Only {value}" in texts(page)


def test_several_names_of_one_kind_are_alternatives(seeded_db: Path) -> None:
    assert runs_counted(overview(task=["plan", "summarise"])) == "2"


def test_choosing_on_the_page_changes_numbers_and_address(seeded_db: Path) -> None:
    page = overview()
    next(select for select in page.multiselect if select.label == "Tasks").select("plan").run()
    assert runs_counted(page) == "1"
    assert parameter(page, "task") == "plan"
    page.button[0].click().run()
    assert runs_counted(page) == "7"
    assert "task" not in page.query_params


def test_a_time_range_takes_the_place_of_days(seeded_db: Path) -> None:
    page = overview(**{"from": "2024-01-01", "to": "2024-01-02"})
    assert runs_counted(page) == "0"
    assert "Seen 1 Jan 2024 to 2 Jan 2024" in texts(page)
    next(control for control in page.segmented_control if control.label == "Runs seen in the last").set_value("24h").run()
    assert runs_counted(page) == "7"
    assert "from" not in page.query_params
    assert parameter(page, "period") == "24h"


@pytest.mark.parametrize("name", ["from", "to"])
@pytest.mark.parametrize("day", ["0001-01-01", "1969-12-31", "2262-01-01", "9999-12-31"])
def test_days_without_neighbours_or_that_cannot_be_stored_are_left_out(seeded_db: Path, name: str, day: str) -> None:
    page = overview(**{name: day})
    assert not page.exception
    assert name not in page.query_params
    assert page.metric


def test_the_first_and_the_last_day_that_can_be_stored_are_taken(seeded_db: Path) -> None:
    page = overview(**{"from": "1970-01-01", "to": "2261-12-31"})
    assert not page.exception
    assert (parameter(page, "from"), parameter(page, "to")) == ("1970-01-01", "2261-12-31")


def test_days_the_wrong_way_round_are_told(seeded_db: Path) -> None:
    page = overview(**{"from": "2026-02-01", "to": "2026-01-01"})
    assert not page.exception
    assert "The first day is after the last one" in texts(page)


def test_the_choice_goes_along_to_another_page(seeded_db: Path) -> None:
    page = overview(task="plan")
    page.switch_page("views/run.py").run()
    page.switch_page("views/overview.py").run()
    assert runs_counted(page) == "1"
    assert parameter(page, "task") == "plan"


def test_a_link_wins_over_what_was_chosen_before(seeded_db: Path) -> None:
    page = overview(task="plan")
    page.query_params["task"] = "summarise"
    page.run()
    assert "Only summarise" in texts(page)
    assert runs_counted(page) == "1"


@pytest.mark.parametrize("name", sorted(ADDRESS_NAMES))
def test_nonsense_in_the_address_breaks_nothing(seeded_db: Path, name: str) -> None:
    page = overview(**{name: seed.HOSTILE_TEXT + "'; drop table spans; --" + "\x00" * 3})
    assert not page.exception


def test_of_two_long_names_that_begin_alike_the_chosen_one_applies(empty_db: Path) -> None:
    names = ["Summarise the report for the board and be brief about it, please, " + "x" * 40 + end for end in ("1", "2", "3")]
    with Database(empty_db).write(timeout_seconds=10) as connection:
        for number, name in enumerate(names):
            seed.add_run(connection, f"{number}" * 32, [seed.model(1)], task=name)
    for name in names:
        page = overview()
        tasks = next(each for each in page.multiselect if each.label == "Tasks")
        label = next(label for label in tasks.options if f"{name[-6:]} #" in label)
        tasks.set_value([label]).run()
        assert parameter(page, "task") == name
