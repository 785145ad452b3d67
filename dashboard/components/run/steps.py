"""Which step of a run the reader looks at, and which stretch of a long run; both hold while a run goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.language import t
from dashboard.questions import run as questions
from dashboard.wording import whole

if TYPE_CHECKING:
    import pandas as pd


def state_key(run_id: str) -> str:
    """Return under which key the chosen step of a run is kept: setting it chooses a step."""
    return f"step {run_id}"


def verdict_steps(alerts: pd.DataFrame) -> list[int]:
    """Return the steps at which verdicts fell, the first first."""
    return sorted({int(step) for step in alerts["step"].dropna()}) if len(alerts) else []


def chosen(run_id: str, last_step: int, alerts: pd.DataFrame) -> int:
    """Return the chosen step; at first the one in the address, else that of the first verdict, else the last."""
    key, told_key = state_key(run_id), f"step told {run_id}"
    asked = st.query_params.get("step", "")
    wanted = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 10 else None
    followed_a_link = wanted is not None and asked != st.session_state.get(told_key)
    if key not in st.session_state or followed_a_link:
        first = verdict_steps(alerts)
        st.session_state[key] = min(max(wanted if wanted is not None else first[0] if first else last_step, 1), last_step)
    step = int(st.session_state[key])
    st.session_state[told_key] = str(step)
    if asked != str(step):
        st.query_params["step"] = str(step)
    return step


def window(run_id: str, last_step: int, step: int) -> tuple[int, int, int]:
    """Let the reader page through a long run; return the number of the stretch, its first and its last step."""
    size = questions.STEPS_PER_PAGE
    if last_step <= size:
        return 0, 1, last_step
    blocks = {0: (last_step - size + 1, last_step)} | {
        number: ((number - 1) * size + 1, number * size) for number in range((last_step - 1) // size, 0, -1)
    }
    key, followed_key = f"block {run_id}", f"block of step {run_id}"
    if key not in st.session_state or st.session_state[key] not in blocks:
        st.session_state[key] = _block_of(step, last_step)
    elif step != st.session_state.get(followed_key):
        # The reader went to another step: the stretch follows. That a run grows moves nothing.
        first, last = blocks[st.session_state[key]]
        if not first <= step <= last:
            st.session_state[key] = _block_of(step, last_step)
    st.session_state[followed_key] = step
    block = st.selectbox(
        t("run.window"),
        list(blocks),
        format_func=lambda number: t(
            "run.window_last" if number == 0 else "run.window_of", first=whole(blocks[number][0]), last=whole(blocks[number][1])
        ),
        key=key,
        width=280,
    )
    return block, *blocks[block]


def _block_of(step: int, last_step: int) -> int:
    size = questions.STEPS_PER_PAGE
    return 0 if step > last_step - size else (step - 1) // size + 1


def navigation(run_id: str, last_step: int, step: int, verdicts: list[int]) -> None:
    """Show the ways to another step that need no mouse: one further, to a verdict, or by number."""
    key = state_key(run_id)
    before, after = [at for at in verdicts if at < step], [at for at in verdicts if at > step]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        _button("previous_step", "chevron_left", key, step - 1 if step > 1 else None)
        st.number_input(t("run.step_number"), min_value=1, max_value=max(last_step, step), key=key, width=180)
        _button("next_step", "chevron_right", key, step + 1 if step < last_step else None)
        if verdicts:
            _button("previous_verdict", "keyboard_double_arrow_left", key, before[-1] if before else None)
            _button("next_verdict", "keyboard_double_arrow_right", key, after[0] if after else None)


def link(run_id: str, step: int, name: str) -> None:
    """Show what leads to a step, in place.

    Args:
        run_id: the run.
        step: the step.
        name: what tells this link from others on the page.
    """
    _choose_button(t("run.go_to_step", step=whole(step)), "arrow_downward", state_key(run_id), step, f"go {name}")


def _button(name: str, icon: str, key: str, step: int | None) -> None:
    _choose_button(t(f"run.{name}"), icon, key, step, f"{name} {key}", button_type="secondary")


def _choose_button(label: str, icon: str, key: str, step: int | None, name: str, *, button_type: str = "tertiary") -> None:
    st.button(
        label,
        icon=f":material/{icon}:",
        key=name,
        type="secondary" if button_type == "secondary" else "tertiary",
        disabled=step is None,
        on_click=st.session_state.__setitem__,
        args=(key, step),
    )
