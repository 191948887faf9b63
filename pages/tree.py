"""Page "Tree": the tree these settings give, what is guaranteed about it, and how to take it away."""

import streamlit as st

from dpviz.app import controls, parts, state, tree_parts
from dpviz.app.tree import redraws
from dpviz.app.tree import screen as tree_screen

parts.page("Tree", "Which tree do these settings give, and what may be said about it?")

loaded = state.loaded()
asked = controls.ask_settings()

trained = tree_parts.tree_on_page(asked, loaded)

if trained is not None:
    result = trained.result
    tree_parts.verdict_box(result)
    tree_screen.tree_screen(trained, loaded)
    st.divider()
    measured, taken = st.columns(2, gap="large")
    with measured:
        tree_parts.accuracy(trained.held_out)
        tree_parts.disclosures(result)
    with taken:
        tree_parts.noise_line(result, loaded.role)
        tree_parts.export(trained, loaded.role)
    redraws.redraws_screen(trained, loaded)
