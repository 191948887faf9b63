"""Page "Audit": which learners keep the epsilon they claim, and the pair of data sets that shows which do not."""

from functools import partial

from dpviz.app import frame, parts
from dpviz.app.audit import ask, screen, why
from dpviz.figures import as_python

parts.page("Audit")

what = screen.findings()
screen.lead(what, ask.chosen_epsilon())
learners, evidence, more = screen.places()
search = ask.ask(what, learners, more)

with evidence:
    result = screen.verdict(search, what)
    if result is not None:
        why.why(result)
        screen.worst_pair(result)
    screen.sources(search, what)
with more:
    screen.run(what, ask.chosen_epsilon())
    screen.everything(search, what)
    screen.differences(search)
    screen.smooth_or_global()
    screen.meaning()
frame.go_on("audit")
frame.as_python(partial(as_python.audit, search.learner, search.params, search.epsilon))
