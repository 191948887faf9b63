"""A tree that stops where all rows have one class publishes that fact exactly: no finite epsilon covers it.

PrivaTree (Vos, Vos, Li, Erkin & Verwer 2023, Algorithm 1: "if all samples have the same label or |X| <= 1, return a leaf"), and
BDPT (Guan, Sun, Shi, Wu & Du 2020), which stops in the same way. The noise comes after the decision and cannot undo it. The
first pair adds one row. The second changes one: a public number of rows does not help. Run: python exact_stopping.py
"""


def chance_of_a_split(labels: list[int]) -> float:
    """How likely the root is a split and not a leaf: the stopping rule, which reads the rows without noise, settles it."""
    is_finished = len(labels) <= 1 or len(set(labels)) == 1
    return 0.0 if is_finished else 1.0


if __name__ == "__main__":
    print("Event: the root of the published tree is a split.")
    for change, pair in (("One row more", ([0], [0, 1])), ("One row changed", ([0, 0], [0, 1]))):
        for labels in pair:
            print(f"{change}, rows of classes {labels}: probability {chance_of_a_split(labels):g}")
    print("Under any finite epsilon an event of probability 0 has probability 0 on a neighbour: REFUTED.")
