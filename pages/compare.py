"""Page "Compare": how accurate each learner is over epsilon, depth or rows, with what one draw may turn out to be."""

from dpviz.app import explorations, frame, parts
from dpviz.app.compare import ask, screen

parts.page("Compare", "How accurate is a private tree at this ε, against what you would use instead?")

loaded = explorations.rows_to_explore()
request = ask.ask_request(loaded)

if request is not None:
    screen.compare_screen(request, loaded)
    frame.go_on("compare")
    frame.as_python(request.as_python)
