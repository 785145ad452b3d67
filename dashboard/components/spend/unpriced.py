"""The models whose price is not known, by name, and what to do about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.language import counted, t
from dashboard.wording import count, text_of, whole

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

_SHOWN = 50


def show(models: pd.DataFrame) -> None:
    """Show the rows of `spend_calls` about models that have calls without a cost."""
    st.subheader(t("spend.without_price"))
    st.caption(t("spend.without_price_about"))
    without = models[models["unpriced_calls"] > 0].sort_values(["is_rest", "unpriced_tokens"], ascending=[True, False])
    if without.empty:
        st.info(t("spend.all_priced"))
        return
    rows = without.head(_SHOWN).to_dict("records")
    table = pd.DataFrame(
        {
            t("spend.provider"): [text_of(row["provider"]) for row in rows],
            t("spend.model"): [_name(row) for row in rows],
            t("spend.calls"): [whole(row["unpriced_calls"]) for row in rows],
            t("table.tokens"): [count(row["unpriced_tokens"]) for row in rows],
        }
    )
    st.dataframe(table, hide_index=True, key="unpriced_models")
    if len(without) > _SHOWN:
        st.caption(counted("spend.others_model", len(without) - _SHOWN))
    st.caption(t("spend.what_to_do"))
    st.code(remedy(rows), language=None, wrap_lines=True)


def _name(row: Mapping[Hashable, Any]) -> str:
    return counted("spend.others_model", int(row["models"])) if row["is_rest"] else text_of(row["model"], t("wording.no_name"))


def remedy(rows: list[dict[Hashable, Any]]) -> str:
    """Return the lines of a policy file that give these models a price."""
    named = [str(row["model"]) for row in rows if text_of(row["model"], "")][:3] or ["house-llama-*"]
    lines = [f"{_toml_key(name)} = {{ input = 0.20, output = 0.60 }}" for name in named]
    return "\n".join(["[prices]", *lines])


def _toml_key(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
