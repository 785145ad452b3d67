"""What a page shows while there is no run yet; it goes on by itself as soon as there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components import notice
from dashboard.questions import overview

if TYPE_CHECKING:
    from collections.abc import Callable

    from dashboard import data


def there_are_runs(ask: Callable[[], data.Answer] = overview.runs_ever) -> bool:
    """Return whether there is anything to show; where there is not, say so and wait for it.

    Args:
        ask: what returns one row with `any_run`.
    """
    if _holds_runs(ask()):
        return True
    _wait(ask)
    return False


@st.fragment(run_every=2)
def _wait(ask: Callable[[], data.Answer]) -> None:
    ever = ask()
    if _holds_runs(ever):
        st.rerun()
    notice.show(ever)
    if ever.is_usable:
        notice.no_runs()


def _holds_runs(ever: data.Answer) -> bool:
    return ever.is_usable and bool(ever.frame["any_run"].iloc[0])
