"""Streamlit glue: session state, controls, cached calls, background jobs, parts of pages. The only room below pages that knows Streamlit."""
