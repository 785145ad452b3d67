"""What was spent: over time, and on what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import base, stretches
from dashboard.language import counted, t
from dashboard.wording import count, dollars, percent, short, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    Row = Mapping[Hashable, Any]

Measure: TypeAlias = Literal["cost", "tokens"]
Kind: TypeAlias = Literal["model", "task", "agent", "service"]

NAMES_TOLD_APART = 15

REST_DRAWN = 1.4
"""How many times as long as the longest bar of a name that of all others is drawn at most."""

_COLORS: dict[str, str] = {"cost": theme.COST, "tokens": theme.TOKENS}


def over_time(frame: pd.DataFrame, measure: Measure) -> go.Figure:
    """A stack for each stretch of time, by model; the models beyond the first ones are one part together."""
    known = frame[frame[measure].notna()]
    names = known.drop_duplicates("place").sort_values("place")
    colors = theme.signature_colors([_model(row) for row in names.to_dict("records") if not row["is_rest"] and row["model"]])
    figure = go.Figure()
    for row in names.to_dict("records"):
        part = known[known["place"] == row["place"]]
        name = f"<i>{t('spend.other_models')}</i>" if row["is_rest"] else _model(row)
        figure.add_bar(
            x=list(part["stretch"]),
            y=list(part[measure].astype(float)),
            width=stretches.width_ms(frame),
            name=name,
            marker={"color": colors.get(name, theme.NEUTRAL), "line": {"width": 0}},
            customdata=[_written(value, measure) for value in part[measure]],
            hovertemplate=f"%{{x}}: %{{customdata}}, {name}<extra></extra>",
        )
    figure.update_yaxes(title=t(f"chart.{measure}"), rangemode="tozero", nticks=6, **_ticks(measure))
    stretches.axis(figure, known)
    base.finish(figure, height=340, legend=True).update_layout(legend={"y": -0.16, "yanchor": "top"}, margin={"t": 8})
    return figure.update_xaxes(showgrid=False)


def bars(frame: pd.DataFrame, measure: Measure, kind: Kind) -> go.Figure:
    """A bar for each name, what was wasted of it hatched.

    Args:
        frame: rows of `spend_groups` of one kind, or what `by_model` makes; those where the measure is not known are left out.
        measure: what the bars are as long as.
        kind: what the names are names of.
    """
    known = frame[frame[measure].notna()]
    sums = [float(value) for value in known[measure]]
    wasted = [
        0.0 if pd.isna(value) else min(float(value), most) for value, most in zip(known[f"wasted_{measure}"], sums, strict=True)
    ]
    words = [_words(row, measure, kind) for row in known.to_dict("records")]
    color = _COLORS[measure]
    figure = go.Figure()
    for flagged, lengths in ((False, [most - waste for most, waste in zip(sums, wasted, strict=True)]), (True, wasted)):
        if flagged and not any(wasted):
            continue
        figure.add_bar(
            orientation="h",
            x=lengths,
            y=list(range(len(known))),
            marker=base.marker(color, flagged=flagged),
            name=t("spend.wasted" if flagged else "spend.not_wasted"),
            hovertext=words,
            hovertemplate="%{hovertext}<extra></extra>",
        )
    labels = [f"{_name(row, kind)}  <b>{_written(row[measure], measure)}</b>" for row in known.to_dict("records")]
    base.rows(figure, labels)
    figure.update_xaxes(title=t(f"chart.{measure}"), rangemode="tozero", nticks=5, **_ticks(measure))
    _cut_the_rest(figure, known, sums)
    return base.finish(figure, height=base.height(len(known)) + (30 if any(wasted) else 0), legend=any(wasted))


def _cut_the_rest(figure: go.Figure, frame: pd.DataFrame, sums: list[float]) -> None:
    """End the axis behind the longest bar of a name where all others together are much more, and say so by an arrow."""
    of_names = [value for value, is_rest in zip(sums, frame["is_rest"], strict=True) if not is_rest]
    longest = max(of_names, default=0.0)
    if longest and len(of_names) < len(sums) and sums[-1] > longest * REST_DRAWN:
        figure.update_xaxes(range=[0, longest * REST_DRAWN])
        figure.add_annotation(
            x=1, xref="paper", y=len(sums) - 1, text="<b>→</b>", showarrow=False, xanchor="left", font={"color": theme.NEUTRAL}
        )


def by_model(frame: pd.DataFrame, measure: Measure, told_apart: int = NAMES_TOLD_APART) -> pd.DataFrame:
    """Return rows of `spend_calls` about models as `bars` takes them.

    The models that come first by the measure have a row each, all others have one.

    What was wasted is kept per run and not per model: it is not known here.
    """
    named = frame[~frame["is_rest"]].sort_values(measure, ascending=False, na_position="last", kind="stable")
    others = pd.concat([named.iloc[told_apart:], frame[frame["is_rest"]]])
    shown = named.head(told_apart).assign(name=[_model(row, frame) for row in named.head(told_apart).to_dict("records")], names=1)
    if len(others):
        sums = {name: others[name].sum(min_count=1) for name in ("cost", "tokens", "calls", "unpriced_calls")}
        shown = pd.DataFrame([*shown.to_dict("records"), {"is_rest": True, "names": int(others["models"].sum()), **sums}])
    return shown.assign(wasted_cost=None, wasted_tokens=None)


def _model(row: Row, among: pd.DataFrame | None = None) -> str:
    """What a row of a model is called; with its provider where several serve the same model."""
    if row["is_root"]:
        return t("spend.root_only")
    name = short(text_of(row["model"], t("wording.no_name")), base.LONGEST_LABEL)
    if among is not None and (among["model"] == row["model"]).sum() > 1 and text_of(row["provider"], ""):
        name = f"{name} ({short(str(row['provider']), 16)})"
    return base.safe(name)


def _name(row: Row, kind: Kind) -> str:
    if row["is_rest"]:
        return f"<i>{counted(f'spend.others_{kind}', int(row['names']))}</i>"
    if kind == "model":
        return str(row["name"])
    return base.safe(short(text_of(row["name"], t(f"spend.no_{kind}")), base.LONGEST_LABEL))


def _words(row: Row, measure: Measure, kind: Kind) -> str:
    other: Measure = "tokens" if measure == "cost" else "cost"
    lines = [
        f"<b>{_name(row, kind)}</b>",
        f"{_written(row[measure], measure)} {t(f'chart.{measure}')}",
        f"{_written(row[other], other)} {t(f'chart.{other}')}",
    ]
    if not pd.isna(row[f"wasted_{measure}"]):
        share = percent(row[f"wasted_{measure}"], row[measure])
        lines.append(t("spend.wasted_of_it", what=_written(row[f"wasted_{measure}"], measure), share=share))
    if row["unpriced_calls"]:
        lines.append(counted("wording.unpriced", int(row["unpriced_calls"])))
    return "<br>".join(lines)


def _written(value: object, measure: Measure) -> str:
    return dollars(value) if measure == "cost" else count(value)


def _ticks(measure: Measure) -> dict[str, str]:
    return {"tickprefix": "$", "tickformat": "~g"} if measure == "cost" else {"tickformat": "~s"}
