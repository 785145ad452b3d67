"""The frame around the pages: `python -m streamlit run` starts here."""

from __future__ import annotations

import streamlit as st

from dashboard import language
from dashboard.language import t

# By file name, which is also the address: a link keeps its meaning in every language. A run is reached from what tells of it.
PAGES = ("now", "overview", "runs", "tools", "spend", "policy", "sql", "health")

st.set_page_config(page_title="otel_processor", layout="wide")

if asked := st.query_params.get("lang"):
    language.choose(asked)
elif chosen := language.chosen():
    st.query_params["lang"] = chosen

# They lie in `views`: a folder called `pages` is served by Streamlit itself, without this frame, when a run's link is the
# first thing that is opened.
st.navigation(
    [
        *(st.Page(f"views/{name}.py", title=t(f"page.{name}"), url_path=name, default=name == PAGES[0]) for name in PAGES),
        st.Page("views/run.py", title=t("page.run"), url_path="run", visibility="hidden"),
    ],
    position="top",
).run()
