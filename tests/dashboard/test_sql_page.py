"""The page of SQL: a reader's own questions, bounded, read-only, and shown without anything in them that acts."""

from __future__ import annotations

import csv
import io
from datetime import UTC
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard import data
from dashboard.charts import sql as charts
from dashboard.components.sql import address, controls, editor, schema
from dashboard.components.sql.attempt import LEFT_AFTER_SECONDS, Attempt, Ending, Question
from dashboard.components.sql.desk import MOST_EARLIER, Desk, Notice
from dashboard.components.sql.insertion import appended, look_at, quoted
from dashboard.components.sql.room import Room
from dashboard.language import t
from dashboard.questions import sql as questions
from otel_processor.querying.downloads import csv_bytes, parquet_bytes
from otel_processor.store.database import Database
from otel_processor.store.scripts import examples
from tests.dashboard import seed
from tests.dashboard.conftest import open_page, parameter, texts

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

ENDLESS = "select count(*) from range(10000000) a, range(10000000) b where (a.range * b.range) % 7 = 3"
LONG_WAIT = 60.0


def sql_page(**parameters: str) -> AppTest:
    page = open_page("views/sql.py", **parameters)
    assert not page.exception
    return page


def desk_of(page: AppTest) -> Desk:
    desk: Desk = page.session_state["sql desk"]
    return desk


def begin(page: AppTest, text: str | None = None) -> Attempt:
    """Click on Run; return what was begun."""
    if text is not None:
        page.text_area(key=editor.TEXT).set_value(text)
    page.button(key=controls.RUN).click().run()
    assert not page.exception
    attempt = desk_of(page).attempt
    assert attempt is not None
    return attempt


def ask(page: AppTest, text: str | None = None) -> AppTest:
    """Click on Run and wait for the end."""
    assert begin(page, text).wait(LONG_WAIT)
    page.run()
    assert not page.exception
    return page


def rows(page: AppTest) -> pd.DataFrame:
    """The rows of the result: the only table that is not there to be clicked on."""
    (table,) = [frame for frame in page.dataframe if frame.key is None]
    frame: pd.DataFrame = table.value
    return frame


def has_table(page: AppTest) -> bool:
    return any(frame.key is None for frame in page.dataframe)


def query_of(page: AppTest) -> str:
    return str(page.text_area(key=editor.TEXT).value)


def test_an_example_fills_the_editor_with_its_title_and_shows_its_rows(seeded_db: Path) -> None:
    page = sql_page()
    page.selectbox(key=editor.EXAMPLE).set_value(next(e for e in examples() if e.name == "waste_per_task")).run()
    assert query_of(page).startswith("-- What did going in circles waste, per task?\nselect\n    task,")
    assert not has_table(page)
    ask(page)
    assert set(rows(page).columns) >= {"task", "wasted_tokens"}
    assert "research" in list(rows(page)["task"])
    assert "7 rows. Took " in texts(page)
    assert page.selectbox(key=editor.EXAMPLE).value is None


def test_every_example_has_its_title_in_both_languages() -> None:
    from dashboard import language

    for code in language.LANGUAGES:
        known = {key.removeprefix("sql.example.") for key in language.catalogue(code).texts if key.startswith("sql.example.")}
        assert known == {example.name for example in examples()}


def test_a_query_stands_in_the_address_once_it_is_run(seeded_db: Path) -> None:
    page = ask(sql_page(), "select 42 as answer")
    assert parameter(page, "q") == "select 42 as answer"
    assert list(rows(page)["answer"]) == [42]
    ask(page, "select 1 as one --" + "x" * address.LONGEST)
    assert "q" not in page.query_params


def test_a_query_of_the_address_is_shown_and_not_run(seeded_db: Path) -> None:
    page = sql_page(q="select 'from a link' as it")
    assert query_of(page) == "select 'from a link' as it"
    assert "was not run" in texts(page)
    page.run()
    assert desk_of(page).attempt is None
    assert not has_table(page)
    ask(page)
    assert list(rows(page)["it"]) == ["from a link"]
    assert "was not run" not in texts(page)


def test_what_is_invisible_in_a_query_of_the_address_is_made_visible(seeded_db: Path) -> None:
    page = sql_page(q="select 1 \u202e-- 2\x1b[31m")
    assert query_of(page) == "select 1 [U+202E]-- 2␛[31m"


