"""Runs that have not ended: how long they stand still, and what they spend."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard import theme
from dashboard.components import notice, run_link
from dashboard.language import counted, t
from dashboard.questions import now as questions
from dashboard.wording import NOTHING, ago, count, dollars, duration, number_of, text_of, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from dashboard.filters import Filters

_ROW_PIXELS = 35
_ROWS_SEEN = 12
_COUNTS = ("streak", "steps")


def show(filters: Filters) -> None:
    """Show the open runs among the chosen ones, what looks worst first."""
    st.subheader(t("now.open_runs"))
    answer = questions.open_runs(filters)
    if not answer.is_usable:
        notice.show(answer)
        return
    if answer.frame.empty:
        _nothing_runs(filters)
        return
    in_all = int(answer.frame["runs"].iloc[0])
    st.caption(t("now.open_runs_about", minutes=questions.RATE_MINUTES))
    _table(answer.frame)
    if in_all > len(answer.frame):
        st.caption(counted("now.runs_not_shown", in_all - len(answer.frame)))


def _nothing_runs(filters: Filters) -> None:
    seen = questions.last_seen(filters)
    when = ago(seen.frame["seen_at"].iloc[0]) if seen.is_usable else ""
    st.info(t("now.nothing_runs_since", ago=when) if any(letter.isdigit() for letter in when) else t("notice.nothing_chosen"))


def _table(frame: pd.DataFrame) -> None:
    now = datetime.now(UTC)
    table = pd.DataFrame([_cells(row, now) for row in frame.to_dict("records")]).astype(dict.fromkeys(_COUNTS, "Int64"))
    colors = [f"color: {theme.CRITICAL}" if int(number) else "" for number in frame["open_alerts"]]
    # What is sorted by are the numbers; of a run that only the guard told of they are not known.
    written: dict[Any, str | Callable[[object], str] | None] = dict.fromkeys(_COUNTS, whole)
    styled = table.style.apply(lambda _: colors, subset=["state"]).format(written)
    st.dataframe(
        styled,
        hide_index=True,
        key="open_runs",
        placeholder=NOTHING,
        height=_ROW_PIXELS * (1 + min(len(table), _ROWS_SEEN)) + 3,
        column_config={
            "run": run_link.column(),
            "streak": st.column_config.NumberColumn(t("now.streak"), width="small", help=t("now.streak_help")),
            "steps": st.column_config.NumberColumn(t("table.steps"), width="small"),
            **{name: t(f"table.{name}") for name in ("task", "agent", "tokens", "cost")},
            **{
                name: t(f"now.{name}")
                for name in ("state", "tool", "running_for", "last_seen", "tokens_per_minute", "cost_per_minute")
            },
        },
    )


def _cells(row: Mapping[Hashable, Any], now: datetime) -> dict[str, object]:
    return {
        "run": run_link.address(str(row["run_id"])),
        "state": _state(row),
        "task": text_of(row["task"], t("wording.no_task")),
        "agent": text_of(row["agent"]),
        "streak": number_of(row["open_flat_streak"]),
        "steps": number_of(row["steps"]),
        "tool": text_of(row["tool"]),
        "running_for": duration(row["started_at"], now),
        "last_seen": ago(row["last_seen_at"], now=now),
        "tokens": count(row["tokens"]),
        "cost": dollars(row["cost_usd"]),
        "tokens_per_minute": count(round(row["tokens_per_minute"], 0) if pd.notna(row["tokens_per_minute"]) else None),
        "cost_per_minute": dollars(row["cost_per_minute"]),
    }


def _state(row: Mapping[Hashable, Any]) -> str:
    """Say whether it loops now, has looped, or is quiet; and if nobody has heard of it for long."""
    verdict = text_of(row["flagged_reason"], "")
    if int(row["open_alerts"]):
        state = t("now.state_looping", pattern=theme.verdict_label(verdict)) if verdict else t("now.state_alert")
    elif verdict:
        state = t("now.state_looped", pattern=theme.verdict_label(verdict))
    else:
        state = t("stop_reason.running")
    return t("now.state_silent", state=state) if row["is_silent"] else state
