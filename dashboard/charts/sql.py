"""A quick chart of rows that nobody knows beforehand: which columns can be drawn, a choice to begin with, and the drawing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import base
from dashboard.language import has, t
from dashboard.wording import short, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = ("line", "bar", "scatter")

BARS = 15
"""Names with a bar of their own; more cannot be read."""

NAMES = 40
"""Names on the axis of a line or of points."""

COLORS = 8
"""Values with a colour of their own; the others share one."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_HEIGHT = 360
_LONGEST_TITLE = 40


@dataclass(frozen=True, slots=True)
class Kinds:
    """The columns of a frame by what can be done with them."""

    times: tuple[str, ...]
    numbers: tuple[str, ...]
    names: tuple[str, ...]
    """Texts and truths."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is drawn; `x` None is the number of the row, `color` None is one colour."""

    kind: str
    x: str | None
    y: str
    color: str | None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart, and how many of its names it shows and leaves out."""

    figure: go.Figure
    names: int
    left_out: int


def kinds(frame: pd.DataFrame) -> Kinds:
    """Say what the columns of a frame can be used for; one without any value is good for nothing."""
    times, numbers, names = [], [], []
    for name in frame.columns:
        values = frame[name].dropna()
        if values.empty:
            continue
        if pd.api.types.is_datetime64_any_dtype(values) or _are_days(values):
            times.append(name)
        elif pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            numbers.append(name)
        else:
            names.append(name)
    return Kinds(tuple(times), tuple(numbers), tuple(names))


def first_choice(frame: pd.DataFrame) -> Choice | None:
    """Return what is drawn before somebody chooses: a number over time, else per name, else over another number."""
    known = kinds(frame)
    if not known.numbers or len(frame) < 2:
        return None
    if known.times:
        few = next((name for name in known.names if 2 <= frame[name].nunique() <= COLORS), None)
        return Choice("line", known.times[0], known.numbers[0], few)
    if known.names:
        return Choice("bar", known.names[0], known.numbers[0], None)
    if len(known.numbers) > 1:
        return Choice("scatter", known.numbers[0], known.numbers[1], None)
    return Choice("line", None, known.numbers[0], None)


def draw(frame: pd.DataFrame, choice: Choice) -> Drawn:
    """Draw the rows that have both values; where none has, the figure is empty.

    Args:
        frame: names and texts of it inert.
        choice: of its columns; `y` is a number.
    """
    known = kinds(frame)
    number = frame[choice.y].astype(float)
    place = pd.Series(range(1, len(frame) + 1), index=frame.index) if choice.x is None else frame[choice.x]
    is_named = choice.x is not None and choice.x not in known.times and choice.x not in known.numbers
    if choice.x in known.times:
        is_text = not pd.api.types.is_datetime64_any_dtype(place)
        place = pd.to_datetime(place, format="%Y-%m-%d", errors="coerce") if is_text else place
    elif not is_named:
        place = place.astype(float)
    rows = pd.DataFrame({"x": place, "y": number, "color": _colored(frame, choice.color)})
    rows = rows[rows["y"].notna() & (rows["x"].notna() | is_named)]
    labels: list[str] = []
    left_out = 0
    if is_named:
        rows["x"] = rows["x"].map(lambda value: text_of(value, t("wording.none")))
        order = _order(rows, choice.kind)
        shown = order[: BARS if choice.kind == "bar" else NAMES]
        left_out = len(order) - len(shown)
        rows = rows[rows["x"].isin(shown)]
        rows["said"] = rows["x"]
        rows["x"] = rows["x"].map({name: position for position, name in enumerate(shown)}).astype(int)
        labels = [base.safe(short(name, base.LONGEST_LABEL)) for name in shown]
    else:
        rows["said"] = rows["x"].map(_written)
    is_lying = is_named and choice.kind == "bar"
    figure = go.Figure()
    for (name, color), part in _parts(rows, choice.color):
        _add(figure, choice, part, name, color, is_lying=is_lying)
    _axes(figure, choice, labels, is_lying=is_lying)
    height = base.height(len(labels)) + 30 if is_lying else _HEIGHT
    return Drawn(base.finish(figure, height=height, legend=choice.color is not None), len(labels), left_out)


def _are_days(values: pd.Series) -> bool:
    return all(isinstance(value, str) and _is_day(value) for value in values)


def _is_day(text: str) -> bool:
    if not _DAY.fullmatch(text):
        return False
    try:
        pd.Timestamp(text)
    except ValueError:
        return False
    return True


def _order(rows: pd.DataFrame, kind: str) -> list[str]:
    """Return the names, the largest bars first; on other charts they stand as the query gave them."""
    if kind != "bar":
        return list(dict.fromkeys(rows["x"]))
    return list(rows.groupby("x", sort=False)["y"].sum().abs().sort_values(ascending=False, kind="stable").index)


def _colored(frame: pd.DataFrame, name: str | None) -> pd.Series:
    """Return for each row the value that colours it, None for the values that share a colour."""
    if name is None:
        return pd.Series([""] * len(frame), index=frame.index, dtype=object)
    said = frame[name].map(lambda value: text_of(value, t("wording.none"))).astype(object)
    commonest = set(said.value_counts().index[:COLORS])
    return said.where(said.isin(commonest), None)


def _parts(rows: pd.DataFrame, color: str | None) -> Sequence[tuple[tuple[str, str], pd.DataFrame]]:
    """Return the rows by colour, each with its name and the colour, those that share one last."""
    if color is None:
        return [(("", theme.STEPS), rows)] if len(rows) else []
    names = sorted({name for name in rows["color"] if name is not None})
    found = [
        ((base.safe(short(name, base.LONGEST_LABEL)), _color(name, position)), rows[rows["color"] == name])
        for position, name in enumerate(names)
    ]
    others = rows[rows["color"].isna()]
    if not others.empty:
        found.append(((t("sql.other_values"), theme.NEUTRAL), others))
    return found


def _color(name: str, position: int) -> str:
    """Return the colour of a value: what has one on other pages has it here too."""
    if has(f"stop_reason.{name}"):
        return theme.stop_reason_color(name)
    if has(f"pattern.{name}"):
        return theme.pattern_color(name)
    return theme.SIGNATURES[(position + 1) % len(theme.SIGNATURES)]


def _add(figure: go.Figure, choice: Choice, part: pd.DataFrame, name: str, color: str, *, is_lying: bool) -> None:
    if choice.kind == "bar":
        part = part.groupby(["x", "said"], as_index=False, sort=False).agg({"y": "sum"})
    elif choice.kind == "line":
        part = part.sort_values("x", kind="stable")
    xs, ys = list(part["x"]), list(part["y"])
    looks: dict[str, Any] = {
        "name": name,
        "hovertext": [_told(choice, said, y, name) for said, y in zip(part["said"], ys, strict=True)],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
    if choice.kind == "bar":
        marker = {"color": color, "line": {"width": 0}}
        if is_lying:
            figure.add_bar(x=ys, y=xs, orientation="h", marker=marker, **looks)
        else:
            figure.add_bar(x=xs, y=ys, marker=marker, **looks)
    else:
        mode = "markers" if choice.kind == "scatter" else "lines+markers" if len(xs) <= 60 else "lines"
        figure.add_scatter(x=xs, y=ys, mode=mode, marker={"color": color, "size": 7}, line={"color": color, "width": 2}, **looks)


def _told(choice: Choice, said: str, y: float, name: str) -> str:
    x_title, y_title = (base.safe(short(title, _LONGEST_TITLE)) for title in (choice.x or t("sql.row_number"), choice.y))
    lines = [f"{x_title}: {base.safe(short(said, 80))}", f"{y_title}: <b>{_written(y)}</b>"]
    if choice.color is not None:
        lines.append(f"{base.safe(short(choice.color, _LONGEST_TITLE))}: {name}")
    return "<br>".join(lines)


def _written(value: object) -> str:
    if isinstance(value, pd.Timestamp):
        return value.strftime("%Y-%m-%d" if value == value.normalize() else "%Y-%m-%d %H:%M:%S")
    return f"{value:.6g}" if isinstance(value, float) and not value.is_integer() else str(value).removesuffix(".0")


def _axes(figure: go.Figure, choice: Choice, labels: list[str], *, is_lying: bool) -> None:
    x_title, y_title = (base.safe(short(title, _LONGEST_TITLE)) for title in (choice.x or t("sql.row_number"), choice.y))
    if is_lying:
        base.rows(figure, labels)
        figure.update_xaxes(title=y_title, nticks=6)
        return
    figure.update_yaxes(title=y_title, nticks=6, automargin=True)
    figure.update_xaxes(title=x_title)
    if labels:
        figure.update_xaxes(tickvals=list(range(len(labels))), ticktext=labels, range=[-0.6, len(labels) - 0.4])
