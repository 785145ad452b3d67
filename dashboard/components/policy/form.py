"""The form of thresholds to try; nothing is judged until the reader says so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.components.policy import as_file, field_input, outcome, rounds
from dashboard.components.policy.draft import DEFAULTS, IN_FORCE, OFFERED, STARTS, Draft, checked, start_of
from dashboard.components.policy.groups import DEFAULTS as DEFAULT_VALUES
from dashboard.components.policy.groups import change_text, grouped, label_of
from dashboard.components.policy.trial import Question
from dashboard.language import counted, t
from dashboard.questions import policy as questions
from dashboard.wording import inert, short, whole
from otel_processor.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamlit.delta_generator import DeltaGenerator

    from dashboard.components.policy.rounds import Round
    from dashboard.filters import Filters

RUNS = (100, 200, 1_000, 2_000)
_RUNS_AT_FIRST = 200
_OF = "of"


@st.fragment
def show(in_force: Policy, filters: Filters) -> None:
    """Let the reader change thresholds and try them.

    Args:
        in_force: the policy that they are compared with.
        filters: of the page.
    """
    asked = rounds.now(in_force)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        _start(asked, in_force)
        runs = _runs()
    changes, places = _fields(asked, start_of(asked.draft.start, in_force))
    draft = replace(asked.draft, changes=changes)
    rounds.keep(draft)
    for part in draft.refused:
        field_input.problem(t("policy.refused", text=short(part, 80)))
    tried = checked(draft, in_force)
    _beneath(places, changes, tried.start, tried.problems)
    differing = {} if tried.candidate is None else differing_of(in_force, tried.candidate)
    _say(differing, in_force, draft, filters)
    if tried.candidate is not None:
        as_file.show(tried.candidate)
    with st.container(horizontal=True, gap="small"):
        asked_to_run = st.button(
            t("policy.run"),
            type="primary",
            icon=":material/play_arrow:",
            disabled=tried.candidate is None or outcome.is_running(),
            key="policy run",
        )
        if (draft.changes or draft.refused or draft.start != IN_FORCE) and st.button(
            t("policy.reset"), type="tertiary", icon=":material/undo:", key="policy reset"
        ):
            rounds.anew(Draft())
    if asked_to_run and tried.candidate is not None:
        outcome.begin(Question(in_force, tried.candidate, questions.choice_of(filters, runs), differing))


def differing_of(before: Policy, after: Policy) -> dict[str, tuple[object, object]]:
    """Return the fields in which two policies differ, with both values."""
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in DEFAULT_VALUES}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _start(asked: Round, in_force: Policy) -> None:
    """Let the reader choose what the thresholds begin with; another start takes all changes back."""
    now = asked.draft.start
    options = [name for name in STARTS if name != DEFAULTS or in_force != Policy() or now == DEFAULTS]
    labels = {name: t(f"policy.start_{name}") for name in options}
    chosen = st.selectbox(
        t("policy.start"),
        options,
        index=options.index(now),
        format_func=lambda name: labels[name],
        key=f"policy start {asked.number}",
        help=t("policy.start_help"),
        width=300,
    )
    if chosen and chosen != now:
        rounds.anew(Draft(start=chosen))


def _runs() -> int:
    asked = st.query_params.get(_OF, "")
    now = int(asked) if asked in map(str, RUNS) else _RUNS_AT_FIRST
    labels = {runs: t("policy.newest", n=whole(runs)) for runs in RUNS}
    chosen = st.segmented_control(
        t("policy.runs"),
        RUNS,
        default=now,
        required=True,
        format_func=lambda runs: labels[runs],
        key=f"policy runs {now} {t('language.decimal')}",
        help=t("policy.runs_help"),
        wrap=True,
    )
    if chosen and chosen != now:
        st.query_params[_OF] = str(chosen)
        st.rerun()
    return now


def _fields(asked: Round, start: Policy) -> tuple[dict[str, Any], dict[str, DeltaGenerator]]:
    """Show the fields by pattern; return those that are changed, and the places beneath each."""
    changes: dict[str, Any] = {}
    beneath: dict[str, DeltaGenerator] = {}
    columns = st.columns(2, gap="medium")
    for place, (group, members) in enumerate(grouped(list(OFFERED)).items()):
        is_open = any(name in asked.draft.changes for name in members)
        with columns[place % 2], st.expander(label_of(group), expanded=is_open, key=f"policy {group} {asked.number}"):
            for name in members:
                begun = getattr(start, name)
                value = field_input.show(
                    OFFERED[name], begun, asked.draft.changes.get(name, begun), key=f"policy {name} {asked.number}"
                )
                if value is not begun:
                    changes[name] = value
                # What is wrong with a value is known once all of them are.
                beneath[name] = st.container()
    return changes, beneath


def _beneath(
    places: Mapping[str, DeltaGenerator], changes: Mapping[str, Any], start: Policy, problems: Mapping[str, str]
) -> None:
    """Say beneath each field what is wrong with it, and what it was before it was changed."""
    for name, place in places.items():
        with place:
            if name in problems:
                field_input.problem(problems[name])
            if name in changes:
                field_input.instead_of(OFFERED[name], getattr(start, name))
    wrong = [name for name in problems if name in places]
    if wrong:
        # It may lie in a folder that is closed.
        st.warning(counted("policy.wrong_values", len(wrong), names=", ".join(f"`{name}`" for name in wrong)))
    for name in problems.keys() - places.keys():
        field_input.problem(problems[name])


def _say(differing: Mapping[str, tuple[object, object]], in_force: Policy, draft: Draft, filters: Filters) -> None:
    """Say in words what will be tried, and what it leaves out."""
    if differing:
        st.text(t("policy.to_try", changes=inert("; ".join(change_text(name, *pair) for name, pair in differing.items()))))
    if draft.start == IN_FORCE and in_force.task_types:
        types = ", ".join(short(inert(name), 40) for name in sorted(in_force.task_types)[:12])
        st.text(counted("policy.types_keep", len(in_force.task_types), names=types))
    if not questions.is_all_of(filters):
        st.caption(t("policy.filters_left_out"))
