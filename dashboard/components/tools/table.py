"""All tools as a table that can be sorted by each of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.components.tools import choice
from dashboard.language import counted, current, t
from dashboard.wording import NOTHING, number_of, percent, seconds_text, text_of, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    Row = Mapping[Hashable, Any]

_TOLD = "tool in the address"
_ROUND = "tools round"

_EFFECTS = ("read", "write", "poll")


def show(frame: pd.DataFrame) -> None:
    """Show rows of `tool_figures`; choosing a row shows that tool in detail."""
    st.caption(t("tools.table_about"))
    kept = frame["is_rest"].map(lambda is_rest: not is_rest)
    names = list(frame.loc[kept, "choice"])
    asked = choice.chosen()
    chosen = st.dataframe(
        _table(frame),
        hide_index=True,
        # Rows are chosen by their place: with another order it is another table.
        key=f"tools {_round(asked)} {hash(tuple(names))}",
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": [names.index(asked)] if asked in names else []}},
        column_config=_columns(),
        placeholder=NOTHING,
    )
    places = chosen["selection"]["rows"]
    wanted = names[places[0]] if places and places[0] < len(names) else None
    if wanted is not None or asked in names:
        st.session_state[_TOLD] = wanted
        choice.choose(wanted)


def _round(asked: str | None) -> int:
    """Return a number that is another one when the address asks for a tool that was not chosen here.

    Else the table stays the same one, and sorted as it was.
    """
    if st.session_state.get(_TOLD) != asked:
        st.session_state[_TOLD] = asked
        st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    return int(st.session_state.get(_ROUND, 0))


def _table(frame: pd.DataFrame) -> Any:
    rows = frame.to_dict("records")
    table = pd.DataFrame(
        {
            "tool": [_name(row) for row in rows],
            "calls": frame["calls"].astype("Int64"),
            "runs": frame["runs"].astype("Int64"),
            "failed": _shares(frame, "failed_calls", "calls"),
            **{name: frame[f"{name}_errors"].astype("Int64") for name in ("transient", "permanent", "validation", "other")},
            "retries": frame["retries"].astype("Int64"),
            "attempts": [
                row["signed_calls"] / (row["signed_calls"] - row["retries"]) if row["signed_calls"] else None for row in rows
            ],
            "repeated": _shares(frame, "repeated_calls", "signed_calls"),
            "flat": _shares(frame, "flat_calls", "known_calls"),
            **{name: frame[f"seconds_{name}"].astype(float) for name in ("median", "p95", "max")},
            "effect": [_effect(row) for row in rows],
        }
    )
    # What is sorted by are the numbers, what is read is the text.
    written: dict[Any, str | Callable[[object], str] | None] = {
        **dict.fromkeys(("calls", "runs", "transient", "permanent", "validation", "other", "retries"), whole),
        **dict.fromkeys(("failed", "repeated", "flat"), lambda share: percent(share, 1)),
        **dict.fromkeys(("median", "p95", "max"), seconds_text),
        "attempts": _times,
    }
    return table.style.format(written)


def _columns() -> dict[str, Any]:
    numbers = (
        "calls", "runs", "failed", "transient", "permanent", "validation", "other", "retries", "attempts", "repeated", "flat",
        "median", "p95", "max",
    )  # fmt: skip
    return {
        "tool": st.column_config.TextColumn(t("tools.tool"), pinned=True, width=180),
        "effect": st.column_config.TextColumn(t("tools.effect"), width="small", help=t("tools.effect_help")),
        **{name: _number(name) for name in numbers},
    }


def _number(name: str) -> Any:
    return st.column_config.NumberColumn(t(f"tools.column_{name}"), help=t(f"tools.column_{name}_help"))


def _name(row: Row) -> str:
    return counted("tools.others", int(row["tools"])) if row["is_rest"] else text_of(row["tool"], t("wording.no_name"))


def _shares(frame: pd.DataFrame, part: str, of: str) -> list[float | None]:
    return [some / every if every else None for some, every in zip(frame[part], frame[of], strict=True)]


def _effect(row: Row) -> str:
    """Say what the calls do to the world, most of them first."""
    found = sorted((name for name in _EFFECTS if row[f"{name}_calls"]), key=lambda name: -int(row[f"{name}_calls"]))
    rest = int(row["calls"]) - sum(int(row[f"{name}_calls"]) for name in _EFFECTS)
    words = [t(f"tools.{name}") for name in found]
    return ", ".join([*words, t("tools.unknown_effect")] if rest or not words else words)


def _times(value: object) -> str:
    """Write a factor with two digits: 1.02."""
    number = number_of(value)
    return NOTHING if number is None else current().number(f"{number:.2f}")
