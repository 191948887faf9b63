"""dpviz in the browser: `streamlit run app.py`. Pages stand in `pages/`; what they are made of in `dpviz/app`."""

from pathlib import Path

import streamlit as st

from dpviz.app import frame, parts, state

#: Groups of the navigation: (file in pages/, title, icon), shown when the file is there.
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
    "Trust": (("audit", "Audit", ":material/fact_check:"), ("publish", "Publish", ":material/publish:")),
    "Learn": (("learn", "Learn", ":material/school:"),),
}
# `resolve`, and never a path relative to the working directory: the tests start this file from elsewhere.
FOLDER = Path(__file__).resolve().parent / "pages"

frame.enter()
st.set_page_config(page_title="dpviz", page_icon=frame.ICON, layout="wide")
problem = state.follow_url()

found = {group: [entry for entry in entries if (FOLDER / f"{entry[0]}.py").exists()] for group, entries in GROUPS.items()}
first = "tree" if (FOLDER / "tree.py").exists() else "data"  # a newcomer sees a trained tree at once
pages = {
    group: [
        st.Page(FOLDER / f"{file}.py", title=title, icon=icon, url_path="first" if file == first else file, default=file == first)
        for file, title, icon in entries
    ]
    for group, entries in found.items()
    if entries
}
pages["Explore"].append(frame.also_at(first, next(page for page in pages["Explore"] if not page.url_path)))
chosen = st.navigation(pages)

parts.data_line(state.loaded())
if problem is not None:
    parts.error(problem, kept="The default sample is in use instead.")
chosen.run()
state.write_url()
