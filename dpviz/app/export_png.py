"""A button that draws an SVG as PNG in the browser and saves it. Nothing leaves the browser; see `export_png.js`."""

from __future__ import annotations

from pathlib import Path

from dpviz.app.component import CANVAS, component

_HTML = '<button type="button">Download PNG</button><p role="status"></p>'


def png_button(svg: str, file_name: str, *, key: str) -> None:
    """Offer `svg` (complete, escaped) as a PNG of twice its size on a white ground."""
    show = component("dpviz_png", CANVAS, Path(__file__), html=_HTML)
    show(key=key, data={"svg": svg, "name": file_name}, width="content")
