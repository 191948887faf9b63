"""Buttons that save a chart as PNG, SVG or CSV. The pictures are taken in the browser; see `saving.js`."""

from pathlib import Path

import streamlit as st

from dpviz.app.component import CANVAS, component
from dpviz.app.widgets import download
from dpviz.figures.charts import Rows
from dpviz.io.csv_text import frame_csv

_BUTTONS = Path(__file__).parents[1] / "export_png"
_HTML = """<div role="group" aria-label="Save this chart"><button type="button" data-kind="png">PNG</button>
<button type="button" data-kind="svg">SVG</button></div><p role="status"></p>"""


def save_buttons(chart: str, rows: Rows, name: str, svg: str = "") -> None:
    """Offer the chart of the key `chart` and its table, in files called `name` (without an ending).

    `svg` is the picture, where it is not a chart of plotly's.
    """
    import pandas as pd

    style = _BUTTONS.with_suffix(".css").read_text(encoding="utf-8")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("Save this chart:", width="content")
        show = component("dpviz_chart_files", CANVAS, Path(__file__), html=_HTML, css=style)
        show(key=f"{chart}-files", data={"chart": chart, "name": name, "svg": svg}, width="content")
        download("CSV", lambda: frame_csv(pd.DataFrame(rows)), f"{name}.csv", key=f"{chart}-csv")
