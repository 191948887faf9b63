"""Golden rows: rows on thresholds, next to them, outside the range, of every category, missing and unknown, with the
prediction of the model itself. Exports must predict all of them where they will run.

For every split of the model there are rows that reach it (where any can) and then differ in the cell it tests.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dpviz.errors import NoProbabilities
from dpviz.io.exports.conditions import Cell, Condition, Row, code_numbers
from dpviz.io.exports.function import LARGEST, Conditional, Function, Step, encoded_number
from dpviz.models.base import Model
from dpviz.models.boosted import BoostedTrees
from dpviz.models.packed_forest import PackedForest
from dpviz.randomness import generator
from dpviz.table.cells import Declared, clean, parse_numbers
from dpviz.table.dataset import EncodedDataset
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, Feature, NumericFeature, NumericTarget, Schema

#: Random rows, in addition to those made for the splits.
RANDOM_ROWS = 100
#: Splits that get rows of their own; of more, an even selection does.
MOST_SPLITS = 150
#: Predicted numbers agree when they differ by less than this share of the target's range: sums depend on the order of adding.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class GoldenRows:
    """Rows of raw cells and what the model predicts for each: the name of a class, or a number.

    `chances` are the probabilities of the classes, float64 of shape (n_rows, n_classes); None for a model that holds none.
    """

    schema: Schema
    rows: tuple[Row, ...]
    expected: tuple[str | float, ...]
    chances: np.ndarray | None = None

    def first_difference(self, found: Sequence[Any]) -> str | None:
        """The first row that is predicted otherwise, in words; None when all agree."""
        if len(found) != len(self.rows):
            return f"{len(self.rows)} rows gave {len(found)} predictions"
        for row, wanted, given in zip(self.rows, self.expected, found, strict=True):
            if not self._agrees(wanted, given):
                cells = dict(zip(self.schema.feature_names, row, strict=True))
                return f"for {cells!r:.300} it says {given!r:.60}, not {wanted!r:.60}"
        return None

    def first_other_chance(self, found: Any) -> str | None:
        """The first row whose probabilities differ by more than TOLERANCE, in words; None when all agree."""
        wanted, given = self.chances, np.array(found, dtype=np.float64)
        if wanted is None or given.shape != wanted.shape:
            return f"probabilities of shape {given.shape} were given"
        off = np.flatnonzero(~(np.abs(given - wanted) <= TOLERANCE).all(axis=1))
        if not len(off):
            return None
        cells = dict(zip(self.schema.feature_names, self.rows[off[0]], strict=True))
        theirs, ours = given[off[0]].tolist(), wanted[off[0]].tolist()
        return f"for {cells!r:.300} it gives the probabilities {theirs!r:.100}, not {ours!r:.100}"

    def _agrees(self, wanted: str | float, given: Any) -> bool:
        target = self.schema.target
        if not isinstance(target, NumericTarget):
            return bool(wanted == given)
        is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
        return is_number and abs(given - float(wanted)) <= TOLERANCE * (target.high - target.low)


def golden_rows(model: Model, function: Function | None, *, random_rows: int = RANDOM_ROWS) -> GoldenRows:
    """Golden rows of a model, which is this function of raw cells; None for a model that is no tree or trees.

    They depend on the released model and its schema alone, so they are as public as it is.
    """
    rng = generator(0)
    special = [special_cells(feature, ()) for feature in model.schema.features]
    about = [*_one_at_a_time(model.schema), *(_about_splits(function, rng) if function else ())]
    pairs = zip(model.schema.features, special, strict=True)
    at_random = zip(*(_column(feature, cells, random_rows, rng) for feature, cells in pairs), strict=True)
    rows = list(dict.fromkeys([*about, *at_random]))
    rows = [row for row in rows if all(map(_is_encoded, model.schema.features, row))]
    return GoldenRows(model.schema, tuple(rows), *said(model, rows))


def _column(feature: Feature, special: list[Cell], count: int, rng: np.random.Generator) -> list[Cell]:
    """Random cells: one in five is a special one."""
    if isinstance(feature, DateFeature):
        return [special[place] for place in rng.integers(0, len(special), count)]
    if isinstance(feature, CategoricalFeature):
        usual: list[Cell] = [feature.categories[code] for code in rng.integers(0, len(feature.categories), count)]
    else:
        usual = encoded_number(feature, rng.uniform(feature.low, feature.high, count)).tolist()
    odd, chosen = rng.random(count) < 0.2, rng.integers(0, len(special), count)
    return [special[place] if is_odd else cell for cell, is_odd, place in zip(usual, odd, chosen, strict=True)]


def special_cells(feature: Feature, thresholds: Iterable[float]) -> list[Cell]:
    """Thresholds and their neighbours, the ends of the range and beyond, every declared text; an unknown one; a missing cell."""
    if isinstance(feature, CategoricalFeature):
        return [*feature.category_of, unknown_text(feature), *feature.missing_codes, None]
    if isinstance(feature, DateFeature):
        return [*_numbers_of_dates(feature, thresholds), None]
    whole = {side for t in thresholds for side in (math.floor(t), math.ceil(t), math.floor(t) + 0.5)} if feature.whole else set()
    width = feature.high - feature.low
    marks = sorted({feature.low, feature.high, *thresholds, *map(float, whole)})
    beside = {float(np.nextafter(mark, side)) for mark in marks for side in (-LARGEST, LARGEST)}
    return [*sorted({*marks, *beside, *code_numbers(feature), feature.low - width, feature.high + width}), None]


def _numbers_of_dates(feature: DateFeature, thresholds: Iterable[float]) -> list[Cell]:
    """Whole numbers around the ends of the range and the thresholds, as far as there are dates for them."""
    marks = (feature.low - 1, feature.low, feature.high, feature.high + 1, *thresholds)
    sides = {side for mark in marks for side in (math.floor(mark), math.ceil(mark))}
    return [float(side) for side in sorted(sides) if feature.date_for(side) is not None]


def unknown_text(feature: CategoricalFeature) -> str:
    """A text that is none of the categories, and no number."""
    text = "none of them"
    while text in feature.category_of:
        text += "!"
    return text


# --- rows that reach a split


def _about_splits(function: Function, rng: np.random.Generator) -> list[Row]:
    placed = [item for tree in function.trees for item in _placed(tree, ())]
    few = placed if len(placed) <= MOST_SPLITS else [placed[k] for k in np.linspace(0, len(placed) - 1, MOST_SPLITS).astype(int)]
    return [row for split, path in few for row in _rows_at(function, split, path, rng)]


def _is_encoded(feature: Feature, cell: Cell) -> bool:
    """False where `encode` would drop the row: a missing or unknown cell that the schema has no stand-in for."""
    if cell is None or is_code(feature, cell):
        return feature.missing_as is not None
    return isinstance(feature, NumericFeature) or cell in feature.category_of or feature.unknown_as is not None


def _one_at_a_time(schema: Schema) -> list[Row]:
    """The first declared values, then every special cell of every column in its place."""
    base = [feature.low if type(feature) is NumericFeature else special_cells(feature, ())[0] for feature in schema.features]
    pairs = ((place, cell) for place, feature in enumerate(schema.features) for cell in special_cells(feature, ()))
    return [(*base[:place], cell, *base[place + 1 :]) for place, cell in pairs]


def _placed(step: Step, path: tuple[Condition, ...]) -> list[tuple[Conditional, tuple[Condition, ...]]]:
    """Every split with the conditions that lead to it."""
    if not isinstance(step, Conditional):
        return []
    yes, no = _placed(step.yes, (*path, step.condition)), _placed(step.no, (*path, ~step.condition))
    return [(step, path), *yes, *no]


def _rows_at(function: Function, split: Conditional, path: Sequence[Condition], rng: np.random.Generator) -> list[Row]:
    """Rows that meet the path's conditions, with each special cell of the split's column in turn."""
    features, place = function.schema.features, split.condition.feature
    base = [_cell_that_meets(f, [c for c in path if c.feature == k], rng) for k, f in enumerate(features)]
    cells = special_cells(features[place], _marks([split.condition]))
    return [(*base[:place], cell, *base[place + 1 :]) for cell in cells]


def _marks(conditions: Iterable[Condition]) -> list[float]:
    """Thresholds, without those that every number meets."""
    return [mark for item in conditions for mark in (item.low, item.high) if abs(mark) < LARGEST]


def _cell_that_meets(feature: Feature, wanted: Sequence[Condition], rng: np.random.Generator) -> Cell:
    """A cell that meets them; any cell where there is none (a private tree may ask for what is impossible)."""
    if isinstance(feature, CategoricalFeature):
        tried: list[Cell] = list(feature.categories)
        met = set(tried)
        for condition in wanted:  # as sets: a search in every list would take the square of the categories
            met = met.difference(condition.but or ()) if condition.among is None else met.intersection(condition.among)
        fitting = [cell for cell in tried if cell in met]
    else:
        tried = _between(feature, wanted, rng)
        fitting = [cell for cell in tried if all(holds(condition, cell) for condition in wanted)]
    return fitting[int(rng.integers(len(fitting)))] if fitting else tried[0]


def _between(feature: NumericFeature, wanted: Sequence[Condition], rng: np.random.Generator) -> list[Cell]:
    marks = sorted({feature.low, feature.high, *_marks(wanted)})
    inside = [low + share * (high - low) for low, high in pairwise(marks) for share in rng.random(3)]
    found: list[Cell] = encoded_number(feature, np.array([*inside, feature.low, feature.high])).tolist()
    if not isinstance(feature, DateFeature):
        return found
    return [cell for cell in found if feature.date_for(int(cell or 0)) is not None] or special_cells(feature, ())


# --- what the model says


def said(model: Model, rows: Sequence[Row]) -> tuple[tuple[str | float, ...], np.ndarray | None]:
    """(the model's own predictions for raw rows, its probabilities as in GoldenRows)."""
    data = _encoded_rows(model, rows)
    found = model.predict(data).tolist()
    if isinstance(model.schema.target, NumericTarget):
        return tuple(found), None
    labels = tuple(model.schema.classes[code] for code in found)
    try:
        return labels, model.predict_proba(data)
    except NoProbabilities:
        return labels, None


def _encoded_rows(model: Model, rows: Sequence[Row]) -> EncodedDataset:
    schema = model.schema
    beyond = isinstance(model, (PackedForest, BoostedTrees))
    cells = zip(*without_codes(schema, rows), strict=True)
    columns = [_encoded(feature, column, beyond) for feature, column in zip(schema.features, cells, strict=True)]
    return EncodedDataset(schema, tuple(columns), np.zeros(len(rows), dtype=np.uint8))


def _encoded(feature: Feature, cells: Sequence[Cell], last_is_right: bool) -> np.ndarray:
    """As `encode` does, but no row is dropped: what it cannot encode becomes a value that goes right at every split.

    That is infinity, and a code behind the last; packed trees have a child for every code and none behind, and there the
    last category goes right at every split.
    """
    if isinstance(feature, NumericFeature):
        stand_in = np.inf if feature.missing_as is None else feature.missing_as
        values = np.array([stand_in if cell is None else cell for cell in cells], dtype=np.float64)
        return np.where(np.isinf(values), values, encoded_number(feature, values))
    nowhere = len(feature.categories) - last_is_right
    code = {text: feature.categories.index(name) for text, name in feature.category_of.items()}
    missing = nowhere if feature.missing_as is None else code[feature.missing_as]
    unknown = nowhere if feature.unknown_as is None else code[feature.unknown_as]
    return np.array([missing if cell is None else code.get(cell, unknown) for cell in cells], dtype=np.uint16)  # type: ignore[arg-type]


# --- cells that are codes of missing ones, and cells that meet a condition


def holds(asked: Condition, cell: Cell) -> bool:
    """Whether the cell meets the condition."""
    if cell is None:
        return asked.missing
    if not asked.is_number:
        return cell in asked.among if asked.among is not None else cell not in (asked.but or ())
    value = float(cell)
    above = value >= asked.low if asked.with_low else value > asked.low
    return above and (value <= asked.high if asked.with_high else value < asked.high)


def is_code(feature: Feature, cell: Cell) -> bool:
    """Whether a cell is one of the declared codes of missing cells: a category by its text, a number by that or its value."""
    if cell is None or not feature.missing_codes:
        return False
    if isinstance(feature, CategoricalFeature):
        return bool(Declared(dict.fromkeys(feature.missing_codes, 0)).find([clean(str(cell))])[0] == 0)
    value = float(parse_numbers([cell])[0]) if isinstance(cell, str) else cell
    return cell in feature.missing_codes or value in code_numbers(feature)


def without_codes(schema: Schema, rows: Sequence[Row]) -> list[Row]:
    """The rows, with missing cells in place of declared codes."""
    if not any(feature.missing_codes for feature in schema.features):
        return list(rows)
    features = schema.features
    return [tuple(None if is_code(f, cell) else cell for f, cell in zip(features, row, strict=True)) for row in rows]
