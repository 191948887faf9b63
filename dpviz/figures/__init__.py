"""Pure functions from models and tables to pictures: Plotly figures, SVG and text. Nothing here trains, reads a file or knows Streamlit."""
