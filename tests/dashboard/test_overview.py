"""The overview says what is going on, and says so when nothing is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from otel_processor.store.database import Database
from otel_processor.store.totals import recount
from tests.dashboard import seed
from tests.dashboard.conftest import overview, texts

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


def test_the_headline_counts_runs_and_tokens(seeded_db: Path) -> None:
    shown = metrics(overview())
    assert shown["Runs"] == "7"
    assert shown["Running"] == "1"
    assert shown["Looped"] == "2 (29 %)"
    assert shown["Recovered"] == "1 (14 %)"
    assert shown["Tokens"] == "15k"
    assert shown["Wasted tokens"] == "6k (40 %)"
    assert shown["Cost"] == "-"


def test_cost_is_shown_with_what_it_leaves_out(seeded_db: Path) -> None:
    with Database(seeded_db).write(timeout_seconds=10) as connection:
        priced = "select trace_id, min(span_id) from call_rows where kind = 'model' and trace_id = $run group by all"
        connection.execute(f"update call_rows set cost_usd = 12.4 where (trace_id, span_id) in ({priced})", {"run": seed.HEALTHY})
        recount(connection, [seed.HEALTHY])
    page = overview()
    assert metrics(page)["Cost"] == "$12.40"
    assert "model calls without a known price not counted" in texts(page)


def test_every_chart_says_what_it_counts(seeded_db: Path) -> None:
    page = overview()
    # No run has a price: the chart of costs is a sentence.
    assert len(page.get("plotly_chart")) == 7
    assert "No run has a known cost." in texts(page)
    assert len(page.caption) >= len(page.subheader) - 1
    assert "hatched: a loop verdict was given on the run" in texts(page)


def test_the_longest_streaks_lead_to_their_runs(seeded_db: Path) -> None:
    table = overview().dataframe[0].value
    assert table["run"].iloc[0] == f"run?run={seed.LOOPING}"
    assert table["ended"].iloc[0] == "goes on"


def test_a_task_that_takes_more_than_it_did_is_told(seeded_db: Path) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=20)
    with Database(seeded_db).write(timeout_seconds=10) as connection:
        for number in range(5):
            started = long_ago + timedelta(hours=number)
            seed.add_run(connection, f"{number:032x}", [seed.model(1, 1_000)], started_at=started, task="summarise")
    table = overview(period="24h").dataframe[-1].value
    assert list(table["Task"]) == ["summarise"]
    assert list(table["Change"]) == ["3 times"]


def test_a_period_without_runs_is_told_as_such(db: Path) -> None:
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, seed.HEALTHY, [seed.model(1)], started_at=datetime(2024, 1, 1, tzinfo=UTC))
    page = overview(period="1h")
    assert not page.exception
    assert metrics(page)["Runs"] == "0"
    assert "No run was seen in this period with these filters." in texts(page)
    assert not page.get("plotly_chart")
