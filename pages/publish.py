"""Page "Publish": what leaves, what it promises, and what has been spent for good."""

import streamlit as st

from dpviz.app import controls, parts, publish_check, publish_data, publish_history, publish_release, state

parts.page("Publish", "What may leave, what does it promise, and what has been spent for good?")

loaded = state.loaded()
asked = controls.ask_settings()
book = publish_data.register()

if book is not None:
    balance = publish_data.ask_data_set(book, loaded)
    st.divider()
    promise = publish_release.promised(book, balance, asked, loaded)
    publish_check.check(book, loaded)
    if balance is not None:
        st.divider()
        publish_release.spent(balance, promise)
        st.divider()
        publish_release.ask_release(balance, promise, asked, loaded)
    st.divider()
    publish_history.history(book, balance, loaded)
