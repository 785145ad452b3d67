"""The state in a few numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components.health.sizes import size
from dashboard.language import counted, t
from dashboard.wording import NOTHING, ago, count, number_of

if TYPE_CHECKING:
    from dashboard.components.health.state import State

_WIDTH = 164


def show(state: State) -> None:
    """Show when somebody wrote last, who is at work, what waits, what was lost, and how large it all is."""
    written = state.signs.frame["written_at"].iloc[0] if state.signs.is_usable and len(state.signs.frame) else None
    around = state.around
    with st.container(horizontal=True, gap="small"):
        _number("last_write", ago(written))
        _number("at_work", _at_work(state))
        _number("lost", NOTHING if not state.writers.is_usable else count(_lost(state)))
        waiting = counted("health.batches", around.spool_files)
        _number("spool", waiting if around.spool_files else t("health.nothing"))
        _number("size", size(around.total_bytes))
        _number("free", size(around.free_bytes))


def _at_work(state: State) -> str:
    if not state.writers.is_usable:
        return NOTHING
    frame = state.writers.frame
    if frame.empty:
        return count(0)
    return t("health.of", n=count(frame["recent_writers"].iloc[0]), all=count(frame["writers"].iloc[0]))


def _lost(state: State) -> int:
    frame = state.writers.frame
    return 0 if frame.empty else int(number_of(frame["all_dropped"].iloc[0]) or 0)


def _number(name: str, value: str) -> None:
    st.metric(t(f"health.{name}"), value, help=t(f"health.{name}_help"), border=True, width=_WIDTH)
