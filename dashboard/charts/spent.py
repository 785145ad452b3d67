"""What a run had spent by the end of each step, as curves below its timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard import theme
from dashboard.charts.base import GRID
from dashboard.language import t
from dashboard.wording import count, dollars

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

HEIGHT = 130
GAP = 26


def add_curves(figure: go.Figure, spent: pd.DataFrame, share: float) -> None:
    """Add the curves of tokens and cost to a figure, each with a scale of its own.

    Args:
        figure: its first y axis lies above.
        spent: rows of `run_spend`.
        share: of the figure's height that the curves get, from the bottom.
    """
    steps = spent["step"].tolist()
    _curve(
        figure,
        steps,
        spent["tokens"],
        theme.TOKENS,
        "y2",
        [_told(step, count(n), "tokens") for step, n in _pairs(spent, "tokens")],
    )
    has_cost = spent["cost_usd"].notna().any()
    if has_cost:
        hover = [_told(step, dollars(amount), "cost") for step, amount in _pairs(spent, "cost_usd")]
        _curve(figure, steps, spent["cost_usd"], theme.COST, "y3", hover)
    look = {"showgrid": False, "zeroline": False, "rangemode": "tozero", "fixedrange": True, "nticks": 4, "automargin": True}
    figure.update_layout(
        yaxis2={
            **look,
            "domain": [0, share],
            "anchor": "x",
            "showgrid": True,
            "gridcolor": GRID,
            "tickformat": "~s",
            "tickfont": {"color": theme.TOKENS},
        },
        xaxis={"anchor": "y2"},
    )
    if has_cost:
        figure.update_layout(
            yaxis3={
                **look,
                "overlaying": "y2",
                "side": "right",
                # Else its ticks stand where the other scale has round numbers.
                "tickmode": "auto",
                "anchor": "x",
                "tickprefix": "$",
                "tickformat": "~g",
                "tickfont": {"color": theme.COST},
            }
        )


def _curve(figure: go.Figure, steps: list[int], values: pd.Series[float], color: str, axis: str, hover: list[str]) -> None:
    figure.add_scatter(
        x=steps,
        y=[None if value != value else value for value in values.astype(float)],  # noqa: PLR0124 - NaN: not known yet
        mode="lines",
        # The two often rise alike: the dashed one lets the other be seen.
        line={"color": color, "width": 2, "shape": "hv", "dash": "solid" if axis == "y2" else "dot"},
        yaxis=axis,
        hovertext=hover,
        hovertemplate="%{hovertext}<extra></extra>",
        name="tokens" if axis == "y2" else "cost",
    )


def _pairs(spent: pd.DataFrame, column: str) -> zip[tuple[int, object]]:
    return zip(spent["step"], spent[column], strict=True)


def _told(step: int, amount: str, what: str) -> str:
    return t(f"timeline.spent_{what}", step=step, amount=amount)
