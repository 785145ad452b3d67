"""The page of this moment says who loops, what runs and what it costs; and says so when nothing does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import data, launch
from dashboard.components.now import reasons_bar
from otel_processor.store.database import Database
from tests.dashboard import seed
from tests.dashboard.conftest import parameter, texts

if TYPE_CHECKING:
    from pathlib import Path

LIVE = "live"


def now(**parameters: str | list[str]) -> AppTest:
    """Open the page by its address: it is the first one."""
    page = AppTest.from_file(str(launch.APP), default_timeout=30)
    for name, value in parameters.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def metrics(page: AppTest) -> dict[str, tuple[str, str]]:
    return {metric.label: (str(metric.value), str(metric.delta)) for metric in page.metric}


def good_words(page: AppTest) -> str:
    return "\n".join(str(element.value) for element in (*page.success, *page.info))


def links(page: AppTest) -> list[str]:
    return [link.proto.query_string for link in page.get("page_link") if link.proto.label == "Open run"]


def badges(page: AppTest) -> list[str]:
    return [str(element.value) for element in page.markdown if "-badge[" in str(element.value)]


def add_live(
    db: Path, run_id: str = LIVE, *, flat: int = 0, cost: float | None = 0.01, seconds: float = 60, **columns: object
) -> None:
    """Write an open run that called a model once in every step, the last `flat` of them without progress."""
    calls: list[seed.Row] = []
    for step in range(1, 6):
        streak = max(0, step - (5 - flat))
        calls.append(seed.model(step, 1000, cost_usd=cost))
        calls.append(seed.flat(step, "search", {"q": 1}, streak) if streak else seed.tool(step, "read", {"page": step}))
    begun = datetime.now(UTC) - timedelta(seconds=seconds)
    open_run: seed.Row = {"ended_at": None, "status": "running", "stop_reason": "running", "started_at": begun}
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, run_id, calls, **(open_run | {"seconds_per_call": 1.0} | columns))


def test_without_a_database_it_says_how_to_get_one(db: Path) -> None:
    page = now()
    assert "No database yet" in texts(page)
    assert not db.exists()


def test_without_runs_it_says_so(empty_db: Path) -> None:
    assert "No runs yet" in texts(now())


def test_a_healthy_run_raises_no_alert_and_nothing_runs(db: Path) -> None:
    seed.seed_healthy(db)
    page = now()
    assert metrics(page)["Open alerts"] == ("0", "nobody loops")
    assert metrics(page)["Spent per minute"] == ("-", "nothing runs")
    assert "No open alerts: nobody goes in circles." in good_words(page)
    assert "Nothing is running. The last run was seen 5 min ago." in good_words(page)
    assert not page.dataframe


def test_open_alerts_are_counted_and_listed_first_with_what_they_say(seeded_db: Path) -> None:
    page = now()
    seen = texts(page)
    assert metrics(page)["Open alerts"] == ("2", "2 critical")
    assert "Looping now: 2 runs, newest first" in seen
    assert "Lately over: 1 run, newest first" in seen
    first = seen.index("search was called 3 times with the same arguments")
    assert first < seen.index("3 steps in a row brought nothing new")
    assert "Task research, agent researcher, tool search" in seen
    assert "So far 7 steps, 7k tokens" in seen
    assert "Ended: completed, after 5 steps, 2k tokens" in seen
    assert links(page) == [f"run={run}" for run in (seed.LOOPING, seed.HOSTILE, seed.RESOLVED)]
    assert [
        kind
        for kind in ("critical", "Repeated call", "open", "No progress", "warning")
        if not any(kind in b for b in badges(page))
    ] == []


def test_an_alert_without_names_goes_by_those_of_its_run(db: Path) -> None:
    add_live(db, task="find-invoice", agent="finder")
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_alert(connection, LIVE, 1, task=None, agent=None)
    assert "Task find-invoice, agent finder, tool search" in texts(now())


def test_a_loop_that_was_left_is_resolved_and_one_until_the_end_is_not(seeded_db: Path) -> None:
    assert any("resolved" in badge for badge in badges(now()))
    with Database(seeded_db).write(timeout_seconds=10) as connection:
        connection.execute(
            "update alerts set resolved_at = (select r.ended_at from run_rows as r where r.run_id = alerts.run_id)"
            " where resolved_at is not null"
        )
    data.forget()
    shown = badges(now())
    assert any("run ended" in badge for badge in shown)
    assert not any("resolved" in badge for badge in shown)


def test_alerts_of_a_run_share_a_card(db: Path) -> None:
    add_live(db, flat=4)
    with Database(db).write(timeout_seconds=10) as connection:
        for number, pattern in enumerate(("hard_loop", "no_progress", "uncertainty", "spend_spike")):
            at = datetime.now(UTC) - timedelta(seconds=30 - number)
            seed.add_alert(connection, LIVE, 9, pattern=pattern, message=f"told of {pattern}", at=at, severity="warning")
    page = now()
    seen = texts(page)
    assert links(page) == [f"run={LIVE}"]
    assert "told of spend_spike\ntold of uncertainty\ntold of no_progress" in seen
    assert "told of hard_loop" not in seen
    assert "and 1 more alert of this run" in seen


def test_an_alert_of_a_run_without_a_row_is_shown(empty_db: Path) -> None:
    with Database(empty_db).write(timeout_seconds=10) as connection:
        seed.add_alert(connection, "told-by-a-guard", 0, task="alone", message="it stands alone")
    page = now()
    assert "it stands alone" in texts(page)
    assert "Nothing else is known of this run yet." in texts(page)
    assert links(page) == ["run=told-by-a-guard"]
    assert "it stands alone" in texts(now(task="alone", period="1h"))
    for choice in ({"task": "other"}, {"agent": "other"}, {"model": "gpt-5-mini"}, {"service": "agents"}, {"to": "2020-01-01"}):
        assert "it stands alone" not in texts(now(**choice)), choice


@pytest.mark.parametrize(
    ("choice", "is_shown"),
    [
        ({"task": "research"}, True),
        ({"task": "crawl"}, False),
        ({"agent": "researcher"}, True),
        ({"agent": ""}, False),
        ({"model": "gpt-5-mini"}, True),
        ({"model": "other"}, False),
        ({"service": "agents"}, True),
        ({"service": "other"}, False),
        ({"period": "1h"}, True),
        ({"from": "2020-01-01", "to": "2020-01-02"}, False),
    ],
)
def test_the_filters_choose_alerts_and_open_runs(seeded_db: Path, choice: dict[str, str], is_shown: bool) -> None:
    page = now(**choice)
    assert ("search was called 3 times" in texts(page)) is is_shown
    assert (f"run={seed.LOOPING}" in links(page)) is is_shown
    assert bool(page.dataframe) is is_shown
    if not is_shown:
        assert "No open alert with these filters." in good_words(page)


def test_the_severity_is_chosen_and_stands_in_the_address(seeded_db: Path) -> None:
    page = now()
    page.segmented_control(key="severity .").set_value("warning").run()
    assert parameter(page, "severity") == "warning"
    assert "3 steps in a row" in texts(page)
    assert "search was called 3 times" not in texts(page)
    assert metrics(page)["Open alerts"][0] == "2"
    page.segmented_control(key="severity .").set_value("all").run()
    assert "severity" not in page.query_params
    assert "search was called 3 times" in texts(page)
    assert "3 steps in a row" not in texts(now(severity="critical"))
    assert "3 steps in a row" in texts(now(severity="<b>"))


def test_of_thousands_of_open_alerts_some_are_listed_and_the_rest_counted(empty_db: Path) -> None:
    with Database(empty_db).write(timeout_seconds=10) as connection:
        connection.execute(
            'insert into alerts (alert_id, run_id, trace_id, span_id, "at", pattern, severity, action, message) '
            "select 'a' || i, 'r' || i, 't', 's', now() - to_seconds(i), 'hard_loop', 'critical', 'stop', 'it loops ' || i "
            "from range(1, 2001) as t(i)"
        )
    page = now()
    assert metrics(page)["Open alerts"] == ("2k", "2k critical")
    assert len(links(page)) == 5
    assert "and 1.9k more runs; choose a task, an agent or a severity to see them." in texts(page)
    page.toggle(key="more open alerts").set_value(True).run()
    assert not page.exception
    assert len(links(page)) == 50
    assert "it loops 1\n" in texts(page)


def test_a_new_alert_is_there_when_the_page_asks_again(db: Path) -> None:
    seed.seed_healthy(db)
    page = now()
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_alert(connection, seed.HEALTHY, 1, message="it goes in circles")
    data.forget()
    assert "it goes in circles" in texts(page.run())


def test_open_runs_stand_in_the_order_of_what_looks_worst(db: Path) -> None:
    add_live(db, "spender", cost=0.5)
    add_live(db, "flat", flat=3)
    add_live(db, "alerted", flat=1)
    add_live(db, "cheap", cost=0.001)
    add_live(db, "silent", flat=4, seconds=4000)
    seed.seed_healthy(db)
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_alert(connection, "alerted", 9)
    page = now()
    (table,) = [frame.value for frame in page.dataframe]
    assert [address.removeprefix("run?run=") for address in table["run"]] == ["alerted", "flat", "spender", "cheap", "silent"]
    assert list(table["streak"]) == [1, 3, 0, 0, 4]
    assert list(table["state"]) == ["alert", "running", "running", "running", "running, silent"]
    assert metrics(page)["Open runs"] == ("5", "1 silent")


def test_a_spend_rate_is_that_of_the_last_minutes(db: Path) -> None:
    # Less than a minute old; two of five calls in the last five minutes; all of them an hour ago.
    add_live(db, "young", cost=0.02, seconds=15)
    add_live(db, "older", cost=0.02, seconds=600, seconds_per_call=55.0)
    add_live(db, "old", cost=0.02, seconds=3600)
    page = now()
    frame = page.dataframe[0].value.set_index("run")
    rates = {
        run: tuple(frame.loc[f"run?run={run}", ["cost_per_minute", "tokens_per_minute"]]) for run in ("young", "older", "old")
    }
    assert rates == {"young": ("$0.10", "5k"), "older": ("$0.0080", "400"), "old": ("-", "-")}
    assert metrics(page)["Spent per minute"] == ("$0.11", "5.4k tokens")


def test_what_has_no_price_is_told_in_tokens(db: Path) -> None:
    add_live(db, cost=None, seconds=15)
    assert metrics(now())["Tokens per minute"] == ("5k", "price not known")


def test_the_last_day_is_told_in_a_line_whatever_the_period(seeded_db: Path) -> None:
    with Database(seeded_db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, "f" * 32, [seed.model(1)], started_at=datetime.now(UTC) - timedelta(days=3))
    page = now(period="30d", task="research")
    assert "1 run, 1 looped, 7k tokens, 6k of them wasted" in texts(page)
    (overview,) = [link.proto for link in page.get("page_link") if link.proto.label == "Overview"]
    assert overview.query_string == "period=24h&task=research"


def test_a_day_without_runs_is_told(db: Path) -> None:
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, seed.HEALTHY, [seed.model(1)], started_at=datetime.now(UTC) - timedelta(days=3))
    page = now()
    assert "No run was seen in the last 24 hours." in texts(page)
    assert "Nothing is running. The last run was seen 3 d ago." in good_words(page)


def test_stop_reasons_that_are_not_ours_are_counted_and_not_named() -> None:
    frame = pd.DataFrame(
        {"stop_reason": ["completed", "<script>", "completed"], "flagged": [False, False, True], "runs": [3, 2, 1]}
    )
    bar = reasons_bar.markup(frame)
    assert "completed <b>4</b>" in bar
    assert "other reasons <b>2</b>" in bar
    assert "script" not in bar


def test_hostile_text_stays_text(seeded_db: Path) -> None:
    page = now()
    assert any("<script>alert('run')</script>" in str(text.value) for text in page.text)
    marked = [str(element.value) for kind in (page.markdown, page.caption, page.info, page.success) for element in kind]
    assert not any("script>" in text or "example.com" in text for text in marked)


def test_while_the_database_is_held_the_page_says_so(seeded_db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_WAIT_FOR_ALERTS_SECONDS", 0.01)
    monkeypatch.setattr(data, "_WAIT_SECONDS", 0.01)
    page = now()
    data.forget()
    with Database(seeded_db).write(timeout_seconds=10):
        page.run()
    assert not page.exception
    assert "The database is busy" in texts(page)


def test_it_speaks_spanish(seeded_db: Path) -> None:
    page = now(lang="es")
    assert "Dando vueltas ahora: 2 ejecuciones, la más reciente primero" in texts(page)
    assert metrics(page)["Alertas abiertas"] == ("2", "2 críticas")


def test_what_an_open_run_is_for_is_told_by_its_alert_before_its_root_ends(empty_db: Path) -> None:
    with Database(empty_db).write(timeout_seconds=10) as connection:
        seed.add_run(
            connection,
            seed.LOOPING,
            [seed.tool(1, "search", {"q": "dogs"})],
            ended_at=None,
            stop_reason="running",
            status="running",
            task=None,
            agent=None,
        )
        seed.add_alert(connection, seed.LOOPING, 0, task="find-invoice", agent="finder")
    table = now().dataframe[0].value
    assert table["task"].iloc[0] == "find-invoice"
    assert table["agent"].iloc[0] == "finder"
