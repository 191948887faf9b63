"""Persons with several rows: at most so many rows of each are kept, chosen by secret coins.

Every usable row throws a coin of its own, and of each person the rows with the smallest coins stay. What is kept of one person
depends on that person's rows and coins alone. So with the same coins, a person more or less changes at most `most` rows of
what is kept, all of them that person's: whatever is epsilon private for one row is (most epsilon) private for one person, and
with a delta (most epsilon, most e^((most - 1) epsilon) delta) private. Source: group privacy, Dwork & Roth 2014, Theorem 2.2.
"""

import numpy as np

from dpviz.errors import ParameterError, SchemaError
from dpviz.randomness import secure_uniforms
from dpviz.table.schema import Schema


def check_persons(schema: Schema, person: str | None, rows_per_person: int | None) -> None:
    """Raise ParameterError or SchemaError unless both or none are given, and the column is not part of the schema."""
    if (person is None) != (rows_per_person is None):
        raise ParameterError("encode", "rows_per_person", rows_per_person, "given together with person, or not at all")
    whole = isinstance(rows_per_person, int) and not isinstance(rows_per_person, bool)
    if rows_per_person is not None and not (whole and rows_per_person >= 1):
        raise ParameterError("encode", "rows_per_person", rows_per_person, "a whole number of at least 1")
    if person in (*schema.feature_names, schema.target.name):
        what = "The column that says whose row it is cannot be a feature or the target."
        raise SchemaError(what, field=str(person), remedy="Leave it out of the schema.")


def chosen_rows(persons: np.ndarray, most: int) -> np.ndarray:
    """Which rows are kept, bool of shape (n_rows,): of each person at most `most`, every choice equally likely.

    `persons`: shape (n_rows,), int; whose row it is. Private.
    """
    order = np.lexsort((secure_uniforms(len(persons)), persons))
    places = np.arange(len(persons))
    sorted_persons = persons[order]
    begins = np.append(True, sorted_persons[1:] != sorted_persons[:-1])[: len(persons)]
    rank = places - np.maximum.accumulate(np.where(begins, places, 0))
    chosen = np.zeros(len(persons), dtype=bool)
    chosen[order] = rank < most
    return chosen
