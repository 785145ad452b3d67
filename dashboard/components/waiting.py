"""What a page shows while there is no run yet; it goes on by itself as soon as there is one."""

from __future__ import annotations

import streamlit as st

from dashboard import data
from dashboard.components import notice
from dashboard.questions import overview


def there_are_runs() -> bool:
    """Return whether there is anything to show; where there is not, say so and wait for it."""
    if _holds_runs(overview.runs_ever()):
        return True
    _wait()
    return False


@st.fragment(run_every=2)
def _wait() -> None:
    ever = overview.runs_ever()
    if _holds_runs(ever):
        st.rerun()
    notice.show(ever)
    if ever.is_usable:
        notice.no_runs()


def _holds_runs(ever: data.Answer) -> bool:
    return ever.is_usable and bool(ever.frame["any_run"].iloc[0])
