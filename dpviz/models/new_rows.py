"""What a model says about rows as they come: one answer per input row, in order, in the words of the schema."""

import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpviz.errors import FewRowsWarning
from dpviz.models.base import Model
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import NewRows, encode_new
from dpviz.table.notes import warn_of_doubts
from dpviz.table.raw import table_of
from dpviz.table.schema import NumericTarget

#: Shares of the rows, in percent: the largest that is reached is said, never an exact count. Below the first nothing is.
SHARES = (10, 25, 50, 75, 90, 100)
_MAX_REASONS = 5


def answers(model: Model, rows: Any) -> np.ndarray:
    """Predictions for new rows; they need no target.

    Raises SchemaError where a feature of the model is not among the columns; TableError or ParameterError where what was given is
    no table. Warns (FewRowsWarning) where at least 10% of the rows have no answer, and says why in shares; as private as they.

    `rows`: DataFrame, Arrow table, RawTable, encoded rows, or the path or bytes of a file. Every record after the header that is
    not blank is a row, also one whose cells in quotes span lines.
    Returns an array of shape (n_rows,): names of classes (object), or numbers in the target's units (float64). None, or
    not-a-number, where there is no answer: the schema drops such a row, or the line is no record of the table.
    """
    return answers_of(model, _encode(model, rows))


def probabilities(model: Model, rows: Any) -> np.ndarray:
    """Probability of every class: float64 of shape (n_rows, n_classes), not-a-number where `answers` has None.

    Raises and warns as `answers` does, and raises UnsupportedError for a model that holds none.
    """
    return probabilities_of(model, _encode(model, rows))


def answers_of(model: Model, new: NewRows) -> np.ndarray:
    """`answers` for rows that are encoded, without a warning."""
    predicted = model.predict(new.data)
    if isinstance(model.schema.target, NumericTarget):
        numbers = np.full(len(new.usable), np.nan)
        numbers[new.usable] = predicted
        return numbers
    labels = np.full(len(new.usable), None, dtype=object)
    labels[new.usable] = np.array(model.schema.classes, dtype=object)[predicted]
    return labels


def probabilities_of(model: Model, new: NewRows) -> np.ndarray:
    """`probabilities` for rows that are encoded, without a warning."""
    chances = model.predict_proba(new.data)
    shares = np.full((len(new.usable), chances.shape[1]), np.nan)
    shares[new.usable] = chances
    return shares


@dataclass
class Unanswered:
    """Of new rows, perhaps in pieces: how many have no answer, and why. Private."""

    n_rows: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def add(self, new: NewRows) -> None:
        """Count these too."""
        self.n_rows += len(new.usable)
        self.dropped.update(new.dropped)

    @property
    def count(self) -> int:
        """Rows without an answer."""
        return self.dropped.total()

    @property
    def sentence(self) -> str:
        """What is to be said of them, in shares, without a cell; empty where they are few."""
        share = self._share(self.count)
        if not share:
            return ""
        reasons = [(name, self._share(n_rows)) for name, n_rows in self.dropped.most_common(_MAX_REASONS)]
        named = [f"{f'cells of {name!r:.80}' if name else 'broken lines'} (at least {part}%)" for name, part in reasons if part]
        why = f", most for {', '.join(named)}" if named else ""
        which = "No row has an answer" if share == SHARES[-1] else f"At least {share}% of the rows have no answer"
        return (
            f"{which}{why}. Declare what missing and unknown cells count as, or write cells as the schema does. This is private."
        )

    def _share(self, n_rows: int) -> int:
        return max((share for share in SHARES if 100 * n_rows >= share * max(self.n_rows, 1)), default=0)


def _encode(model: Model, rows: Any) -> NewRows:
    if isinstance(rows, EncodedDataset):
        return NewRows(rows, np.ones(rows.n_rows, dtype=bool), {})
    new, unanswered = encode_new(table_of(rows, model.schema.feature_names, by_record=True), model.schema), Unanswered()
    unanswered.add(new)
    warn_of_doubts(new.unread, stacklevel=4)
    if unanswered.sentence:
        warnings.warn(unanswered.sentence, FewRowsWarning, stacklevel=3)
    return new
