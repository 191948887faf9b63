"""Page "Compare": how accurate each learner is over epsilon, depth or rows, with what one draw may turn out to be."""

from dpviz.app import parts, state
from dpviz.app.compare import ask, screen

parts.page("Compare", "How accurate is a private tree at this ε, against what you would use instead?")

loaded = state.loaded()
screen.private_warning(loaded)
question = ask.ask_question(loaded)

if question is not None:
    screen.compare_screen(question, loaded)