def test_a_query_of_the_address_that_is_too_long_is_left_out(seeded_db: Path) -> None:
    page = sql_page(q="select 1 --" + "x" * address.LONGEST)
    assert "it was left out" in texts(page)
    assert query_of(page).startswith("-- Which runs loop now?")


@pytest.mark.parametrize(
    "query",
    [
        "insert into spans (trace_id) values ('x')",
        "copy spans to 'stolen.csv'",
        "select * from read_text('/etc/passwd')",
        "from '/etc/passwd'",
    ],
)
def test_writing_and_reading_files_is_refused_in_a_line(seeded_db: Path, query: str) -> None:
    before = seeded_db.read_bytes()
    page = ask(sql_page(), query)
    assert "SQL is read-only here" in texts(page)
    assert not has_table(page)
    assert "root:" not in texts(page)
    assert seeded_db.read_bytes() == before


def test_wrong_sql_is_said_with_its_place_and_the_page_works_on(seeded_db: Path) -> None:
    page = ask(sql_page(), "select task\nfrm runs")
    assert "The query cannot be answered." in texts(page)
    (place,) = [str(code.value) for code in page.code]
    assert place.startswith("LINE 2: frm runs")
    assert "^" in place
    assert "Traceback" not in texts(page)
    assert len(rows(ask(page, "select 1 as a"))) == 1


def test_what_the_engine_quotes_in_an_error_stays_text(seeded_db: Path) -> None:
    page = ask(sql_page(), "select task::INTEGER from runs where task like '%script%'")
    (said,) = [str(text.value) for text in page.text if "script" in str(text.value)]
    assert "<script>alert('run')</script> **bold**" in said
    assert "\u202e" not in said
    assert "\x1b" not in said
    assert not any("script" in str(element.value) for kind in (page.warning, page.markdown, page.caption) for element in kind)


def test_an_empty_query_is_not_run(seeded_db: Path) -> None:
    page = sql_page()
    page.text_area(key=editor.TEXT).set_value("  \n ")
    page.button(key=controls.RUN).click().run()
    assert "There is no query in the editor" in texts(page)
    assert desk_of(page).attempt is None


def test_without_a_database_it_says_how_to_get_one(db: Path) -> None:
    page = sql_page()
    assert "No database yet" in texts(page)
    assert not page.text_area
    assert not db.exists()


def test_a_file_that_is_no_database_is_said(db: Path) -> None:
    db.write_bytes(b"no database at all" * 1000)
    page = sql_page()
    assert "is not a DuckDB database" in texts(page)
    assert not page.text_area


def test_an_empty_database_can_be_asked(empty_db: Path) -> None:
    page = ask(sql_page(), "select run_id, tokens from runs")
    assert "0 rows." in texts(page)
    assert "The query found no rows." in texts(page)
    assert list(rows(page).columns) == ["run_id", "tokens"]
    assert not page.get("plotly_chart")


def test_a_database_that_goes_away_is_said(seeded_db: Path) -> None:
    page = sql_page()
    seeded_db.rename(seeded_db.with_suffix(".gone"))
    # The schema of a moment ago is still known; the query finds out.
    assert begin(page, "select 1").wait(LONG_WAIT)
    attempt = desk_of(page).attempt
    assert attempt is not None
    assert attempt.outcome is not None
    assert attempt.outcome.ending is Ending.NO_DATABASE
    assert "there is no database at" in attempt.outcome.problem


