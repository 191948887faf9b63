"""Pure functions from models and tables to pictures: Plotly figures, SVG and text. They train nothing and read no file."""
