"""A sealed copy: when and from what it was made, and that there is nothing to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components import notice
from dashboard.components.health import verdict
from dashboard.language import t
from dashboard.viewer import time_text
from dashboard.wording import inert, short, text_of

if TYPE_CHECKING:
    from dashboard.components.health.problems import Problem
    from dashboard.data import Answer

_LONGEST = 1_000


def show(seal: Answer, problems: list[Problem]) -> None:
    """Show what the copy says of itself, and what is wrong where its schema cannot be read."""
    if problems:
        verdict.show(problems)
    if not notice.drawable(seal):
        return
    row = seal.frame.iloc[0]
    about = t("health.sealed_without_content") if row["without_content"] else t("health.sealed_with_content")
    st.info(f"{t('health.sealed')} {about}")
    # Which runs were chosen, somebody else wrote: text, and no Markdown.
    what = text_of(row["what"])
    chosen = t("health.sealed_everything") if what == "everything" else short(inert(what), _LONGEST)
    st.text(t("health.sealed_made", at=time_text(row["sealed_at"]), by=inert(text_of(row["made_by"]))))
    st.text(t("health.sealed_holds", what=chosen))