def test_while_the_database_is_held_the_page_says_so(seeded_db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_WAIT_SECONDS", 0.01)
    with Database(seeded_db).write(timeout_seconds=10):
        page = sql_page()
    assert "The database is busy" in texts(page)
    assert page.text_area


def test_hostile_text_is_inert_in_cells_and_in_names(seeded_db: Path) -> None:
    quoted_text = seed.HOSTILE_TEXT.replace("'", "''")
    name = seed.HOSTILE_TEXT.replace('"', '""')
    page = ask(sql_page(), f"select task, '{quoted_text}' as \"{name}\", 1 as n from runs where task like '%script%'")
    frame = rows(page)
    said = [str(frame["task"].iloc[0]), str(frame.columns[1]), str(frame.iloc[0, 1])]
    assert said[0].startswith("<script>alert('run')</script> **bold**")
    for text in said:
        assert "[U+202E]" in text
        assert "\x1b" not in text
    marked = [str(element.value) for kind in (page.markdown, page.caption, page.info, page.warning) for element in kind]
    assert not any("script>" in text or "example.com" in text for text in marked)


def test_a_chart_has_no_tags_of_others() -> None:
    frame = pd.DataFrame({"<b>x</b>": ["<script>", "b"], "<i>n</i>": [1, 2], "c": ["<u>", "v"]})
    for kind in charts.KINDS:
        said = charts.draw(frame, charts.Choice(kind, "<b>x</b>", "<i>n</i>", "c")).figure.to_json()
        for tag in ("<script>", "<i>n", "<b>x", "<u>", "\\u003cscript", "\\u003cu\\u003e"):
            assert tag not in said


def test_rows_beyond_the_limit_are_said(seeded_db: Path) -> None:
    page = sql_page()
    page.number_input(key=controls.ROWS).set_value(50)
    ask(page, "from range(51)")
    assert len(rows(page)) == 50
    assert "50 rows. There are more: 50 was the limit." in texts(page)
    assert "Only the rows above are drawn." in texts(page)
    assert "There are more" not in texts(ask(page, "from range(50)"))


def test_limits_stay_within_their_bounds(seeded_db: Path) -> None:
    page = sql_page()
    assert (page.number_input(key=controls.ROWS).max, page.number_input(key=controls.SECONDS).max) == (10_000, 60)
    begun: list[Attempt] = []
    desk = Desk(Room())
    assert desk.ask("select 1", 1_000_000, 86_400, begin=begun.append)
    assert begun[0].question == Question("select 1", 10_000, 60)
    desk = Desk(Room())
    assert desk.ask("select 1", -1, 0, begin=begun.append)
    assert begun[1].question == Question("select 1", 1, 1)


def test_a_query_that_takes_too_long_is_stopped_and_the_page_works_on(seeded_db: Path) -> None:
    page = sql_page()
    page.number_input(key=controls.SECONDS).set_value(1)
    ask(page, ENDLESS)
    assert "The query was stopped: it took longer than 1 s." in texts(page)
    assert list(rows(ask(page, "select 7 as n"))["n"]) == [7]


def test_a_query_is_cancelled_by_the_button(seeded_db: Path) -> None:
    page = sql_page()
    attempt = begin(page, ENDLESS)
    assert page.button(key=controls.RUN).disabled
    assert not page.button(key=controls.CANCEL).disabled
    page.button(key=controls.CANCEL).click().run()
    assert attempt.wait(LONG_WAIT)
    page.run()
    assert "Cancelled after" in texts(page)
    assert page.button(key=controls.CANCEL).disabled
    assert not page.button(key=controls.RUN).disabled
    with Database(seeded_db).write(timeout_seconds=5):
        pass


def test_an_answer_that_comes_while_the_page_is_drawn_stands_beside_a_button_that_can_be_clicked(
    seeded_db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, show = sql_page(), schema.show

    def slowly(answer: data.Answer, desk: Desk) -> None:
        """The schema is drawn between the button and the answer."""
        if desk.attempt is not None:
            assert desk.attempt.wait(LONG_WAIT)
        show(answer, desk)

    monkeypatch.setattr(schema, "show", slowly)
    begin(page, "select 1 as one")
    assert list(rows(page)["one"]) == [1]
    assert not page.button(key=controls.RUN).disabled


def test_a_query_that_is_refused_at_once_changes_what_is_to_be_drawn(seeded_db: Path) -> None:
    """The page looks again after the click: by then the query may have begun and ended."""
    desk = Desk(Room())
    before = desk.standing

    def at_once(attempt: Attempt) -> None:
        attempt.begin()
        assert attempt.wait(LONG_WAIT)

    assert desk.ask("drop table spans", 1, 1, begin=at_once)
    assert not desk.is_running
    assert desk.standing != before


def test_a_query_ends_when_nobody_looks_any_more(seeded_db: Path) -> None:
    now = [0.0]
    room = Room()
    assert room.enter()
    attempt = Attempt(
        Question(ENDLESS, 10, 60), questions.of_the_reader(ENDLESS, limit_rows=10, limit_seconds=60), room, clock=lambda: now[0]
    )
    attempt.begin()
    now[0] = LEFT_AFTER_SECONDS - 0.1
    assert attempt.look() is None
    now[0] += LEFT_AFTER_SECONDS - 0.1
    assert not attempt.wait(1.5)
    now[0] += 0.2
    assert attempt.wait(LONG_WAIT)
    assert attempt.outcome is not None
    assert attempt.outcome.ending is Ending.LEFT
    assert room.running == 0


def test_one_reader_runs_one_query_and_all_readers_a_few(seeded_db: Path) -> None:
    room = Room(most_running=2)
    desks = [Desk(room) for _ in range(3)]
    begun: list[Attempt] = []
    assert [desk.ask("select 1", 1, 1, begin=begun.append) for desk in desks] == [True, True, False]
    assert desks[2].notice is Notice.OTHERS_RUN
    assert not desks[0].ask("select 2", 1, 1, begin=begun.append)
    assert desks[0].notice is Notice.RUNS_ALREADY
    begun[0].begin()
    assert begun[0].wait(LONG_WAIT)
    assert desks[2].ask("select 1", 1, 1, begin=begun.append)
    assert room.running == 2


def test_a_place_is_given_back_when_no_thread_is_to_be_had(seeded_db: Path) -> None:
    def fails(_: Attempt) -> None:
        raise RuntimeError("can't start new thread")

    room = Room()
    desk = Desk(room)
    assert not desk.ask("select 1", 1, 1, begin=fails)
    assert (desk.notice, room.running, desk.is_running) == (Notice.CANNOT, 0, False)


def test_old_results_of_others_make_room_for_new_ones(seeded_db: Path) -> None:
    room = Room(most_kept=1)
    desks = [Desk(room), Desk(room)]
    for desk in desks:
        assert desk.ask("select 1", 1, 10)
        assert desk.attempt is not None
        assert desk.attempt.wait(LONG_WAIT)
    outcomes = [desk.attempt.outcome for desk in desks if desk.attempt is not None]
    assert [outcome.ending for outcome in outcomes if outcome is not None] == [Ending.LET_GO, Ending.ANSWERED]
    assert outcomes[0] is not None
    assert outcomes[0].frame is None


def test_the_last_ten_queries_can_be_brought_back(seeded_db: Path) -> None:
    page = sql_page()
    assert page.selectbox(key=editor.EARLIER).disabled
    for number in (1, 2, 1):
        ask(page, f"select {number} as n")
    assert page.selectbox(key=editor.EARLIER).options == ["select 1 as n", "select 2 as n"]
    page.text_area(key=editor.TEXT).set_value("-- half done")
    page.selectbox(key=editor.EARLIER).set_value("select 2 as n").run()
    assert query_of(page) == "select 2 as n"
    assert page.selectbox(key=editor.EARLIER).options[0] == "-- half done"
    desk = Desk(Room())
    for number in range(2 * MOST_EARLIER):
        desk.put_aside(f"select {number}")
    assert len(desk.earlier) == MOST_EARLIER
    assert desk.earlier[0] == f"select {2 * MOST_EARLIER - 1}"


def test_the_query_is_still_there_after_a_look_at_another_page(seeded_db: Path) -> None:
    page = ask(sql_page(), "select 5 as five")
    page.switch_page("views/overview.py").run()
    page.switch_page("views/sql.py").run()
    assert not page.exception
    assert query_of(page) == "select 5 as five"
    assert list(rows(page)["five"]) == [5]


def test_what_is_shown_can_be_downloaded_in_full(seeded_db: Path) -> None:
    page = ask(sql_page(), "select repeat('x', 5000) as long, '=1+1' as formula, 3 as n")
    assert "1 long value is shortened in the table" in texts(page)
    assert len(rows(page)["long"].iloc[0]) < 2_100
    assert {button.key: button.disabled for button in page.download_button} == {"sql csv": False, "sql parquet": False}
    attempt = desk_of(page).attempt
    assert attempt is not None
    assert attempt.outcome is not None
    assert attempt.outcome.result is not None
    (row,) = csv.DictReader(io.StringIO(csv_bytes(attempt.outcome.result).decode()))
    assert row == {"long": "x" * 5000, "formula": "'=1+1", "n": "3"}
    table = pyarrow.parquet.read_table(io.BytesIO(parquet_bytes(attempt.outcome.result)))
    assert table.to_pylist() == [{"long": "x" * 5000, "formula": "=1+1", "n": 3}]


def test_what_parquet_does_not_know_cannot_be_downloaded_as_parquet(seeded_db: Path) -> None:
    page = ask(sql_page(), "select {'i': interval '1 day'} as s")
    assert {button.key: button.disabled for button in page.download_button} == {"sql csv": False, "sql parquet": True}


def test_times_are_those_of_the_query_and_it_says_so(seeded_db: Path) -> None:
    assert "Times are in UTC" in texts(ask(sql_page(), "select started_at from runs"))
    assert "Times are in UTC" not in texts(ask(sql_page(), "select started_at::DATE as day from runs"))


def test_a_chart_is_drawn_and_its_columns_are_chosen(seeded_db: Path) -> None:
    page = ask(sql_page(), "select task, steps, tokens from runs")
    assert len(page.get("plotly_chart")) == 1
    kind = next(control for control in page.segmented_control if control.label == "Chart")
    assert kind.value == "bar"
    assert "Each bar is" in texts(page)
    kind.set_value("scatter")
    next(box for box in page.selectbox if box.label == "y: the number").set_value(1).run()
    assert not page.exception
    assert "Each point is a row." in texts(page)
    assert not ask(page, "select task from runs").get("plotly_chart")
    ask(page, "from (values (1, NULL), (NULL, 2)) as t(n, m)")
    assert not page.get("plotly_chart")
    assert "No row has a value for both." in texts(page)


COLUMNS: dict[str, tuple[st.SearchStrategy[Any], Any]] = {
    "count": (st.integers(-(2**63), 2**63 - 1), "Int64"),
    "share": (st.floats(), float),
    "yes": (st.booleans(), "boolean"),
    "at": (st.datetimes(timezones=st.just(UTC)), "datetime64[us, UTC]"),
    "day": (st.sampled_from(["2026-02-28", "2026-02-31", "0001-01-01", "9999-12-31"]), object),
    "word": (st.sampled_from(["", "<script>a</script>", "completed", "x" * 100, "[U+202E]"]), object),
}
"""What a result can have, with the types that a page gives it."""


def columns(**values: Any) -> pd.DataFrame:
    return pd.DataFrame(values)


@pytest.mark.parametrize(
    ("frame", "choice"),
    [
        (columns(n=[1, 2], at=pd.to_datetime(["2026-01-01", "2026-01-02"])), charts.Choice("line", "at", "n", None)),
        (columns(day=["2026-01-01"] * 2, who=["a", "b"], n=[1, 2]), charts.Choice("line", "day", "n", "who")),
        (columns(n=[1, 2], who=["a", "b"]), charts.Choice("bar", "who", "n", None)),
        (columns(n=[1, 2], m=[3.5, 4]), charts.Choice("scatter", "n", "m", None)),
        (columns(n=[1, 2]), charts.Choice("line", None, "n", None)),
        (columns(who=["a", "b"], yes=[True, False]), None),
        (columns(n=[1]), None),
        (columns(n=[None, None]), None),
    ],
)
def test_the_first_chart_is_a_sensible_one(frame: pd.DataFrame, choice: charts.Choice | None) -> None:
    assert charts.first_choice(frame) == choice
    if choice is not None:
        assert len(charts.draw(frame, choice).figure.data) >= 1


def test_of_many_names_the_largest_bars_are_drawn_and_the_rest_is_counted() -> None:
    frame = columns(who=[f"task {n % 200}" for n in range(400)], n=list(range(400)))
    drawn = charts.draw(frame, charts.Choice("bar", "who", "n", None))
    assert (drawn.names, drawn.left_out) == (charts.BARS, 185)
    (bars,) = drawn.figure.data
    # Two rows of one name are one bar.
    assert dict(zip(bars.y, bars.x, strict=True))[0] == 199 + 399
    assert drawn.figure.layout.yaxis.ticktext[0] == "task 199"


def test_values_beyond_the_colours_share_one() -> None:
    frame = columns(n=list(range(40)), m=list(range(40)), who=[f"w{n % 20}" for n in range(40)])
    figure = charts.draw(frame, charts.Choice("scatter", "n", "m", "who")).figure
    assert len(figure.data) == charts.COLORS + 1
    assert figure.data[-1].name == t("sql.other_values")
    assert len(figure.data[-1].x) == 24


def test_what_has_a_colour_elsewhere_has_it_here() -> None:
    from dashboard import theme

    frame = columns(n=[1, 2], m=[1, 2], why=["completed", "error"])
    figure = charts.draw(frame, charts.Choice("scatter", "n", "m", "why")).figure
    assert [part.marker.color for part in figure.data] == [
        theme.stop_reason_color("completed"),
        theme.stop_reason_color("error"),
    ]


@given(drawing=st.data())
@settings(max_examples=40, deadline=None)
def test_any_rows_can_be_drawn_by_any_choice(drawing: st.DataObject) -> None:
    length = drawing.draw(st.integers(1, 6))
    values: dict[str, pd.Series] = {}
    for name, (strategy, dtype) in COLUMNS.items():
        drawn = drawing.draw(st.lists(st.none() | strategy, min_size=length, max_size=length))
        values[name] = pd.Series(drawn, dtype=dtype)
    frame = pd.DataFrame(values)
    first = charts.first_choice(frame)
    assert first is None or first.y in charts.kinds(frame).numbers
    numbers = charts.kinds(frame).numbers
    if numbers:
        kind, y = drawing.draw(st.sampled_from(charts.KINDS)), drawing.draw(st.sampled_from(numbers))
        x, color = (drawing.draw(st.sampled_from([None, *COLUMNS])) for _ in range(2))
        assert "script>" not in charts.draw(frame, charts.Choice(kind, x, y, color)).figure.to_json()


def test_rows_without_a_value_are_no_points() -> None:
    frame = columns(n=[1.0, None, 3.0], m=[1, 2, None])
    (points,) = charts.draw(frame, charts.Choice("scatter", "n", "m", None)).figure.data
    assert list(points.x) == [1.0]


def test_the_schema_is_searched(seeded_db: Path) -> None:
    page = sql_page()
    labels = [box.label for box in page.expander]
    assert labels[:2] == ["runs", "calls"]
    assert r"run\_rows" in labels
    page.text_input(key=schema.SEARCH).set_value("fingerprint").run()
    assert [box.label for box in page.expander] == ["calls", r"call\_rows"]
    assert list(page.dataframe[0].value["column"]) == ["fingerprint"]
    page.text_input(key=schema.SEARCH).set_value("nowhere").run()
    assert not page.expander
    assert "No view, table or column" in texts(page)


def test_a_relation_can_be_looked_at(seeded_db: Path) -> None:
    page = sql_page()
    page.text_input(key=schema.SEARCH).set_value("run_rows").run()
    page.button(key="sql schema run_rows True rows").click().run()
    assert query_of(page) == "select *\nfrom run_rows\nlimit 100;"
    assert len(rows(ask(page))) == 7


def test_names_that_are_no_plain_words_are_quoted() -> None:
    assert [quoted(name) for name in ("run_id", "at", "Größe", 'a"b', "order", "2x")] == [
        "run_id",
        '"at"',
        '"Größe"',
        '"a""b"',
        '"order"',
        '"2x"',
    ]
    assert look_at("at") == 'select *\nfrom "at"\nlimit 100;'


def test_a_name_goes_to_the_end_with_what_has_to_stand_before_it() -> None:
    assert appended("", "task") == "task"
    assert appended("select\n", "task") == "select task"
    assert appended("select task", "steps", before="task") == "select task, steps"
    assert appended("select subtask", "steps", before="task") == "select subtask steps"
    assert appended("select max(", "steps") == "select max(steps"
    assert appended("select r.", "steps") == "select r.steps"
    assert appended("select 1 from ;", "runs") == "select 1 from runs;"


def test_a_foreign_name_means_nothing_to_a_label(empty_db: Path) -> None:
    with Database(empty_db).write(timeout_seconds=10) as connection:
        connection.execute('create view ":red[x] [l](https://example.com) *b* _i_" as select 1 as "<b>"')
    page = sql_page()
    (label,) = [box.label for box in page.expander if "red" in box.label]
    assert not set(label) & set(":[]()*<>`$")
    assert r"\_i\_" in label


def test_it_speaks_spanish(seeded_db: Path) -> None:
    page = sql_page(lang="es")
    assert "¿Qué ejecuciones dan vueltas ahora?" in query_of(page)
    assert "7 filas. Tardó" in texts(ask(page, "select * from runs"))
    assert "solo lectura" in texts(ask(page, "drop table spans"))
