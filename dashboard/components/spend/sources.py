"""Who says what a call cost: the spans, the reader's own prices, or the price list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.language import t
from dashboard.wording import NOTHING, dollars, percent, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

_SOURCES = ("span", "override", "list")


def show(models: pd.DataFrame) -> None:
    """Show where the costs in rows of `spend_calls` about models come from."""
    st.subheader(t("spend.sources"))
    st.caption(t("spend.sources_about"))
    rows = list(_rows(models))
    if not rows:
        st.info(t("spend.no_cost"))
        return
    names = ("source", "calls", "cost", "share")
    table = pd.DataFrame(rows, columns=[t(f"spend.sources_{name}") for name in names])
    st.dataframe(table, hide_index=True, key="cost_sources")


def _rows(models: pd.DataFrame) -> Iterator[tuple[str, str, str, str]]:
    every = models["cost"].sum(min_count=1)
    for source in _SOURCES:
        if calls := int(models[f"{source}_calls"].sum()):
            cost = models[f"{source}_cost"].sum(min_count=1)
            yield t(f"spend.source_{source}"), whole(calls), dollars(cost), percent(cost, every)
    of_roots = models.loc[models["is_root"].astype(bool), "cost"].sum(min_count=1)
    if not pd.isna(of_roots):
        yield t("spend.source_root"), NOTHING, dollars(of_roots), percent(of_roots, every)
    untold = every - sum(models[f"{source}_cost"].sum() for source in _SOURCES) - (0 if pd.isna(of_roots) else of_roots)
    if not pd.isna(untold) and untold > every * 1e-6:
        yield t("spend.source_untold"), NOTHING, dollars(untold), percent(untold, every)
