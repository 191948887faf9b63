"""Rectangles and texts of a drawing, escaped."""

from xml.sax.saxutils import escape


def rect(kind: str, x: float, y: float, width: float, height: float, radius: float) -> str:
    """A rounded rectangle of a class of the style sheet."""
    place = f'x="{coordinate(x)}" y="{coordinate(y)}"'
    return f'<rect class="{kind}" {place} width="{coordinate(width)}" height="{coordinate(height)}" rx="{coordinate(radius)}"/>'


def text(kind: str, x: float, y: float, words: str, to: str = "") -> str:
    """One line of text; `to` is the id of a node whose edge it belongs to."""
    belongs = f' data-to="{to}"' if to else ""
    return f'<text class="{kind}"{belongs} x="{coordinate(x)}" y="{coordinate(y)}">{escape(words)}</text>'


def coordinate(value: float) -> str:
    """To a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")
