"""The script of `dpviz app --lessons`: one page, and no other exists on such a server.

It stands in a folder without `pages/`, because Streamlit would serve what it finds there as pages.
"""

import streamlit as st

from dpviz.app import frame
from dpviz.errors import DpvizError
from dpviz.installation import bundled, lessons_only

if not lessons_only():
    raise DpvizError("This server would hold more than lessons.", remedy="Start it with `dpviz app --lessons`.")
frame.inject_css()
st.set_page_config(page_title="dpviz lessons", page_icon=frame.ICON, layout="wide")
page = bundled("pages/learn.py")
former = frame.redirect("epsilon", page, lesson="What others use")
st.navigation([st.Page(page, title="Learn", icon=":material/school:", default=True), former], position="hidden").run()
