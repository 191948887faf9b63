"""The Papers page. For each picture the question it answers.

- A table or figure of a paper: does what was measured here agree with what is printed?
"""
