"""Page "Papers": what three papers print beside what was measured here, and which of their theorems hold."""

from functools import partial

from dpviz.app import frame, parts, state
from dpviz.app.papers import screen
from dpviz.errors import DpvizError
from dpviz.evaluation.papers.stored import papers

parts.page("Papers", "Do the papers' numbers and theorems hold here?")

try:
    found = papers()
except DpvizError as problem:
    parts.error(problem)
else:
    chosen = screen.ask(found)
    screen.picture(chosen)
    screen.way(chosen.item, state.loaded())
    screen.details(chosen)
    frame.as_python(partial(screen.as_python, chosen.item))
