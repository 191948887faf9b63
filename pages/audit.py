"""Page "Audit": which learners keep the epsilon they claim, and the pair of data sets that shows which do not."""

from dpviz.app import parts
from dpviz.app.audit import ask, leaf, screen, why

parts.page("Audit", "Do private algorithms keep the privacy they promise, and how do we know?")

what = screen.known()
screen.lead(what, ask.chosen_epsilon())
learners, evidence, more = screen.places()
search = ask.ask(what, learners, more)

with evidence:
    result = screen.verdict(search, what)
    if result is not None:
        why.why(result)
        screen.worst_pair(result)
with more:
    screen.everything(search, what)
    screen.differences(search)
    screen.rules(what)
    leaf.smooth_or_global()
    screen.meaning()
