"""Runs that two policies see otherwise: newly flagged, no longer flagged, and flagged at another step or for other patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard import theme
from dashboard.components import run_link
from dashboard.language import counted, t
from dashboard.viewer import time_text
from dashboard.wording import inert, short, text_of

if TYPE_CHECKING:
    from otel_processor.what_if.results import FirstVerdict, Judged, Outcome, RunOutcome

_LONGEST_NAME = 80
_LONGEST_SENTENCE = 300


def show(found: Outcome) -> None:
    """Show the runs of an outcome that differ."""
    newly = [run for run in found.outcomes if run.after.patterns and not run.before.patterns]
    no_longer = [run for run in found.outcomes if run.before.patterns and not run.after.patterns]
    otherwise = [run for run in found.outcomes if run.before.patterns and run.after.patterns and run.differs]
    _flagged("newly", newly, found.newly)
    _flagged("no_longer", no_longer, found.no_longer)
    _otherwise(otherwise)


def _flagged(name: str, runs: list[RunOutcome], of_all: int) -> None:
    """Show runs that one of the policies flags, with the first that it says of each."""
    if not runs:
        return
    st.subheader(counted(f"policy.runs_{name}", of_all))
    told = [run.after if name == "newly" else run.before for run in runs]
    table = _runs(runs, told) | {
        "pattern": [_pattern(each.first) for each in told],
        "step": [each.first.step if each.first else None for each in told],
        "advice": [_advice(each) for each in told],
        "message": [short(inert(each.first.message), _LONGEST_SENTENCE) if each.first else "" for each in told],
    }
    _show(pd.DataFrame(table), key=f"policy runs {name}")
    if len(runs) < of_all:
        st.caption(counted("policy.not_listed", of_all - len(runs)))


def _otherwise(runs: list[RunOutcome]) -> None:
    """Show runs that both policies flag, each otherwise."""
    if not runs:
        return
    st.subheader(counted("policy.runs_otherwise", len(runs)))
    st.caption(t("policy.runs_otherwise_about"))
    table = _runs(runs, [run.after for run in runs]) | {
        "before": [_verdict(run.before) for run in runs],
        "after": [_verdict(run.after) for run in runs],
    }
    _show(pd.DataFrame(table), key="policy runs otherwise")


def _runs(runs: list[RunOutcome], told: list[Judged]) -> dict[str, list[object]]:
    return {
        "run": [_address(run.run_id, each.first) for run, each in zip(runs, told, strict=True)],
        "task": [short(inert(text_of(run.task, t("wording.no_task"))), _LONGEST_NAME) for run in runs],
        "agent": [short(inert(text_of(run.agent)), _LONGEST_NAME) for run in runs],
        "started": [time_text(pd.Timestamp(run.started_ns, unit="ns", tz="UTC").to_pydatetime(warn=False)) for run in runs],
    }


def _show(table: pd.DataFrame, *, key: str) -> None:
    st.dataframe(
        table,
        hide_index=True,
        key=key,
        column_config={
            "run": run_link.column(),
            "task": t("table.task"),
            "agent": t("table.agent"),
            "started": t("table.started"),
            "pattern": t("policy.column_pattern"),
            "step": st.column_config.NumberColumn(t("policy.column_step"), width="small"),
            "advice": t("policy.column_advice"),
            "message": st.column_config.TextColumn(t("policy.column_message"), width="large"),
            "before": st.column_config.TextColumn(t("policy.column_before"), width="large"),
            "after": st.column_config.TextColumn(t("policy.column_after"), width="large"),
        },
    )


def _address(run_id: str, first: FirstVerdict | None) -> str:
    step = f"&step={first.step}" if first is not None and first.step is not None else ""
    return run_link.address(run_id) + step


def _verdict(judged: Judged) -> str:
    """Write for which patterns a run is flagged, the first of them with its step."""
    first = judged.first
    others = sorted(theme.pattern_label(name) for name in judged.patterns if first is None or name != first.pattern)
    step = t("policy.at_step", step=first.step) if first is not None and first.step is not None else ""
    said = ", ".join([f"{_pattern(first)}{step}", *others]) if first is not None else ", ".join(others)
    return f"{said} ({_advice(judged)})"


def _pattern(first: FirstVerdict | None) -> str:
    return theme.pattern_label(first.pattern) if first is not None else ""


def _advice(judged: Judged) -> str:
    return t("policy.advice_stop" if judged.advises_stop else "policy.advice_warn")
