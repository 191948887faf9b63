"""Page "Budget": where epsilon goes, who decided that, and whether the claim is what the steps compose to."""

from functools import partial

import streamlit as st

from dpviz.app import controls, explorations, frame, parts, state, tree_parts
from dpviz.app.budget import lab, screen
from dpviz.figures import as_python

parts.page("Budget", "Where does ε go?")

loaded = explorations.rows_to_explore()
guarantee = st.container()
asked = controls.ask_settings()

trained = tree_parts.tree_on_page(asked, loaded)

if trained is not None:
    result = trained.result
    with guarantee:
        tree_parts.guarantee_of(result)
    screen.spending_of(result)
    screen.rounds_screen(trained)
    screen.settings(result)

st.divider()
lab.lab(asked, loaded)
frame.go_on("budget")
frame.as_python(partial(as_python.budget, state.rows_read(), asked.request, asked.draw))
