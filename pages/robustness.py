"""Page "Robustness": how many poisoned rows a tree provably stands, what attacks really do, and what one epsilon buys."""

import streamlit as st

from dpviz.app import parts, robustness_ask, robustness_backdoor, robustness_cursor, robustness_screen, state

parts.page("Robustness", "How many poisoned rows can this tree stand, provably?")

loaded = state.loaded()
may_go_on = robustness_screen.private_notice(loaded)
question = robustness_ask.ask_question(loaded)

if question is not None and may_go_on:
    verdict = st.container()
    look = robustness_ask.ask_look()
    found = robustness_screen.robustness(question, look, loaded, verdict)
    st.divider()
    robustness_screen.attacks(question, found, loaded)
    st.divider()
    robustness_cursor.cursor(question, look, loaded)

st.divider()
robustness_backdoor.backdoor()
st.divider()
robustness_screen.meaning()
