"""The Tree page. Every element answers a question; what answers none is not there.

- Verdict: what is guaranteed of this model, and would it be if it were released?
- Line of measures above the picture: how good is it on rows it has not seen, how sure is that, and what does no model reach?
- Sliders of epsilon and depth: what changes when only this changes?
- Strip of dots: is this tree lucky, and how far is it from an ordinary tree and from a constant?
- Picture: what does it ask, in which order, how many rows go where (widths), what does it answer, how sure (bars)?
- Ink, notes and "noise" in the picture: which questions would come back with fresh noise?
- Overview beside a tall tree: where in it am I, and what else is there?
- Strip in the margin: what does each level cost?
- Folded or complete: which questions change an answer?
- Pinned tree: what is different from the other one?
- Node card: who gets here, what was released here, how often does it come back?
- Text: what are the rules, one by one?
- One person: what does the model answer, and why?
- Effects (many trees): which features matter? Trees: which trees ask about a feature, and what does one of them do?
- Every measure; private test result: how good is it for each class, and what may be published about that?
- Disclosures, noise line: what does epsilon not cover? File: how do I take it away?
- Fresh noise: what would the other draws have asked?
"""
