"""Page "What is a good ε?": what one epsilon means, what others published with, and what an auditor asks."""

from dpviz.app import parts
from dpviz.app.learn import epsilon

parts.page("What is a good ε?", "What does an ε mean, what do others use, and what will an auditor ask?")

chosen = epsilon.ask()
epsilon.odds(chosen)
epsilon.others(chosen)
epsilon.auditor()
