"""Streamlit glue: session state, controls, cached calls, background jobs, parts of pages. No package below knows Streamlit."""
