"""Page "Data": whose rows, which table, what is public about it, and what encoding did."""

from functools import partial

import streamlit as st

from dpviz.app import frame, parts, state
from dpviz.app.data import checking, choosing, look, prepared, schema_editor, schema_files, using
from dpviz.figures import as_python

parts.page("Data", "What is public about your rows?")

work = prepared.prepared()
choosing.ask_role(work)
choosing.ask_table(work)

if work.draft is not None:
    st.divider()
    look.offer_look(work)
    schema_editor.ask_schema(work)
    files = st.container()
    schema_editor.ask_columns(work)
    with files:  # filled last: what is downloaded is what the grids say now
        schema_files.ask_schema_file(work)
    checking.ask_check(work)
    using.ask_to_use(work)

st.divider()
using.show_encoding(state.loaded())
frame.as_python(partial(as_python.data, state.rows_read()))
