"""Which tool is shown in detail: its name stands in the address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.language import t
from dashboard.wording import option

if TYPE_CHECKING:
    import pandas as pd

_NAME = "tool"
_LONGEST_NAME = 500


def chosen() -> str | None:
    """Return the name of the tool in the address, empty for calls that name none; None when no tool is chosen."""
    asked = st.query_params.get(_NAME)
    return None if asked is None else asked[:_LONGEST_NAME]


def choose(tool: str | None) -> None:
    """Show another tool, or none; the whole page runs anew."""
    if tool == chosen():
        return
    if tool is None:
        st.query_params.pop(_NAME, None)
    else:
        st.query_params[_NAME] = tool
    st.rerun()


def show(frame: pd.DataFrame) -> None:
    """Let the reader choose one of the tools of `tool_figures` by its name."""
    asked = chosen()
    names = [name for name, is_rest in zip(frame["choice"], frame["is_rest"], strict=True) if not is_rest]
    options = names if asked is None or asked in names else [asked, *names]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        wanted = st.selectbox(
            t("tools.choose"),
            options,
            index=None if asked is None else options.index(asked),
            format_func=lambda name: option(name, 80, t("wording.no_name")),
            placeholder=t("tools.choose_one"),
            # A key of its own for each address: following a link must show the linked tool, whatever was chosen before.
            key=f"tool {asked} {t('language.decimal')}",
            width=420,
        )
        closed = asked is not None and st.button(t("tools.close"), type="tertiary", icon=":material/close:")
    choose(None if closed else wanted)
