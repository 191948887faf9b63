"""Page "Tree": the tree these settings give, what is guaranteed about it, and how to take it away."""

from functools import partial

import streamlit as st

from dpviz.app import controls, expected, explorations, frame, parts, state, tree_parts
from dpviz.app.tree import measured, opened, person, resampling
from dpviz.app.tree import screen as tree_screen
from dpviz.figures import as_python

parts.page("Tree")

loaded = explorations.rows_to_explore()
file = opened.file_in_use()
if file is not None:
    opened.opened_screen(file, loaded)
    frame.as_python(partial(as_python.opened, opened.file_name()))
    st.stop()
guarantee, row = st.container(), controls.settings_row()
asked = controls.ask_settings(row, tree_screen.ask_view)

with st.container():  # what is said of a tree that still grows moves nothing below it
    trained = tree_parts.tree_on_page(asked, loaded)

if trained is not None:
    result = trained.result
    with guarantee:
        tree_parts.guarantee_of(result)
    with st.container():
        explorations.say_made_up(loaded, partial(expected.expected_screen, trained.asked.request))
        tree_screen.tree_screen(trained, loaded, row)
    tree_parts.recommended_line(trained.asked.request, loaded.schema)
    person.person_screen(result.model, trained.tree)
    measured.measured_screen(trained.held_out, loaded.schema, None if loaded.is_made_up else result.test_report)
    tree_parts.export(trained, loaded.role)
    tree_parts.noise_line(result, loaded.role)
    with st.container():
        resampling.resampling_screen(trained, loaded)
opened.ask_model_file()
frame.go_on("tree")
frame.as_python(partial(as_python.tree, state.rows_read(), asked.request, asked.draw))
