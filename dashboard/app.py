"""The frame around the pages: `python -m streamlit run` starts here."""

from __future__ import annotations

import streamlit as st

st.set_page_config(page_title="otel_processor", layout="wide")

# They lie in `views`: a folder called `pages` is served by Streamlit itself, without this frame, when a run's link is the
# first thing that is opened.
st.navigation(
    [
        st.Page("views/overview.py", title="Overview", default=True),
        st.Page("views/run.py", title="Run", url_path="run"),
    ],
    position="top",
).run()
