"""A tree that stops where all rows have one class publishes that fact exactly: no finite epsilon covers it.

PrivaTree (Vos, Vos, Li, Erkin & Verwer 2023, Algorithm 1: "if all samples have the same label or |X| <= 1, return a leaf"), and
BDPT (Guan, Sun, Shi, Wu & Du 2020), which stops in the same way. The noise comes after the decision and cannot undo it. Add or
remove one row. Run: python exact_stopping.py
"""


def chance_of_a_split(labels: list[int]) -> float:
    """How likely the root is a split and not a leaf: the stopping rule, which reads the rows without noise, settles it."""
    is_finished = len(labels) <= 1 or len(set(labels)) == 1
    return 0.0 if is_finished else 1.0


if __name__ == "__main__":
    without, with_row = chance_of_a_split([0]), chance_of_a_split([0, 1])
    print("Event: the root of the published tree is a split.")
    print(f"One row, of class 0:                probability {without:g}")
    print(f"The same and a row of class 1 more: probability {with_row:g}")
    print("Under any finite epsilon an event of probability 0 has probability 0 with one row more: REFUTED.")
