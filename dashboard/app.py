"""The frame around the pages: `python -m streamlit run` starts here."""

from __future__ import annotations

import streamlit as st

st.set_page_config(page_title="otel_processor", layout="wide")

st.navigation(
    [
        st.Page("pages/overview.py", title="Overview", default=True),
        st.Page("pages/run.py", title="Run", url_path="run"),
    ],
    position="top",
).run()
