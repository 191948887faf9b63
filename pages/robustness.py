"""Page "Robustness": how many poisoned rows a tree provably stands, what attacks really do, and what one epsilon buys."""

import streamlit as st

from dpviz.app import parts, state
from dpviz.app.robustness import ask, backdoor, cursor, screen

parts.page("Robustness", "How many poisoned rows can this tree stand, provably?")

loaded = state.loaded()
may_go_on = screen.private_notice(loaded)
request = ask.ask_request(loaded)

if request is not None and may_go_on:
    verdict = st.container()
    view = ask.ask_view()
    found = screen.robustness(request, view, loaded, verdict)
    st.divider()
    screen.attacks(request, found, loaded)
    st.divider()
    cursor.cursor(request, view, loaded)

st.divider()
backdoor.backdoor()
st.divider()
screen.meaning()
