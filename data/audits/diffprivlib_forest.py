"""Outputs of diffprivlib's random forest on two neighbouring tables, for `dpviz verify --outputs`. Stands alone.

    pip install diffprivlib "scikit-learn<1.5"
    python diffprivlib_forest.py
    dpviz verify --outputs diffprivlib_forest.without.txt diffprivlib_forest.with.txt --epsilon 1

One tree of depth 1 at epsilon 1, bounds and classes given. The row that one table has more is the only one of its class, at the
other end of the feature. Every line is one fit: the class predicted for that row. Seeds are left to the library.
"""

import sys

from diffprivlib.models import RandomForestClassifier

FEATURES, CLASSES = [[0.0], [0.0], [0.0], [1.0]], [0, 0, 0, 1]


def outputs(rows, fits):
    """The predicted class, fit by fit."""
    for _ in range(fits):
        forest = RandomForestClassifier(n_estimators=1, epsilon=1.0, bounds=(0, 1), classes=[0, 1], max_depth=1)
        yield int(forest.fit(FEATURES[:rows], CLASSES[:rows]).predict(FEATURES[-1:])[0])


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name, rows in (("without", 3), ("with", 4)):
        with open(f"diffprivlib_forest.{name}.txt", "w", encoding="utf-8") as file:
            file.writelines(f"{label}\n" for label in outputs(rows, n))
