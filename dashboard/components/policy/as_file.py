"""The thresholds to try as a file, and how to use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components.policy.toml_text import not_said, toml_of
from dashboard.language import t
from dashboard.wording import inert, short

if TYPE_CHECKING:
    from otel_processor.policy import Policy

_FILE = "policy.toml"
_USE = f"""OTEL_PROCESSOR_POLICY={_FILE} python agent.py
otel-processor replay --policy {_FILE} --dry-run
otel-processor replay --policy {_FILE}"""


def show(policy: Policy) -> None:
    """Show the file that makes a policy, to copy or to download."""
    text = toml_of(policy)
    with st.expander(t("policy.as_file"), icon=":material/description:", key="policy file"):
        if not text:
            st.caption(t("policy.file_empty"))
            return
        st.caption(t("policy.file_about", name=_FILE))
        st.code(text, language=None, wrap_lines=True)
        st.download_button(
            t("policy.download"), text, file_name=_FILE, mime="application/toml", icon=":material/download:", on_click="ignore"
        )
        missing = not_said(policy)
        if missing:
            st.text(t("policy.file_cannot_say", what=short(inert(", ".join(f"{kind}: {name}" for kind, name in missing)), 300)))
        st.caption(t("policy.file_use"))
        st.code(_USE, language=None, wrap_lines=True)
