"""The Audit page. For each picture the question it answers.

- Axis of all algorithms: which claim holds, which does not, and how do we know?
- Worst pair and the tree: which row gives itself away, and by which tree?
- Bars below it: how much more likely is this tree with the row, and what would the claim allow?
- One leaf: why is noise that shrinks with the gap not private?
"""
