"""The frame around the pages: `python -m streamlit run` starts here."""

from __future__ import annotations

import streamlit as st

from dashboard import language
from dashboard.language import t

# By file name, which is also the address: a link keeps its meaning in every language. A run is reached from what tells of it.
PAGES = ("now", "overview", "runs", "tools", "spend", "policy", "sql", "health")

st.set_page_config(page_title="otel_processor", layout="wide")

# The sign that a page is being drawn comes with a button "Stop", which in front of agents would be read as stopping those.
st.html("<style>[data-testid='stStatusWidget'] { display: none; }</style>")

if asked := st.query_params.get("lang"):
    language.choose(asked)
elif chosen := language.chosen():
    st.query_params["lang"] = chosen

first, *others = PAGES

# They lie in `views`: a folder called `pages` is served by Streamlit itself, without this frame, when a run's link is the
# first thing that is opened.
st.navigation(
    [
        # Streamlit serves the first page without a name; under its name it is a second page, for whoever writes that.
        st.Page(f"views/{first}.py", title=t(f"page.{first}"), url_path="start", default=True),
        st.Page(f"views/{first}.py", title=t(f"page.{first}"), url_path=first, visibility="hidden"),
        *(st.Page(f"views/{name}.py", title=t(f"page.{name}"), url_path=name) for name in others),
        st.Page("views/run.py", title=t("page.run"), url_path="run", visibility="hidden"),
    ],
    position="top",
).run()
