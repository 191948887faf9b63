"""The Publish page and the register: checks, releases, history, exports. For each picture the question it answers.

- Bar against the cap: how much of ε is spent for good, what would this release add, and what is left?
- Account over time: when was it spent, and when did the cap rise?
"""
