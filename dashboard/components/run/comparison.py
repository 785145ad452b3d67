"""A repeated call beside the one it repeats, with what differs marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import differences
from dashboard.components.run import difference, texts
from dashboard.language import counted, t
from dashboard.questions import run as questions
from dashboard.wording import short, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import pandas as pd

    Row = Mapping[Hashable, Any]

_LONGEST_CHANGE = 60
_ALONE = -1


def choose(candidates: pd.DataFrame, *, key: str) -> dict[Hashable, Any] | None:
    """Let the reader choose what a call is compared with; at first the call that it repeats, else none.

    Args:
        candidates: the rows of `earlier_calls` for one call.
        key: of the choice.
    """
    rows = candidates.to_dict("records")
    if not rows:
        return None
    labels = _labels(rows)
    chosen = st.selectbox(
        t("run.compare"),
        [_ALONE, *range(len(rows))],
        index=_at_first(rows),
        format_func=lambda place: t("run.compare_none") if place == _ALONE else labels[place],
        key=key,
        width=420,
    )
    return None if chosen == _ALONE else rows[chosen]


def show(run_id: str, row: Row, other: Row, *, key: str) -> None:
    """Show a call beside an earlier one.

    Args:
        run_id: their run.
        row: of `step_calls`.
        other: of `earlier_calls`.
        key: of the controls.
    """
    answer = questions.call_in_full(run_id, str(other["trace_id"]), str(other["span_id"]))
    if not answer.is_usable or answer.frame.empty:
        st.info(t("run.compare_gone"))
        return
    earlier: Row = answer.frame.to_dict("records")[0]
    step = int(other["step"])
    asked = differences.compare(texts.arguments(earlier, in_order=True), texts.arguments(row, in_order=True))
    came = differences.compare(texts.outcome(earlier), texts.outcome(row))
    st.text(_statement(step, asked, came, other, has_result=bool(texts.outcome(row) or texts.outcome(earlier))))
    sides = (asked.before, asked.after, came.before, came.after)
    unfolded = any(map(_can_fold, sides)) and st.toggle(t("run.unfold"), key=f"unfold {key}")
    if asked.is_same:
        texts.show(t("run.arguments_as", step=step), texts.arguments(row), length=row["arguments_length"])
    else:
        _beside(t("run.arguments"), step, asked, earlier["arguments_length"], row["arguments_length"], unfolded=unfolded)
    if came.is_same:
        texts.show(t("run.result_as", step=step), texts.outcome(row), length=texts.outcome_length(row))
    else:
        lengths = texts.outcome_length(earlier), texts.outcome_length(row)
        _beside(t("run.result"), step, came, *lengths, unfolded=unfolded)


def _beside(label: str, step: int, found: differences.Difference, length: object, own_length: object, *, unfolded: bool) -> None:
    left, right = st.columns(2)
    with left:
        st.caption(t("run.of_step", what=label, step=step))
        _side(found.before, length, is_earlier=True, unfolded=unfolded)
    with right:
        st.caption(t("run.of_this_step", what=label))
        _side(found.after, own_length, is_earlier=False, unfolded=unfolded)


def _side(pieces: tuple[differences.Piece, ...], length: object, *, is_earlier: bool, unfolded: bool) -> None:
    if not pieces:
        texts.show("", "", length=length)
        return
    difference.show(pieces if unfolded else differences.folded(pieces), is_earlier=is_earlier)
    texts.note_cut(length)


def _can_fold(pieces: tuple[differences.Piece, ...]) -> bool:
    return len(differences.folded(pieces)) > len(pieces) and len(pieces) > 1


def _statement(step: int, asked: differences.Difference, came: differences.Difference, other: Row, *, has_result: bool) -> str:
    """Say in one line what a repetition repeats, and what is new about it."""
    if asked.is_same or _is_true(other["same_arguments"]):
        arguments = t("run.says_same_arguments", step=step)
    else:
        arguments = t("run.says_other_arguments", step=step, changes=_changes(asked))
    if not has_result:
        return f"{arguments}; {t('run.says_no_result')}"
    if not came.is_same:
        return f"{arguments}; {t('run.says_other_result', changes=_changes(came))}"
    if came.was_cut:
        return f"{arguments}; {t('run.says_same_beginning')}"
    return f"{arguments}; {t('run.says_same_result')}"


def _changes(found: differences.Difference) -> str:
    """Name the places that differ, as far as they fit into a line."""
    told = [
        f"{short(gone, _LONGEST_CHANGE) or t('run.nothing')} → {short(come, _LONGEST_CHANGE) or t('run.nothing')}"
        for gone, come in found.changes
    ]
    more = found.changed - len(found.changes)
    return ", ".join(told) + (f" {counted('run.more_changes', more)}" if more else "")


def _at_first(rows: list[dict[Hashable, Any]]) -> int:
    """Which option is chosen at first: the call that is repeated, or the one before in the same streak; the first says none."""
    first = rows[0]
    if _is_true(first["same_arguments"]):
        return 1
    return next((place for place, row in enumerate(rows, start=1) if _is_true(row["in_streak"])), 0)


def _labels(rows: list[dict[Hashable, Any]]) -> list[str]:
    """Name the calls, those of one step that would be called the same by a number: Streamlit knows an option by its label."""
    labels: list[str] = []
    for label in map(_label, rows):
        same = sum(label == _label(row) for row in rows[: len(labels)])
        labels.append(f"{label} ({same + 1})" if same else label)
    return labels


def _label(row: Row) -> str:
    facts = [t("run.compare_same_arguments") if _is_true(row["same_arguments"]) else t("run.compare_other_arguments")]
    if _is_true(row["same_result"]):
        facts.append(t("run.compare_same_result"))
    elif row["is_error"]:
        facts.append(t("run.compare_failed"))
    return t("run.compare_with", step=row["step"], facts=", ".join(facts))


def _is_true(value: object) -> bool:
    return text_of(value, "") == "True"
