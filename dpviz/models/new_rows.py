"""What a model says about rows as they come: one answer per input row, in order, in the words of the schema."""

from typing import Any

import numpy as np

from dpviz.models.base import Model
from dpviz.table.new_rows import encode_new, table_of
from dpviz.table.schema import NumericTarget


def answers(model: Model, rows: Any) -> np.ndarray:
    """Predictions for new rows; they need no target.

    Raises SchemaError where a feature of the model is not among the columns; TableError or ParameterError where what was given is
    no table.

    `rows`: DataFrame, RawTable, or the path or bytes of a file, of which every line after the header that is not blank is a row.
    Returns an array of shape (n_rows,): names of classes (object), or numbers in the target's units (float64). None, or
    not-a-number, where there is no answer: the schema drops such a row, or the line is no record of the table.
    """
    data, usable = encode_new(table_of(rows, model.schema.feature_names), model.schema)
    found = model.predict(data)
    if isinstance(model.schema.target, NumericTarget):
        numbers = np.full(len(usable), np.nan)
        numbers[usable] = found
        return numbers
    labels = np.full(len(usable), None, dtype=object)
    labels[usable] = np.array(model.schema.classes, dtype=object)[found]
    return labels


def probabilities(model: Model, rows: Any) -> np.ndarray:
    """Probability of every class: float64 of shape (n_rows, n_classes), not-a-number where `answers` has None.

    Raises what `answers` raises, and NoProbabilities for a model that holds none.
    """
    data, usable = encode_new(table_of(rows, model.schema.feature_names), model.schema)
    found = model.predict_proba(data)
    shares = np.full((len(usable), found.shape[1]), np.nan)
    shares[usable] = found
    return shares
