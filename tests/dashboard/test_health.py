"""The page on the state of the system names what is wrong with what to do, and says so when nothing is."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import data, launch
from dashboard.components.health import problems, state
from dashboard.components.health.sizes import size
from otel_processor.sharing.choice import Choice
from otel_processor.sharing.exporting import Format, export
from otel_processor.store import spool, status
from otel_processor.store.creating import SCHEMA_MAJOR, SCHEMA_MINOR
from otel_processor.store.database import Database
from otel_processor.store.opening import open_read_only
from otel_processor.store.surroundings import Room, look_around
from tests.dashboard import seed
from tests.dashboard.conftest import open_page, texts

if TYPE_CHECKING:
    from pathlib import Path


def now() -> datetime:
    return datetime.now(UTC)


KNOWN = f"{SCHEMA_MAJOR}.{SCHEMA_MINOR}"


@pytest.fixture(autouse=True)
def _own_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writers leave word in the temp directory; each test gets its own."""
    folder = tmp_path / "temp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))


def health(**parameters: str) -> AppTest:
    page = open_page("views/health.py", **parameters)
    assert not page.exception
    return page


def metrics(page: AppTest) -> dict[str, str]:
    return {metric.label: str(metric.value) for metric in page.metric}


def good_words(page: AppTest) -> list[str]:
    return [str(element.value) for element in page.success]


def found(now: datetime | None = None) -> dict[str, problems.Problem]:
    return {problem.name: problem for problem in problems.find(state.ask(), now)}


def add_writer(db: Path, writer_id: str = "w", **columns: object) -> None:
    counters = dict.fromkeys(("duplicates", "cut", "spooled", "dropped", "lock_waits", "put_away"), 0)
    row = {
        "writer_id": writer_id,
        "host": "box",
        "pid": 42,
        "version": "0.1",
        "started_at": now(),
        "last_write_at": now(),
        "written": 7,
    }
    with Database(db).write(timeout_seconds=10) as connection:
        seed.insert(connection, "writers", row | counters | columns)


def add_delivery(db: Path, number: int, **columns: object) -> None:
    row = {
        "delivery_id": f"d{number}",
        "sink": "https://hooks.example.com#1a2b3c4d",
        "kind": "alert",
        "run_id": seed.LOOPING,
        "pattern": "hard_loop",
        "state": "sent",
        "attempts": 1,
        "created_at": now(),
        "due_at": now(),
        "tried_at": now(),
        "awaits_end": False,
    }
    with Database(db).write(timeout_seconds=10) as connection:
        seed.insert(connection, "deliveries", row | columns)


def test_without_a_database_it_says_how_to_get_one(db: Path) -> None:
    page = health()
    assert "No database yet" in texts(page)
    assert not good_words(page)
    assert not db.exists()


def test_an_empty_database_is_well_and_nobody_has_written(empty_db: Path) -> None:
    page = health()
    assert good_words(page) == ["All is well: nothing was lost, nothing waits, and everybody gets in."]
    assert "Nobody has written here yet." in texts(page)
    assert "No message was sent" in texts(page)
    assert metrics(page)["Writers at work"] == "0"
    assert metrics(page)["Last write"] == "-"


def test_writers_are_shown_with_what_became_of_their_spans(db: Path) -> None:
    seed.seed_healthy(db)
    add_writer(db, "busy", written=12480, duplicates=3, cut=2, spooled=5, lock_waits=9, put_away=1)
    add_writer(db, "idle", host="other", pid=7, last_write_at=now() - timedelta(hours=2))
    page = health()
    writers = page.dataframe[0].value
    assert list(writers["state"]) == ["at work", "resting"]
    assert list(writers["host"]) == ["box", "other"]
    assert list(writers.loc[0, ["pid", "written", "duplicates", "cut", "spooled", "dropped", "lock_waits", "put_away"]]) == (
        ["42", "12,480", "3", "2", "5", "0", "9", "1"]
    )
    assert writers.loc[1, "last_write"] == "2 h ago"
    assert metrics(page)["Writers at work"] == "1 of 2"
    assert good_words(page)


