"""Page "Plan": questions asked backwards, on rows that describe nobody, and what one epsilon means three times over."""

from functools import partial

from dpviz.app import controls, frame, parts, state
from dpviz.app.plan import expected, screen
from dpviz.figures import as_python

parts.page("Plan", "How much ε, how many rows or which depth?")

loaded = state.loaded()
asked = controls.ask_settings(with_noise=False)
expected.expected_screen(asked.request, loaded, begins=False)
n_rows = screen.plan_screen(asked, loaded)
frame.go_on("plan")
frame.as_python(partial(as_python.plan, state.rows_read(), asked.request, n_rows))
