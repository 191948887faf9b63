"""The Papers page. For each picture the question it answers.

- Points over a diagonal, or pairs of marks: where does what was measured here differ from what a paper prints?
- Curves and marks by data set: what was measured where a paper prints no numbers?
"""
