"""Page "Robustness": how many poisoned rows a tree provably stands, and what attacks really do."""

import streamlit as st

from dpviz.app import explorations, frame, parts
from dpviz.app.robustness import ask, screen

parts.page("Robustness", "How many poisoned rows can this tree provably withstand?")

loaded = explorations.rows_to_explore()
asked = ask.ask_request(loaded)

if asked is not None:
    request, view = asked
    verdict = st.container()
    found = screen.robustness(request, view, loaded, verdict)
    st.divider()
    screen.attacks(request, found, loaded)

st.divider()
screen.meaning()
if asked is not None:
    frame.go_on("robustness")
    frame.as_python(asked[0].as_python)
