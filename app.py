"""The dashboard. Its pages are in `pages/`, what they are made of in `dpviz/app`.

`dpviz app` opens it. `streamlit run app.py` imports this file and runs the server `app`, which checks requests in the same way.
Both then run this file as the script of every session.
"""

from pathlib import Path

import streamlit as st
from streamlit.starlette import App

from dpviz.app import frame, parts, preparation, publish, state
from dpviz.app.serving import MANUAL, checked_requests

#: Groups of the navigation: (file in pages/, title, icon).
GROUPS = {
    "Explore": (
        ("data", "Data", ":material/table:"),
        ("tree", "Tree", ":material/account_tree:"),
    ),
    "Ask": (
        ("compare", "Compare", ":material/compare_arrows:"),
        ("robustness", "Robustness", ":material/shield:"),
    ),
    "Trust": (
        ("audit", "Audit", ":material/fact_check:"),
        ("publish", "Publish", ":material/publish:"),
    ),
    "Learn": (("learn", "Learn", ":material/school:"),),
}
#: Page -> the page of the documentation that says how to use it.
HELP = {
    "data": "how-to/declare-the-schema",
    "compare": "how-to/compare-algorithms",
    "robustness": "explanation/poisoning",
    "audit": "explanation/verdicts",
    "publish": "how-to/release-and-sign",
    "learn": "tutorials/lessons",
}
#: What stands at the bare address: a newcomer sees a trained tree at once.
FIRST = "tree"
#: Addresses of pages that stand elsewhere: (file in pages/, what the address says beside).
LEAD_TO: dict[str, tuple[str, dict[str, str]]] = {
    FIRST: (FIRST, {}),
    "budget": (FIRST, {}),
    "plan": ("compare", {"tab": frame.PLAN_TAB}),
    "register": ("publish", {publish.VIEW: publish.REGISTER}),
    "epsilon": ("learn", {"lesson": "What others use"}),
}
#: Pages that may be about something else than the table in use, and say what.
LINES = {"data": preparation.data_line, "publish": publish.data_line}
LINES |= dict.fromkeys(("audit", "learn"), parts.no_data_line)
# `resolve`, and never a path relative to the working directory: the tests start this file from elsewhere.
FOLDER = Path(__file__).resolve().parent / "pages"


def dashboard() -> None:
    """One run of a session: the navigation, the line about the data, the chosen page."""
    frame.inject_css()
    st.set_page_config(page_title="dpviz", page_icon=frame.ICON, layout="wide")
    problem = state.follow_url()

    pages = {
        group: [
            # Streamlit reserves a default page's own name without answering to it: that page goes by another, which nobody sees
            st.Page(
                FOLDER / f"{file}.py",
                title=title,
                icon=icon,
                url_path="first" if file == FIRST else file,
                default=file == FIRST,
            )
            for file, title, icon in entries
        ]
        for group, entries in GROUPS.items()
    }
    pages["Explore"] += [frame.redirect(name, FOLDER / f"{file}.py", **more) for name, (file, more) in LEAD_TO.items()]
    chosen = st.navigation(pages)

    about = HELP.get(chosen.url_path, "tutorials/first-tree")
    st.sidebar.link_button("Help", f"{MANUAL}/{about}.html", type="tertiary", icon=":material/help:")
    st.sidebar.link_button("Glossary", f"{MANUAL}/reference/glossary.html", type="tertiary", icon=":material/dictionary:")
    LINES.get(chosen.url_path or FIRST, parts.data_line)(state.data_in_use())
    if problem is not None:
        parts.error(problem, kept="The default sample is in use instead.")
    if not frame.checks_requests():
        st.caption(":material/lock_open: This server does not check requests: made-up and public rows only. `dpviz app` does.")
    chosen.run()
    state.write_url()


if __name__ == "__main__":
    dashboard()
else:
    app = App(__file__, **checked_requests())
