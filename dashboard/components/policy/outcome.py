"""The what-if of one session: begun once at a time, watched while it runs, shown when it is over."""

from __future__ import annotations

import streamlit as st

from dashboard.components.policy import result
from dashboard.components.policy.trial import Question, Trial
from dashboard.language import t
from dashboard.wording import seconds_text, whole

_KEPT = "policy trial"
_REFUSED = "policy trial refused"


def is_running() -> bool:
    """Whether this session tries something."""
    trial = _trial()
    return trial is not None and not trial.is_over


def begin(question: Question) -> None:
    """Try other thresholds, unless this session does already or too many others do; the page runs anew."""
    if is_running():
        return
    trial = Trial(question)
    st.session_state[_REFUSED] = not trial.begin()
    if not st.session_state[_REFUSED]:
        st.session_state[_KEPT] = trial
    st.rerun()


def show() -> None:
    """Show how far it is, or what came of it; nothing where nothing was tried."""
    if st.session_state.pop(_REFUSED, False):
        st.info(t("policy.others_run"))
    trial = _trial()
    if trial is None:
        return
    if not trial.is_over:
        _progress(trial)
    elif (found := trial.outcome) is not None:
        result.show(trial.question, found)
    else:
        st.warning(t("policy.failed"))
        st.text(trial.problem)


@st.fragment(run_every=1)
def _progress(trial: Trial) -> None:
    if trial.is_over:
        st.rerun()
    done, of, seconds = trial.look()
    said = t("policy.done_of", done=whole(done), of=whole(of)) if of else t("policy.begins")
    st.progress(min(done / of, 1.0) if of else 0.0, text=f"{said}, {seconds_text(seconds)}")
    if trial.is_cancelled:
        st.caption(t("policy.stopping"))
    elif st.button(t("policy.cancel"), icon=":material/stop:", key="policy cancel"):
        trial.cancel()
        st.rerun()


def _trial() -> Trial | None:
    trial: Trial | None = st.session_state.get(_KEPT)
    return trial
