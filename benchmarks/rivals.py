"""Rivals on their own terms: packages as they are shipped beside S-GBDT and PF-tree, on tables with two classes.

The forest and the tree are those of `diffprivlib`, with their defaults except the declared ranges, classes and epsilon (delta 0
there); S-GBDT has its default delta. All claim add or remove one row. Without the package this topic does not run. Small tables
are measured too: where boosting begins to be ahead of one tree can be read from them.
"""

from __future__ import annotations

import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from importlib.util import find_spec
from itertools import product
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.arguments import add_data
from benchmarks.data import bench_data
from benchmarks.measured import means
from dpviz.cli import console
from dpviz.errors import DpvizError
from dpviz.evaluation.metrics import metrics
from dpviz.learners import fit
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature

if TYPE_CHECKING:
    import pandas as pd

TABLES = (
    "bank-full",
    "default-full",
    "adult_train",
    "bank-marketing",
    "default-of-credit-card-clients",
    "compas-two-years",
    "heloc",
)
SMALL = ("breast-w", "diabetes", "vote")
EPSILONS, SPLITS = (0.1, 0.5, 1.0), 3
#: Of PF-tree, whose own cap is higher.
MAX_DEPTH = 4


Fit = Callable[[EncodedDataset, EncodedDataset, float, int], dict[str, float]]


def _ours(learner: str, **given: Any) -> Fit:
    def run(train: EncodedDataset, test: EncodedDataset, epsilon: float, seed: int) -> dict[str, float]:
        return metrics(fit(learner, train, epsilon=epsilon, seed=seed, **given).model, train, test)

    return run


def _diffprivlib_fit(kind: str) -> Fit:
    """A model of diffprivlib on category codes and numbers, as its documentation does it."""

    def run(train: EncodedDataset, test: EncodedDataset, epsilon: float, seed: int) -> dict[str, float]:
        from diffprivlib import models  # type: ignore[import-not-found]
        from sklearn.metrics import roc_auc_score

        features = train.schema.features
        low = [f.low if isinstance(f, NumericFeature) else 0 for f in features]
        high = [f.high if isinstance(f, NumericFeature) else len(f.categories) - 1 for f in features]
        given = {"epsilon": epsilon, "bounds": (np.array(low), np.array(high)), "classes": [0, 1], "random_state": seed % 2**32}
        model = getattr(models, kind)(**given)
        rows, new = (np.column_stack(part.columns).astype(float) for part in (train, test))
        model.fit(rows, train.target)
        shares = np.asarray(model.predict_proba(new))[:, 1]
        return {"auc": float(roc_auc_score(test.target, shares)), "accuracy": float((model.predict(new) == test.target).mean())}

    return run


LEARNERS: dict[str, Fit] = {
    "S-GBDT": _ours("s-gbdt"),
    "PF-tree": _ours("pf-tree", max_depth=MAX_DEPTH),
    "diffprivlib forest": _diffprivlib_fit("RandomForestClassifier"),
    "diffprivlib tree": _diffprivlib_fit("DecisionTreeClassifier"),
}


def add_arguments(parser: ArgumentParser) -> None:
    """Where the data are."""
    add_data(parser)


def measure(args: Namespace) -> pd.DataFrame:
    """Columns data, rows, epsilon, learner, metric (auc, accuracy, seconds of a fit and its test), mean, error, n: over splits.

    The AUC of a model of labels is that of its labels.
    """
    import pandas as pd

    if find_spec("diffprivlib") is None:
        raise DpvizError("A package of a rival is missing.", where="diffprivlib", remedy="Install it beside dpviz.")
    lines = []
    for name, data in bench_data(args.data, args.only or [*TABLES, *SMALL]):
        console.status(f"Measuring on {name}")
        for split, epsilon, title in product(range(SPLITS), EPSILONS, LEARNERS):
            train, test = data.split(0.2, seed=split)
            start = process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = LEARNERS[title](train, test, epsilon, child_seeds(split, 1)[0])
            line = {"data": name, "rows": data.n_rows, "epsilon": epsilon, "learner": title, "split": split}
            lines.append(line | {name: found[name] for name in ("auc", "accuracy")} | {"seconds": process_time() - start})
    return means(pd.DataFrame(lines), ("data", "rows", "epsilon", "learner"), ["auc", "accuracy", "seconds"], over="split")
