"""The Plan page. For each picture the question it answers.

- Bars beside a dashed line: is a tree of these settings better than always one class, where the signal is weak, middling or
  strong?
- Marks of the search: which ε, depth or number of rows reaches the goal, and which were shown not to?
- Three panels over ε: how accurate, how private and how robust is a tree at one ε?
"""
