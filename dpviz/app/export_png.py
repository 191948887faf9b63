"""A button that draws an SVG as PNG in the browser and saves it. Nothing leaves the browser; see `export_png.js`."""

from __future__ import annotations

from pathlib import Path

from dpviz.app.component import component

_CSS = """
button{font:inherit;font-size:.875rem;color:inherit;min-height:2.5rem;padding:.25rem .75rem;cursor:pointer;
background:var(--st-background-color,#fff);border:1px solid var(--st-border-color,#c9d2d4);
border-radius:var(--st-button-radius,6px)}
button:hover{border-color:var(--st-primary-color,#0b6b6b);color:var(--st-primary-color,#0b6b6b)}
button:focus-visible{outline:2px solid var(--st-text-color,#0a1417);outline-offset:2px}
p{margin:.25rem 0 0;font-size:.85rem}
p:empty{display:none}
"""
_HTML = '<button type="button">Download PNG</button><p role="status"></p>'


def png_button(svg: str, file_name: str, *, key: str) -> None:
    """Offer `svg` (complete, escaped) as a PNG of twice its size on a white ground."""
    show = component("dpviz_png", Path(__file__), html=_HTML, css=_CSS)
    show(key=key, data={"svg": svg, "name": file_name}, width="content")
