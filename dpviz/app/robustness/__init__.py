"""The Robustness page. For each picture the question it answers.

- Curves: what accuracy is left, whatever so many poisoned rows are? Dots in them: how far down do real attacks get?
"""
