"""Charts of what was spent, each with one sentence on what it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.charts import base
from dashboard.charts import spend as charts
from dashboard.components import notice
from dashboard.language import t
from dashboard.questions import spend as questions

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    import plotly.graph_objects as go

    from dashboard.charts.spend import Kind, Measure
    from dashboard.data import Answer


def over_time(answer: Answer, by: Measure) -> None:
    """When it was spent, and on which models."""
    unit = answer.frame["unit"].iloc[0] if len(answer.frame) else "day"
    st.subheader(t(f"spend.over_time_{by}_{unit}"))
    st.caption(t(f"spend.over_time_{by}_about", n=questions.MODELS_TOLD_APART))
    if notice.drawable(answer, "spend.nothing_known"):
        _draw(answer.frame, by, "over time", lambda frame: charts.over_time(frame, by))


def by_model(answer: Answer, by: Measure) -> None:
    """On which models it was spent."""
    st.subheader(t(f"spend.{by}_by_model"))
    st.caption(t("spend.by_model_about"))
    if notice.drawable(answer):
        _draw(charts.by_model(answer.frame, by), by, "model", lambda frame: charts.bars(frame, by, "model"))


def by_group(answer: Answer, by: Measure, kind: Kind) -> None:
    """For which tasks, agents or services it was spent."""
    st.subheader(t(f"spend.{by}_by_{kind}"))
    st.caption(t(f"spend.by_{kind}_about"))
    if notice.drawable(answer):
        _draw(answer.frame[answer.frame["kind"] == kind], by, kind, lambda frame: charts.bars(frame, by, kind))


def _draw(frame: pd.DataFrame, by: Measure, name: str, drawn: Callable[[pd.DataFrame], go.Figure]) -> None:
    if frame[by].notna().any():
        figure = drawn(frame)
        st.plotly_chart(figure, key=f"spend {name}", config=base.CONFIG)
        if figure.layout.annotations:
            st.caption(t("spend.arrow"))
    else:
        st.info(t(f"spend.no_{by}"))
