"""Figures say what the frames say."""

from __future__ import annotations

import pandas as pd

from dashboard import theme
from dashboard.charts import base, endings, streaks
from dashboard.charts import tasks as charts


def reasons(*rows: tuple[str, bool, int]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["stop_reason", "flagged", "runs"])


def some_tasks(number: int, *, largest: float = 100.0) -> pd.DataFrame:
    spread = {"min": 10.0, "q1": 20.0, "median": 30.0, "q3": 40.0, "max": largest}
    rows = [
        {"task": f"task {place}", "is_rest": False, "tasks": 1, "runs": 3, "tokens": 90}
        | {f"tokens_{name}": value for name, value in spread.items()}
        for place in range(number)
    ]
    return pd.DataFrame(rows)


def test_completed_runs_with_a_verdict_are_told_from_those_without() -> None:
    figure = endings.stop_reasons(reasons(("completed", False, 8), ("completed", True, 2), ("error", False, 1)))
    clean, flagged = (trace for trace in figure.data if trace.showlegend is False)
    assert list(clean.x) == [8, 1]
    assert list(flagged.x) == [2]
    assert clean.marker.pattern.shape is None
    assert flagged.marker.pattern.shape == base.FLAGGED_HATCH
    assert clean.marker.color[0] == flagged.marker.color[0] == theme.stop_reason_color("completed")


def test_a_reason_that_nobody_knows_is_shown_by_its_name() -> None:
    figure = endings.stop_reasons(reasons(("<b>new</b>", False, 1)))
    assert figure.layout.yaxis.ticktext[0].startswith("&lt;b&gt;new")


def test_streaks_beyond_the_cap_share_the_last_bar() -> None:
    frame = pd.DataFrame({"streak": [0, 3, 20], "flagged": [False, False, True], "runs": [5, 2, 1]})
    figure = streaks.lengths(frame, 20)
    assert figure.layout.xaxis.ticktext[-1] == "20+"
    assert list(figure.data[1].x) == [20]


def test_two_hundred_tasks_have_a_row_each_and_room_for_it() -> None:
    figure = charts.spread(some_tasks(200), "tokens")
    assert len(figure.data[0].y) == 200
    assert figure.layout.height >= 200 * 20


def test_the_rest_is_called_the_rest() -> None:
    assert base.task_label(None, 185, is_rest=True) == "<i>185 other tasks</i>"
    assert base.task_label(None, 1, is_rest=False) == "(no task)"
    assert base.task_label("<script>", 1, is_rest=False) == "&lt;script&gt;"


def test_a_task_without_usage_has_no_box_of_tokens() -> None:
    frame = some_tasks(2)
    frame.loc[0, [f"tokens_{name}" for name in ("min", "q1", "median", "q3", "max")]] = None
    figure = charts.spread(frame, "tokens")
    assert figure.layout.yaxis.ticktext == ("task 1",)


def test_one_giant_does_not_flatten_the_others() -> None:
    assert charts.spread(some_tasks(3), "tokens").layout.xaxis.type is None
    assert charts.spread(some_tasks(3, largest=1e6), "tokens").layout.xaxis.type == "log"


def test_shares_are_bars_from_nothing_to_all_and_unknown_ones_have_none() -> None:
    frame = pd.DataFrame({"task": ["a", "b"], "is_rest": [False, False], "tasks": [1, 1], "flat_share": [0.25, None]})
    figure = charts.shares(frame, "flat_share", "share of steps")
    assert list(figure.data[0].x) == [0.25]
    assert figure.layout.yaxis.ticktext == ("a",)


def test_rare_stop_reasons_share_one_colour_over_time_and_none_is_lost() -> None:
    hours = pd.date_range("2026-01-01", periods=2, freq="h")
    frame = pd.DataFrame(
        [
            {"unit": "hour", "stretch": hour, "stop_reason": f"reason {number}", "runs": 20 - number, "flagged": 0}
            for hour in hours
            for number in range(12)
        ]
    )
    figure = endings.over_time(frame)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert len(bars) == endings.REASONS_TOLD_APART + 1
    assert bars[-1].name == "other reasons"
    assert sum(sum(bar.y) for bar in bars) == frame["runs"].sum()


def test_the_share_of_runs_with_a_verdict_is_of_all_runs_of_its_stretch() -> None:
    day = pd.Timestamp("2026-01-01")
    rows = [("completed", 3, 1), ("error", 1, 1)]
    frame = pd.DataFrame(
        [{"unit": "day", "stretch": day, "stop_reason": name, "runs": runs, "flagged": flagged} for name, runs, flagged in rows]
    )
    line = next(trace for trace in endings.over_time(frame).data if trace.type == "scatter")
    assert list(line.y) == [0.5]
