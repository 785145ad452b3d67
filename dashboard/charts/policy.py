"""How many runs are flagged for each pattern, under the thresholds in force and under those that are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import base
from dashboard.language import t
from dashboard.wording import whole

if TYPE_CHECKING:
    import pandas as pd

_FAINT = 0.4
"""How much of its colour a bar has that is before."""

_ROW_HEIGHT = 44


def flagged(frame: pd.DataFrame) -> go.Figure:
    """Two bars for each pattern: before in a faint tone of its colour, after in full.

    Args:
        frame: `pattern`, `before` and `after`, a row for each pattern; those that flag nothing are left out.
    """
    rows = [row for row in frame.to_dict("records") if row["before"] or row["after"]]
    figure = go.Figure()
    colors = [theme.pattern_color(row["pattern"]) for row in rows]
    for name, opacity in (("before", _FAINT), ("after", 1.0)):
        figure.add_bar(
            orientation="h",
            x=[row[name] for row in rows],
            y=list(range(len(rows))),
            name=t(f"policy.chart_{name}"),
            marker={"color": [_toned(color, opacity) for color in colors], "line": {"width": 0}},
            text=[whole(row[name]) for row in rows],
            textposition="outside",
            textfont={"size": 12},
            constraintext="none",
            cliponaxis=False,
            hovertext=[f"<b>{_label(row['pattern'])}</b><br>{t(f'policy.chart_{name}')}: {whole(row[name])}" for row in rows],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )
        # The legend tells faint from full; the colours stand beside their names already.
        figure.add_bar(
            orientation="h",
            x=[None],
            y=[None],
            name=t(f"policy.chart_{name}"),
            marker={"color": _toned(theme.NEUTRAL, opacity), "line": {"width": 0}},
        )
    base.rows(figure, [_label(row["pattern"]) for row in rows])
    most = max((max(row["before"], row["after"]) for row in rows), default=1)
    figure.update_xaxes(title=t("chart.runs"), range=[0, most * 1.12], **base.whole_ticks(most))
    return base.finish(figure, height=110 + _ROW_HEIGHT * max(len(rows), 2), legend=True).update_layout(
        barmode="group", bargap=0.25, bargroupgap=0.08
    )


def _toned(color: str, opacity: float) -> str:
    """Return a colour with an opacity of its own: a legend shows that, and not the opacity of a marker."""
    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def _label(pattern: str) -> str:
    return base.safe(theme.pattern_label(pattern))
