"""Outputs of InterpretML's DP-EBM on two neighbouring tables, for `dpviz verify --outputs`. Stands alone.

    pip install interpret-core
    python dp_ebm.py
    dpviz verify --outputs dp_ebm.without.txt dp_ebm.with.txt --epsilon 8 --delta 1e-6

A regressor at epsilon 8 and delta 1e-6, ranges of feature and target given. The row that one table has more is at the other end
of both. Every line is one fit: the answer for that row, and how far it is from 0. Seeds are left to the library.
"""

import json
import sys

from interpret.privacy import DPExplainableBoostingRegressor

FEATURES, TARGET = [[0.0], [0.0], [0.0], [1.0]], [0.0, 0.0, 0.0, 1.0]
GIVEN = {"privacy_bounds": {0: (0.0, 1.0)}, "privacy_target_min": 0.0, "privacy_target_max": 1.0}


def outputs(rows, fits):
    """What is answered for the row, fit by fit."""
    for _ in range(fits):
        model = DPExplainableBoostingRegressor(feature_types=["continuous"], epsilon=8.0, delta=1e-6, n_jobs=1, **GIVEN)
        answer = round(float(model.fit(FEATURES[:rows], TARGET[:rows]).predict(FEATURES[-1:])[0]), 4)
        yield {"answer": answer, "distance": abs(answer)}


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name, rows in (("without", 3), ("with", 4)):
        with open(f"dp_ebm.{name}.txt", "w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(output)}\n" for output in outputs(rows, n))
