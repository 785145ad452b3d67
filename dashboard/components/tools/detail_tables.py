"""The tables about one tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.components import run_link
from dashboard.language import has, t
from dashboard.viewer import time_text
from dashboard.wording import NOTHING, percent, seconds_text, short, text_of, whole

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST_TEXT = 200


def callers(frame: pd.DataFrame) -> None:
    """Show rows of `tool_callers`: which tasks and agents call it."""
    table = pd.DataFrame(
        {
            "task": [text_of(task, t("wording.no_task")) for task in frame["task"]],
            "agent": [text_of(agent) for agent in frame["agent"]],
            "calls": frame["calls"],
            "runs": frame["runs"],
            "failed": _shares(frame["failed_calls"], frame["calls"]),
            "flat": _shares(frame["flat_calls"], frame["known_calls"]),
        }
    )
    columns = {
        "task": t("table.task"),
        "agent": t("table.agent"),
        **_counts("calls", "runs"),
        "failed": st.column_config.TextColumn(t("tools.column_failed"), help=t("tools.column_failed_help")),
        "flat": st.column_config.TextColumn(t("tools.column_flat"), help=t("tools.column_flat_help")),
    }
    _show(table, columns, key="tool callers", numbers=("calls", "runs"))


def repeated_calls(frame: pd.DataFrame) -> None:
    """Show rows of `tool_repeats`: the calls that runs made again and again."""
    table = pd.DataFrame(
        {
            "run": _runs(frame["run_id"]),
            "times": frame["times"],
            "arguments": _texts(frame["arguments"]),
            "flat": frame["flat_calls"],
            "runs": frame["runs"],
            "most": frame["run_times"],
        }
    )
    columns = {
        "run": run_link.column(),
        "arguments": st.column_config.TextColumn(t("tools.arguments"), width="large"),
        **_counts("times", "runs"),
        "flat": st.column_config.NumberColumn(t("tools.flat_times"), help=t("tools.flat_times_help")),
        "most": st.column_config.NumberColumn(t("tools.most_times"), help=t("tools.most_times_help")),
    }
    _show(table, columns, key="tool repeats", numbers=("times", "flat", "runs", "most"))


def failures(frame: pd.DataFrame) -> None:
    """Show rows of `tool_errors`: how it fails."""
    table = pd.DataFrame(
        {
            "run": _runs(frame["run_id"], frame["step"]),
            "times": frame["times"],
            "message": _texts(frame["message"]),
            "class": [_error_class(text_of(name, "other")) for name in frame["error_class"]],
            "runs": frame["runs"],
            "last": [time_text(value) for value in frame["last_at"]],
        }
    )
    columns = {
        "run": st.column_config.LinkColumn(t("tools.last_run"), display_text=t("table.open"), width="small"),
        "message": st.column_config.TextColumn(t("tools.message"), width="large"),
        "class": t("tools.class"),
        **_counts("times", "runs"),
        "last": t("tools.last_seen"),
    }
    _show(table, columns, key="tool errors", numbers=("times", "runs"))


def slowest(frame: pd.DataFrame) -> None:
    """Show rows of `tool_slowest`: the calls that took longest."""
    table = pd.DataFrame(
        {
            "run": _runs(frame["run_id"], frame["step"]),
            "step": frame["step"],
            "took": frame["seconds"],
            "outcome": list(map(_outcome, frame["has_failed"], frame["progress"])),
            "agent": [text_of(agent) for agent in frame["agent"]],
            "ended": [time_text(value) for value in frame["ended_at"]],
        }
    )
    columns = {
        "run": run_link.column(),
        "step": st.column_config.NumberColumn(t("tools.step")),
        "took": st.column_config.NumberColumn(t("table.took")),
        "outcome": t("tools.outcome"),
        "agent": t("table.agent"),
        "ended": t("table.ended"),
    }
    _show(table, columns, key="tool slowest", numbers=("step",), seconds=("took",))


def _show(
    table: pd.DataFrame, columns: dict[str, Any], *, key: str, numbers: tuple[str, ...], seconds: tuple[str, ...] = ()
) -> None:
    # What is sorted by are the numbers, what is read is the text.
    written = table.style.format({**dict.fromkeys(numbers, whole), **dict.fromkeys(seconds, seconds_text)})
    st.dataframe(written, hide_index=True, key=key, column_config=columns, placeholder=NOTHING)


def _counts(*names: str) -> dict[str, Any]:
    return {name: st.column_config.NumberColumn(t(f"tools.column_{name}")) for name in names}


def _runs(run_ids: Iterable[object], steps: Iterable[object] | None = None) -> list[str]:
    addresses = [run_link.address(str(run_id)) for run_id in run_ids]
    return addresses if steps is None else [f"{address}&step={step}" for address, step in zip(addresses, steps, strict=True)]


def _shares(parts: Iterable[object], wholes: Iterable[object]) -> list[str]:
    return list(map(percent, parts, wholes))


def _texts(values: Iterable[object]) -> list[str]:
    return [short(text_of(value), _LONGEST_TEXT) for value in values]


def _error_class(name: str) -> str:
    return t(f"tools.{name}_errors") if has(f"tools.{name}_errors") else name


def _outcome(failed: object, progress: object) -> str:
    if failed:
        return t("tools.failed")
    known = text_of(progress, "")
    return t("tools.unknown" if not known else "tools.new" if known == "True" else "tools.stale")
