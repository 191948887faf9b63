"""Page "Publish": what leaves, what it promises, and what has been spent for good."""

import streamlit as st

from dpviz.app import controls, parts, state
from dpviz.app.data import checking
from dpviz.app.publish import check, data, history, release

parts.page("Publish", "What may leave, what does it promise, and what has been spent for good?")

loaded = state.loaded()
asked = controls.ask_settings()
book = data.register()

if book is not None:
    balance = data.ask_data_set(book, loaded)
    st.divider()
    promise = release.promised(book, balance, asked, loaded)
    check.check(book, loaded)
    if balance is not None:
        st.divider()
        release.spent(balance, promise)
        st.divider()
        release.ask_release(balance, promise, asked, loaded, told=checking.told)
    st.divider()
    history.history(book, balance, loaded)
