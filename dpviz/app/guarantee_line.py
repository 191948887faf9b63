"""What is guaranteed of the tree on screen, in one line that follows epsilon while it is dragged."""

from pathlib import Path

from dpviz.app.component import component
from dpviz.figures.tree.headline import PENDING, guarantee_said
from dpviz.results.verdict import Verdict


def guarantee_line(said: Verdict) -> None:
    """Kind and words of a verdict."""
    component("dpviz_guarantee", Path(__file__))(key="guarantee", data=guarantee_said(said) | {"pending": PENDING})
