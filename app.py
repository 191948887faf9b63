"""The dashboard, which `dpviz app` opens. Its pages are in `pages/`, what they are made of in `dpviz/app`."""

from pathlib import Path

import streamlit as st

from dpviz.app import frame, parts, state
from dpviz.app.data import using

#: Groups of the navigation: (file in pages/, title, icon).
GROUPS = {
    "Explore": (
        ("data", "Data", ":material/table:"),
        ("tree", "Tree", ":material/account_tree:"),
        ("budget", "Budget", ":material/donut_large:"),
    ),
    "Ask": (
        ("compare", "Compare", ":material/compare_arrows:"),
        ("robustness", "Robustness", ":material/shield:"),
        ("plan", "Plan", ":material/straighten:"),
    ),
    "Trust": (
        ("audit", "Audit", ":material/fact_check:"),
        ("publish", "Publish", ":material/publish:"),
        ("register", "Register", ":material/menu_book:"),
    ),
    "Learn": (("learn", "Learn", ":material/school:"), ("epsilon", "What is a good ε?", ":material/help_center:")),
}
#: What stands at the bare address: a newcomer sees a trained tree at once.
FIRST = "tree"
# `resolve`, and never a path relative to the working directory: the tests start this file from elsewhere.
FOLDER = Path(__file__).resolve().parent / "pages"

frame.enter()
st.set_page_config(page_title="dpviz", page_icon=frame.ICON, layout="wide")
problem = state.follow_url()

pages = {
    group: [
        # Streamlit reserves a default page's own name without answering to it: that page goes by another, which nobody sees
        st.Page(FOLDER / f"{file}.py", title=title, icon=icon, url_path="first" if file == FIRST else file, default=file == FIRST)
        for file, title, icon in entries
    ]
    for group, entries in GROUPS.items()
}
pages["Explore"].append(frame.also_at(FIRST, FOLDER / f"{FIRST}.py"))
chosen = st.navigation(pages)

line = using if chosen.url_path == "data" else parts
line.data_line(state.loaded())
if problem is not None:
    parts.error(problem, kept="The default sample is in use instead.")
chosen.run()
state.write_url()
