"""Page "Publish": what is released, what it promises, and what was permanently spent."""

from functools import partial

import streamlit as st

from dpviz.app import controls, expected, frame, parts, state
from dpviz.app.data import checking
from dpviz.app.publish import check, data, history, release
from dpviz.figures import as_python

parts.page("Publish", "What may be shared?")

loaded = state.loaded()
asked = controls.ask_settings(with_noise=False)
book = data.register()

if book is not None:
    balance = data.ask_data_set(book, loaded)
    promise = release.promise_of(book, balance, asked, loaded)
    check.check(book, loaded)
    expected.expected_screen(asked.request, loaded)
    if balance is not None:
        st.divider()
        release.running_total(balance, promise)
        st.divider()
        release.ask_release(balance, promise, asked, loaded, release.Fit(checking.doubts_told, checking.told))
    st.divider()
    history.history(book, balance, loaded)
    name = None if balance is None else balance.data_set.name
    frame.go_on("publish")
    frame.as_python(partial(as_python.publish, state.rows_read(), asked.request, name))
