"""Charts over all tools, each with one sentence on what it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.charts import base
from dashboard.charts import tools as charts
from dashboard.language import t

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    import plotly.graph_objects as go


def outcomes(frame: pd.DataFrame) -> None:
    """How calls came out."""
    _show("outcomes", frame, charts.outcomes, has_any=True)


def errors(frame: pd.DataFrame) -> None:
    """How calls failed."""
    _show("errors", frame, charts.errors, has_any=bool(frame["failed_calls"].sum()))


def repeats(frame: pd.DataFrame) -> None:
    """How much was called before."""
    _show("repeats", frame, charts.repeats, has_any=bool(frame["signed_calls"].sum()))


def latency(frame: pd.DataFrame) -> None:
    """How long calls take."""
    _show("latency", frame, charts.latency, has_any=bool(frame["seconds_median"].notna().any()))


def _show(name: str, frame: pd.DataFrame, drawn: Callable[[pd.DataFrame], go.Figure], *, has_any: bool) -> None:
    st.subheader(t(f"tools.{name}"))
    st.caption(t(f"tools.{name}_about"))
    if has_any:
        st.plotly_chart(drawn(frame), key=f"tools {name}", config=base.CONFIG)
    else:
        st.info(t(f"tools.no_{name}"))
