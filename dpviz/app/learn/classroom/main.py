"""The script of `dpviz app --lessons`: three pages, and no other exists on such a server.

It stands in a folder without `pages/`, because Streamlit would serve what it finds there as pages.
"""

import streamlit as st

from dpviz.app import frame
from dpviz.app.learn.classroom import hour, projector, seat
from dpviz.errors import DpvizError
from dpviz.installation import bundled, lessons_only

if not lessons_only():
    raise DpvizError("This server would hold more than lessons.", remedy="Start it with `dpviz app --lessons`.")
frame.enter()
frame.dress()
st.set_page_config(page_title="dpviz lessons", page_icon=frame.ICON, layout="wide")
projector.dress()
pages = [
    st.Page(seat.lessons, title="Learn", icon=":material/school:", url_path="lessons", default=True),
    st.Page(bundled("pages/epsilon.py"), title="What is a good ε?", icon=":material/help_center:"),
    st.Page(hour.hour, title="The hour", icon=":material/co_present:", url_path="hour"),
]
st.navigation(pages, position="hidden" if projector.is_on() else "top").run()
