"""Page "Plan": questions asked backwards, on rows that describe nobody, and what one epsilon means three times over."""

from dpviz.app import controls, parts, state
from dpviz.app.plan import screen

parts.page("Plan", "How much ε, how many rows or which depth does your goal need?")

loaded = state.loaded()
asked = controls.ask_settings()
screen.plan_screen(asked, loaded)