def test_the_database_is_told_with_its_rows_and_versions(seeded_db: Path) -> None:
    page = health()
    file, versions, rows = (frame.value for frame in page.dataframe[-3:])
    assert str(seeded_db) in list(file["value"])
    assert dict(zip(versions["what"], versions["value"], strict=True))["Schema"] == KNOWN
    assert {"duckdb", "streamlit", "Python", "otel-processor", "opentelemetry-sdk"} <= set(versions["what"])
    counted = dict(zip(rows["table"], rows["rows"], strict=True))
    assert (counted["run_rows"], counted["alerts"], counted["spans"]) == ("7", "3", "0")
    with Database(seeded_db).write(timeout_seconds=10) as connection:
        tables = {name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()}
    assert set(counted) == tables - {"meta"}


def test_lost_spans_are_a_problem_with_a_remedy(empty_db: Path) -> None:
    add_writer(empty_db, "unlucky", dropped=12)
    page = health()
    assert "12 spans were lost; writers that it happened to: 1." in texts(page)
    assert "the writer's log says it" in texts(page)
    assert not good_words(page)
    assert metrics(page)["Lost spans"] == "12"


def test_batches_that_wait_for_long_are_a_problem_and_others_are_not(empty_db: Path) -> None:
    waiting = spool.save(empty_db, {"spans": {}})
    page = health()
    assert metrics(page)["Waiting"] == "1 batch"
    assert good_words(page)
    hours_ago = time.time() - 3 * 3600 - 600
    os.utime(waiting, (hours_ago, hours_ago))
    page = health()
    assert "1 batch of spans waits beside the database; it was put there 3 h ago." in texts(page)
    assert not good_words(page)


def test_a_writer_that_cannot_get_in_is_told_though_there_is_no_database(db: Path) -> None:
    status.write_status(db, "w1", {"host": "<b>box</b>\x1b[31m", "reason": "no rights **here**", "spooled": 4, "dropped": 2})
    page = health()
    told = next(str(text.value) for text in page.text if "cannot reach the database" in str(text.value))
    assert f"process {os.getpid()} on <b>box</b>␛[31m" in told
    assert "no rights **here**. It has put 4 spans aside and lost 2." in told
    assert not any("box" in str(element.value) for element in (*page.markdown, *page.caption))
    assert "No database yet" in texts(page)


def test_the_last_of_many_shut_out_writers_are_told(empty_db: Path) -> None:
    for number in range(20):
        status.write_status(empty_db, f"w{number}", {"host": "box", "reason": "none"})
    assert sum(problem.name == "shut_out" for problem in problems.find(state.ask())) == problems.SHUT_OUT_TOLD


def test_silence_is_a_problem_while_runs_are_open_only(empty_db: Path) -> None:
    add_writer(empty_db)
    later = datetime.now(UTC) + timedelta(minutes=30)
    assert "silence" not in found(later)
    with Database(empty_db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, seed.LOOPING, [seed.model(1)], ended_at=None, status="running", stop_reason="running")
    data.forget()
    assert "silence" not in found(now())
    silence = found(later)["silence"]
    assert (silence.number, silence.values, silence.severity) == (1, {"ago": "30 min ago"}, "warning")


def test_an_older_schema_is_told_and_what_it_lacks_comes_later(seeded_db: Path) -> None:
    with Database(seeded_db).write(timeout_seconds=10) as connection:
        connection.execute(f"update meta set schema_minor = {SCHEMA_MINOR - 1}")
        connection.execute("drop table deliveries")
    page = health()
    assert f"The database has schema {SCHEMA_MAJOR}.{SCHEMA_MINOR - 1}, older than {KNOWN}" in texts(page)
    assert [str(info.value) for info in page.info].count("This comes with the next write.") == 2
    assert not page.warning


def test_another_major_schema_is_a_problem(seeded_db: Path) -> None:
    with Database(seeded_db).write(timeout_seconds=10) as connection:
        connection.execute("update meta set schema_major = 99")
    page = health()
    assert f"The database has schema 99.{SCHEMA_MINOR}; this version understands {KNOWN}." in texts(page)


def test_a_file_of_something_else_is_told(db: Path) -> None:
    db.write_bytes(b"this is no database at all" * 1000)
    page = health()
    assert "The database cannot be read" in texts(page)
    assert metrics(page)["Size"] == "26.0 kB"


