"""Page "Compare": how accurate each learner is over epsilon, depth or rows, with what one draw may turn out to be."""

from dpviz.app import compare_ask, compare_screen, parts, state

parts.page("Compare", "How accurate is a private tree at this ε, against what you would use instead?")

loaded = state.loaded()
compare_screen.private_warning(loaded)
question = compare_ask.ask_question(loaded)

if question is not None:
    compare_screen.compare_screen(question, loaded)
