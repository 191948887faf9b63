"""Page "Tree": the tree these settings give, what is guaranteed about it, and how to take it away."""

import streamlit as st

from dpviz.app import controls, explorations, parts, tree_parts
from dpviz.app.tree import fresh, opened
from dpviz.app.tree import screen as tree_screen
from dpviz.app.tree.measured import measured_line, measured_screen
from dpviz.app.tree.person import person_screen

LEAD = "A private tree hides any one row in noise. Drag ε and watch: less hides a row better, more brings the tree into focus."

parts.page("Tree", LEAD)

loaded = explorations.rows_to_explore()
from_file = opened.ask_model_file()
if from_file is not None:
    opened.opened_screen(from_file, loaded)
    st.stop()
asked = controls.ask_settings()

with st.container():  # what is said of a tree that still grows moves nothing below it
    trained = tree_parts.tree_on_page(asked, loaded)

if trained is not None:
    result = trained.result
    tree_parts.verdict_box(result)
    measured_line(trained.held_out)
    with st.container():
        tree_screen.tree_screen(trained, loaded)
    person_screen(result.model, trained.tree)
    st.divider()
    measured, taken = st.columns(2, gap="large")
    with measured:
        measured_screen(trained.held_out, loaded.schema, result.test_report)
        tree_parts.disclosures(result)
    with taken:
        tree_parts.noise_line(result, loaded.role)
        tree_parts.export(trained, loaded.role)
    fresh.redraws_screen(trained, loaded)
