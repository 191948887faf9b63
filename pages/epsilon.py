"""Page "What is a good ε?": what one epsilon means, what others published with, and what an auditor asks."""

from functools import partial

from dpviz.app import frame, parts
from dpviz.app.learn import epsilon
from dpviz.figures import as_python

parts.page("What is a good ε?", "What does it mean, and what do others use?")

chosen = epsilon.ask()
epsilon.odds(chosen)
epsilon.others(chosen)
epsilon.auditor()
frame.go_on("epsilon")
frame.as_python(partial(as_python.guesses, chosen))
