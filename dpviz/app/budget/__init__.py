"""The Budget page. For each picture the question it answers.

- Bars down the levels: what does one row pay where, and is the sum what is claimed?
- Rounds of boosting: what do the first rounds cost? Losses of single rows: how much of what all are promised is used?
- Share map: which shares of ε make the most accurate tree, and do others do as well?
- Step gains: where does a little more of ε help, where not?
"""
