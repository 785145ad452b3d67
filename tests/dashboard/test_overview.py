"""The overview says what is going on, and says so when nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from otel_processor.store.database import Database
from tests.dashboard import seed
from tests.dashboard.conftest import overview, parameter, texts

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest


def metrics(page: AppTest) -> dict[str, str]:
    return {metric.label: str(metric.value) for metric in page.metric}


def test_without_a_database_it_says_how_to_get_one(db: Path) -> None:
    page = overview()
    assert not page.exception
    assert "No database yet" in texts(page)
    assert str(db) in texts(page)
    assert "otel-processor demo" in texts(page)
    assert "otel_processor.instrument(db=" in texts(page)
    assert not db.exists()


def test_without_runs_it_says_so(empty_db: Path) -> None:
    page = overview()
    assert not page.exception
    assert "No runs yet" in texts(page)
    assert "otel-processor demo" in texts(page)


def test_a_file_of_something_else_is_a_notice_and_no_traceback(db: Path) -> None:
    db.write_bytes(b"this is no database at all" * 1000)
    page = overview()
    assert not page.exception
    assert "The database cannot be read." in texts(page)
    assert "is not a DuckDB database" in texts(page)


def test_a_database_without_our_tables_is_a_notice(db: Path) -> None:
    import duckdb

    duckdb.connect(str(db)).close()
    page = overview()
    assert not page.exception
    assert "The database cannot be read." in texts(page)


def test_a_healthy_run_raises_no_alert(db: Path) -> None:
    seed.seed_healthy(db)
    page = overview()
    assert not page.exception
    assert "No alerts: no run has been seen going in circles." in texts(page)
    assert metrics(page)["Looped"] == "0 (0 %)"


def test_alerts_are_listed_newest_first_with_what_they_say(seeded_db: Path) -> None:
    page = overview()
    assert not page.exception
    seen = texts(page)
    assert "2 open alerts, 3 alerts in all." in seen
    first = seen.index("search was called 3 times with the same arguments")
    last = seen.index("3 steps in a row brought nothing new")
    assert first < last
    assert "Task research, agent researcher, tool search" in seen
    assert "Repeated call" in seen
    assert "No progress" in seen
    assert "resolved" in seen


def test_a_loop_that_went_on_until_its_run_ended_is_not_called_resolved(seeded_db: Path) -> None:
    connection = duckdb.connect(str(seeded_db))
    connection.execute(
        "update alerts set resolved_at = (select r.ended_at from run_rows as r where r.run_id = alerts.run_id)"
        " where resolved_at is not null"
    )
    connection.close()
    badges = [element.value for element in overview().markdown if "-badge[" in element.value]
    assert any("run ended" in badge for badge in badges)
    assert not any("resolved" in badge for badge in badges)


def test_each_alert_links_to_its_run(seeded_db: Path) -> None:
    links = [element.proto for element in overview().get("page_link")]
    assert [link.label for link in links] == ["Open run"] * 3
    assert [link.query_string for link in links] == [f"run={run}" for run in (seed.LOOPING, seed.HOSTILE, seed.RESOLVED)]


def test_a_new_alert_is_there_when_the_page_asks_again(db: Path) -> None:
    seed.seed_healthy(db)
    page = overview()
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_alert(connection, seed.HEALTHY, 1, message="it goes in circles")
    from dashboard import data

    data.forget()
    assert "it goes in circles" in texts(page.run())


def test_the_headline_counts_runs_and_tokens(seeded_db: Path) -> None:
    shown = metrics(overview())
    assert shown["Runs"] == "7"
    assert shown["Running"] == "1"
    assert shown["Looped"] == "2 (29 %)"
    assert shown["Tokens"] == "15k"
    assert shown["Wasted tokens"] == "6k (40 %)"
    assert shown["Cost"] == "-"


def test_cost_is_shown_with_what_it_leaves_out(seeded_db: Path) -> None:
    with Database(seeded_db).write(timeout_seconds=10) as connection:
        priced = "select trace_id, min(span_id) from call_rows where kind = 'model' and trace_id = $run group by all"
        connection.execute(f"update call_rows set cost_usd = 12.4 where (trace_id, span_id) in ({priced})", {"run": seed.HEALTHY})
    page = overview()
    assert metrics(page)["Cost"] == "$12.40"
    assert "model calls without a known price not counted" in texts(page)


def test_every_chart_says_what_it_counts(seeded_db: Path) -> None:
    page = overview()
    assert len(page.get("plotly_chart")) == 4
    headings = [heading.value for heading in page.subheader]
    for heading in ("Why runs ended", "Steps without progress", "Tokens per task", "Steps per task", "Longest streaks"):
        assert heading in headings
    assert "hatched: a loop verdict was given on the run" in texts(page)


def test_the_table_of_runs_leads_to_them(seeded_db: Path) -> None:
    table = overview().dataframe[-1].value
    assert len(table) == 7
    assert f"run?run={seed.HEALTHY}" in list(table["run"])
    assert "running" in list(table["ended"])


def test_the_period_of_the_address_is_used(seeded_db: Path) -> None:
    page = overview()
    page.query_params["period"] = "1h"
    page.run()
    assert not page.exception
    assert metrics(page)["Runs"] == "7"


def test_a_period_that_does_not_exist_shows_everything(seeded_db: Path) -> None:
    page = overview()
    page.query_params["period"] = "<b>"
    page.run()
    assert not page.exception
    assert metrics(page)["Runs"] == "7"


def test_a_period_without_runs_is_told_as_such(db: Path) -> None:
    from datetime import UTC, datetime

    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, seed.HEALTHY, [seed.model(1)], started_at=datetime(2024, 1, 1, tzinfo=UTC))
    page = overview()
    page.segmented_control(key="period").set_value("1h").run()
    assert not page.exception
    assert parameter(page, "period") == "1h"
    assert metrics(page)["Runs"] == "0"
    assert "No run was seen in this period." in texts(page)
    assert not page.get("plotly_chart")
