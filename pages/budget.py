"""Page "Budget": where epsilon goes, who decided that, and whether the claim is what the steps compose to."""

import streamlit as st

from dpviz.app import controls, explorations, parts, tree_parts
from dpviz.app.budget import lab, screen

parts.page("Budget", "Where does ε go, who decided that, and does the sum keep the promise?")

loaded = explorations.rows_to_explore()
asked = controls.ask_settings()

trained = tree_parts.tree_on_page(asked, loaded)

if trained is not None:
    result = trained.result
    tree_parts.verdict_box(result, reason=False)
    screen.spent(result)
    screen.rounds_screen(trained, loaded)
    st.divider()
    screen.settings(result)
    tree_parts.disclosures(result)

st.divider()
lab.lab(asked, loaded)
