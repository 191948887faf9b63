"""The Learn page: one file per lesson, and the course that puts them in order; and the page about a good ε.

For each picture the question it answers.

- Picture of a lesson: what is the answer to the question that was asked first? And when the control moves?
- Coins of permute-and-flip: which options were looked at, and where did it stop?
- A hundred guesses: how much can a tree tell about one row at this ε?
- Dots on an axis: what did others publish with, and for whom?
"""
