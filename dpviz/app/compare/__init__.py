"""The Compare page. For each picture the question it answers.

- Curves: how good is each algorithm at each ε, depth or number of rows, against no privacy and no model? Band: and a single tree?
- Dots: what may one draw turn out to be, with luck or without?
- Differences: who is better on the same splits, by how much, and how sure is that?
"""
