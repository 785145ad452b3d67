"""The verdicts on a run, each with the way to the step at which it fell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.components import alert_words, notice
from dashboard.components.run import steps
from dashboard.language import t
from dashboard.viewer import time_text
from dashboard.wording import text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from dashboard.data import Answer

SHOWN = 3


def show(run_id: str, alerts: Answer, *, flagged: bool) -> None:
    """Show the latest rows of `run_alerts`, and the earlier ones folded.

    Args:
        run_id: the run.
        alerts: its alerts.
        flagged: whether the run carries a verdict, for which there may be no alert any more.
    """
    notice.show(alerts)
    if not alerts.is_usable:
        return
    st.subheader(t("run.verdicts"))
    if alerts.frame.empty:
        st.caption(t("run.no_alert_kept" if flagged else "run.no_verdicts"))
    for row in alerts.frame.tail(SHOWN).iloc[::-1].to_dict("records"):
        _card(run_id, row)
    if len(alerts.frame) > SHOWN:
        with st.expander(t("run.earlier_verdicts", n=len(alerts.frame) - SHOWN)):
            for row in alerts.frame.head(-SHOWN).iloc[::-1].to_dict("records"):
                _card(run_id, row)


def _card(run_id: str, row: Mapping[Hashable, Any]) -> None:
    with st.container(border=True, gap="xsmall"):
        when = time_text(row["raised_at"])
        st.markdown(alert_words.badges(str(row["severity"]), [str(row["pattern"])], row, when))
        st.text(text_of(row["message"]))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(alert_words.whose(row), width="content")
            if not pd.isna(row["step"]):
                steps.link(run_id, int(row["step"]), str(row["alert_id"]))
