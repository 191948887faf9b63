"""A backdoor: training rows with a trigger and the class the attacker wants, and how often the trigger works afterwards.

The attacker copies rows of one class, sets a few features to fixed values (the trigger), and adds the copies with another
class. At prediction time the trigger should turn rows of the first class into the other. An added copy counts as one row.

Source: Gu, Dolan-Gavitt & Garg 2017 (BadNets), as in PrivaTree, Section VI-C; bounds in `certificates.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.errors import DpvizError, ParameterError, SchemaError
from dpviz.evaluation.robustness.certificates import Certificate
from dpviz.evaluation.robustness.draws import Draws, draw, limits, poisoned_draws
from dpviz.evaluation.robustness.root_attack import with_rows
from dpviz.learners import FitRequest
from dpviz.progress import Progress
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, Schema, require_classes

if TYPE_CHECKING:
    import pandas as pd

#: Pixels of the trigger, as (row, column) counted from the bottom right corner: a small checkerboard.
_CORNER = ((1, 1), (1, 3), (2, 2), (3, 1), (3, 3))


@dataclass(frozen=True)
class Backdoor:
    """A trigger and its purpose."""

    #: features, values: positions of the features the trigger sets, and their values (encoded).
    features: tuple[int, ...]
    values: tuple[float, ...]
    #: source, wanted: class codes: rows of `source` should be predicted as `wanted`.
    source: int = 0
    wanted: int = 1

    def stamp(self, data: EncodedDataset) -> EncodedDataset:
        """The same rows with the trigger on each."""
        columns = list(data.columns)
        for feature, value in zip(self.features, self.values, strict=True):
            columns[feature] = np.full_like(columns[feature], value)
        return replace(data, columns=tuple(columns), report=None)

    def poison(self, data: EncodedDataset, rows: int, rng: np.random.Generator) -> EncodedDataset:
        """`data` and `rows` copies of source rows with the trigger and the wanted class; a source row may be copied twice."""
        sources = np.flatnonzero(data.target == self.source)
        if not rows:
            return data
        if not len(sources):
            raise DpvizError("No row has the class the backdoor starts from.", remedy="Choose another class.")
        chosen = np.concatenate([rng.permutation(sources) for _ in range(math.ceil(rows / len(sources)))])[:rows]
        copies = self.stamp(data.take(chosen, share=1.0))
        return with_rows(data, copies.columns, np.full(rows, self.wanted))

    def triggered(self, test: EncodedDataset) -> EncodedDataset:
        """Source rows of `test` with the trigger and their true class: a model that is right on them is not fooled.

        With two classes, attack success is 1 minus accuracy on these rows. Raises DpvizError when there are none.
        """
        rows = np.flatnonzero(test.target == self.source)
        if not len(rows):
            raise DpvizError("No test row has the class the backdoor starts from.", remedy="Choose another class.")
        return self.stamp(test.take(rows, share=1.0))


def corner_backdoor(schema: Schema) -> Backdoor:
    """A small checkerboard in the bottom right corner of a square picture whose pixels are the features, row by row.

    Raises SchemaError unless the features are the numbers of a square picture with at least 4 by 4 pixels.
    """
    side = picture_side(schema)
    places = tuple((side - down) * side + side - right for down, right in _CORNER)
    tops = tuple(float(schema.features[place].high) for place in places)  # type: ignore[union-attr]
    return Backdoor(places, tops)


def picture_side(schema: Schema) -> int:
    """Pixels along a side; raises SchemaError when the features are not a square picture."""
    side = int(np.sqrt(schema.n_features))
    numbers = not any(isinstance(feature, CategoricalFeature) for feature in schema.features)
    if side * side != schema.n_features or side < 4 or not numbers:
        raise SchemaError("The features are not the pixels of a square picture.", remedy="Use pictures such as the digits.")
    return side


def picture(data: EncodedDataset, row: int) -> np.ndarray:
    """One row as a picture: float64 of shape (side, side) from 0 (lowest declared value) to 1 (highest)."""
    side = picture_side(data.schema)
    declared = data.schema.features
    values = [(column[row] - f.low) / (f.high - f.low) for column, f in zip(data.columns, declared, strict=True)]  # type: ignore[union-attr]
    return np.array(values, dtype=np.float64).reshape(side, side)


def two_classes(data: EncodedDataset, first: int, second: int) -> EncodedDataset:
    """The rows of two classes, as codes 0 and 1: digits 0 against 1, for example. n_public follows the number of classes."""
    target = data.schema.target
    if not isinstance(target, ClassTarget) or not 0 <= first < data.n_classes or not 0 <= second < data.n_classes:
        raise ParameterError("two_classes", "first, second", (first, second), "codes of two declared classes")
    rows = np.flatnonzero((data.target == first) | (data.target == second))
    schema = replace(
        data.schema.scaled(2 / data.n_classes),
        target=replace(target, classes=(target.classes[first], target.classes[second])),
    )
    codes = (data.target[rows] == second).astype(np.uint8)
    return EncodedDataset(schema, tuple(column[rows] for column in data.columns), codes)


def backdoor_curve(
    request: FitRequest,
    train: EncodedDataset,
    test: EncodedDataset,
    backdoor: Backdoor,
    *,
    poisoned_rows: Sequence[int],
    runs: int = 5,
    draws: int = 20,
    bound_draws: int = 1000,
    seed: int = 0,
    beta: float = 0.05,
    progress: Progress | None = None,
    **how: Any,
) -> pd.DataFrame:
    """Attack success against poisoned rows, measured, and what is proved about it.

    `train`, `test`: two classes.
    `poisoned_rows`: numbers of copies added.
    `runs`, `draws`: the attack is repeated `runs` times, with `draws` draws of the learner each.
    `bound_draws`: draws on the clean rows, for the bounds.
    `beta`: the measured limits together, and the proved limit for all numbers of rows at once, fail with at most this probability
    each.
    `seed`, `progress`, `**how`: also workers and stop, as for `draw`. After a stop the numbers of rows done so far are returned.

    Columns: learner, epsilon, poisoned_rows, poisoned_share, success (mean share of triggered source rows predicted as the wanted
    class), success_low, success_high (its limits), accuracy (clean test rows), published, tight, tight_high (upper bounds on
    success: Corollary 3, tight, tight with confidence; NaN where nothing is claimed or proved), n_draws.
    """
    import pandas as pd

    require_classes(train.schema, "A backdoor")
    if len(train.schema.classes) != 2:
        raise ParameterError("backdoor", "classes", train.schema.classes, "two classes; see two_classes")
    how["seed"] = seed
    tests = [test, backdoor.triggered(test)]
    proved = Certificate.of(draw(request, train, tests[1:], draws=bound_draws, **how), beta)
    where: dict[str, Any] = {"poisoned_rows": poisoned_rows, "runs": runs, "draws": draws, "progress": progress}
    measured = []
    for rows, found in poisoned_draws(backdoor.poison, request, train, tests, **where, **how):
        about = {"learner": request.learner, "epsilon": request.settings.epsilon}
        about |= {"poisoned_rows": rows, "poisoned_share": rows / train.n_rows}
        measured.append(about | _success(request.learner, found, beta / len(poisoned_rows)) | _proved(proved, rows))
    return pd.DataFrame(measured)


def _success(name: str, found: list[Draws], beta: float) -> dict[str, float]:
    success = np.concatenate([1 - draws.of(1) for draws in found])
    low, high = limits(success, name, beta)
    clean = np.concatenate([draws.of(0) for draws in found])
    return {
        "success": float(success.mean()),
        "success_low": low,
        "success_high": high,
        "accuracy": float(clean.mean()),
        "n_draws": len(success),
    }


def _proved(proved: Certificate, rows: int) -> dict[str, float]:
    lower = {"published": proved.published(rows), "tight": proved.tight(rows), "tight_high": proved.low(rows)}
    return {column: 1 - bound for column, bound in lower.items()}
