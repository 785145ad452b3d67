"""Messages about alerts on their way to those who are told: how they stand at each sink, and the newest ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard import theme
from dashboard.components import notice, run_link
from dashboard.language import has, t
from dashboard.viewer import time_text
from dashboard.wording import NOTHING, ago, inert, short, text_of, whole

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from dashboard.components.health.state import State

_COUNTS = ("sent", "waiting", "retrying", "suppressed", "held_back", "gave_up")


def show(state: State) -> None:
    """Show the sinks and the newest messages; that nobody is told where there are none."""
    st.subheader(t("health.messages"))
    st.caption(t("health.messages_about"))
    if state.is_to_come(state.sinks):
        st.info(t("health.after_next_write"))
        return
    if not notice.drawable(state.sinks, "health.no_messages"):
        return
    _sinks(state.sinks.frame)
    if state.messages.is_usable and len(state.messages.frame):
        st.caption(t("health.newest_messages"))
        _messages(state.messages.frame)


def _sinks(frame: pd.DataFrame) -> None:
    table = pd.DataFrame(
        {
            "sink": [inert(text_of(name)) for name in frame["sink"]],
            **{name: [whole(value) for value in frame[name]] for name in _COUNTS},
            "last_sent": [ago(at) for at in frame["last_sent_at"]],
            "next_try": [time_text(at) for at in frame["next_try_at"]],
            "last_error": [short(inert(text_of(error)), 200) for error in frame["last_error"]],
        }
    )
    config = {
        name: st.column_config.TextColumn(
            t(f"health.column_{name}"), help=t(f"health.column_{name}_help") if name in _COUNTS else None
        )
        for name in table.columns
    }
    st.dataframe(table, hide_index=True, key="sinks", column_config=config)


def _messages(frame: pd.DataFrame) -> None:
    table = pd.DataFrame([_cells(row) for row in frame.to_dict("records")])
    config = {name: st.column_config.TextColumn(t(f"health.column_{name}")) for name in table.columns if name != "run"}
    st.dataframe(table, hide_index=True, key="messages", column_config={"run": run_link.column(), **config})


def _cells(row: Mapping[Hashable, Any]) -> dict[str, object]:
    run_id = text_of(row["run_id"], "")
    return {
        "created": time_text(row["created_at"]),
        "kind": _known("kind", row["kind"]),
        "delivery_state": _known("state", row["state"]),
        "sink": inert(text_of(row["sink"])),
        "pattern": theme.pattern_label(inert(text_of(row["pattern"]))),
        "task": text_of(row["task"]),
        "attempts": whole(row["attempts"]),
        "error": short(text_of(row["error"]), 200),
        "run": run_link.address(run_id) if run_id and run_id != NOTHING else None,
    }


def _known(section: str, name: object) -> str:
    key = f"health.{section}_{name}"
    return t(key) if has(key) else inert(str(name))