def test_a_held_database_is_told_with_its_holder(seeded_db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(data, "_WAIT_FOR_ALERTS_SECONDS", 0.01)
    with Database(seeded_db).write(timeout_seconds=10):
        assert "is held by" in found()["busy"].values["problem"]
        page = health()
    assert "The database is held" in texts(page)
    assert not good_words(page)


def test_messages_about_alerts_are_told_by_sink_and_one_by_one(seeded_db: Path) -> None:
    add_delivery(seeded_db, 1, sent_at=now())
    add_delivery(seeded_db, 2, kind="recovery", state="suppressed")
    page = health()
    sinks, messages = (frame.value for frame in page.dataframe[:2])
    assert list(sinks.loc[0, ["sink", "sent", "suppressed", "gave_up"]]) == ["https://hooks.example.com#1a2b3c4d", "1", "1", "0"]
    assert sorted(messages["kind"]) == ["alert", "end of an alert"]
    assert set(messages["run"]) == {f"run?run={seed.LOOPING}"}
    assert good_words(page)


def test_messages_that_do_not_get_through_are_a_problem(empty_db: Path) -> None:
    add_delivery(empty_db, 1, state="gave_up", error="it answered 500 <b>")
    add_delivery(empty_db, 2, sink="slack#2", state="pending", error="no answer", sent_at=None)
    page = health()
    seen = [str(text.value) for text in page.text]
    first = seen.index("1 message about an alert was not delivered to https://hooks.example.com#1a2b3c4d: it answered 500 <b>")
    assert first < seen.index("1 message about an alert has not got through to slack#2 yet: no answer")
    assert not good_words(page)


def test_the_room_of_a_database_is_told(tmp_path: Path, empty_db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert look_around(tmp_path / "nowhere" / "agents.duckdb").room is Room.NO_FOLDER
    monkeypatch.setattr("otel_processor.store.surroundings.LITTLE_SPACE_BYTES", 1 << 62)
    assert found()["room_little"].severity == "warning"
    monkeypatch.setattr("otel_processor.store.surroundings.NO_SPACE_BYTES", 1 << 62)
    assert found()["room_full"].severity == "critical"
    assert "is full." in texts(health())


def test_hostile_hosts_and_versions_stay_text(empty_db: Path) -> None:
    add_writer(empty_db, host=seed.HOSTILE_TEXT, version=seed.HOSTILE_TEXT)
    page = health()
    writers = page.dataframe[0].value
    assert not any("\x1b" in str(writers.loc[0, column]) for column in ("host", "version"))
    assert not any("script>" in str(element.value) for element in (*page.markdown, *page.caption))


def test_it_speaks_spanish(empty_db: Path) -> None:
    add_writer(empty_db, dropped=1)
    page = health(lang="es")
    assert "Se ha perdido 1 span; escritores afectados: 1." in texts(page)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (5_300_000, "5.3 MB"), (2e12, "2.0 TB"), (5e15, "5000.0 TB")],
)
def test_sizes_are_in_the_unit_that_fits(number: float, text: str) -> None:
    assert size(number) == text


def test_the_page_is_reached_in_its_frame(seeded_db: Path) -> None:
    page = AppTest.from_file(str(launch.APP), default_timeout=30).run()
    page.switch_page("views/health.py").run()
    assert [title.value for title in page.title] == ["Health"]


@pytest.mark.parametrize(
    ("language", "says", "made", "holds", "left_out"),
    [
        ("en", "This file is a sealed copy", "Made: ", "It holds: runs of the task invoice-bot", "was left out"),
        ("es", "Este archivo es una copia sellada", "Hecha: ", "Contiene: runs of the task invoice-bot", "se quitó"),
    ],
)
@pytest.mark.parametrize("without_content", [True, False])
def test_a_sealed_copy_is_told_as_one_and_nothing_is_to_be_done(
    seeded_db: Path, monkeypatch: pytest.MonkeyPatch, language: str, says: str, made: str, holds: str, left_out: str,
    without_content: bool,
) -> None:  # fmt: skip
    copy = seeded_db.with_name("copy.duckdb")
    with open_read_only(seeded_db) as connection:
        (task,) = connection.execute("select task from runs where task is not null order by started_at limit 1").fetchall()[0]
    export(
        seeded_db, copy, kind=Format.DUCKDB, choice=Choice(tasks=(task,)), without_content=without_content, overwrite=False,
        timeout_seconds=5,
    )  # fmt: skip
    monkeypatch.setenv("OTEL_PROCESSOR_DB", str(copy))
    page = health(lang=language)
    seen = texts(page)
    assert says in seen
    assert made in seen
    assert holds.replace("invoice-bot", task) in seen
    assert (left_out in seen) is without_content
    assert not any(word in seen for word in ("Nobody has written here yet", "cannot be written", "No message was sent"))
    assert not page.success
    assert not page.metric
