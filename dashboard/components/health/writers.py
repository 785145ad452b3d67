"""Who writes to the database, and what became of what each was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.components import notice
from dashboard.language import counted, t
from dashboard.viewer import time_text
from dashboard.wording import ago, inert, text_of, whole

if TYPE_CHECKING:
    from dashboard.components.health.state import State

_COUNTERS = ("written", "duplicates", "cut", "spooled", "dropped", "lock_waits", "put_away")


def show(state: State) -> None:
    """Show the writers, the one that wrote last first."""
    st.subheader(t("health.writers"))
    st.caption(t("health.writers_about"))
    if not notice.drawable(state.writers, "health.no_writers"):
        return
    frame = state.writers.frame
    table = pd.DataFrame(
        {
            "state": [t("health.recent") if recent else t("health.resting") for recent in frame["is_recent"]],
            "host": [text_of(host) for host in frame["host"]],
            "pid": frame["pid"].astype(str),
            "last_write": [ago(at) for at in frame["last_write_at"]],
            **{name: [whole(value) for value in frame[name]] for name in _COUNTERS},
            "version": [inert(text_of(version)) for version in frame["version"]],
            "started": [time_text(at) for at in frame["started_at"]],
        }
    )
    st.dataframe(
        table,
        hide_index=True,
        key="writers",
        column_config={name: st.column_config.TextColumn(t(f"health.column_{name}"), help=_help(name)) for name in table.columns},
    )
    if (more := int(frame["writers"].iloc[0]) - len(frame)) > 0:
        st.caption(counted("health.more_writers", more))


def _help(name: str) -> str | None:
    return t(f"health.column_{name}_help") if name in _COUNTERS else None
