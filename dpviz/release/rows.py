"""Rows of the register's tables to records. What cannot be read means that the file is damaged."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.errors import RegisterError
from dpviz.release.records import DataSet, Entry, Exploration, State
from dpviz.table.role import DataRole

T = TypeVar("T")
#: What `entry_of` reads.
ENTRY = (
    "SELECT number, token, data_set, state, started, finished, learner, settings, epsilon, delta, disclosures, file, sha256 "
    "FROM release"
)


def _or_damaged(read: Callable[[Sequence[Any]], T]) -> Callable[[Sequence[Any]], T]:
    @wraps(read)
    def reader(row: Sequence[Any]) -> T:
        try:
            return read(row)
        except (ValueError, TypeError) as error:
            remedy = "Put back a copy. Do not start a new one: what was spent stays spent."
            raise RegisterError("damaged", "An entry of the release register cannot be read.", remedy=remedy) from error

    return reader


@_or_damaged
def data_set_of(row: Sequence[Any]) -> DataSet:
    """A row of `data_set`."""
    name, role, unit, rows_per_unit, epsilon_cap, delta_cap, declared = row
    return DataSet(name, DataRole(role), unit, int(rows_per_unit), float(epsilon_cap), float(delta_cap), declared)


@_or_damaged
def entry_of(row: Sequence[Any]) -> Entry:
    """A row that ENTRY selects."""
    number, token, data_set, state, started, finished, learner, settings, epsilon, delta, disclosures, file, sha256 = row
    loss = PrivacyLoss(float(epsilon), float(delta))
    asked, known = json.loads(settings), tuple(json.loads(disclosures))
    return Entry(number, token, data_set, State(state), started, finished, learner, asked, loss, known, file, sha256)


@_or_damaged
def exploration_of(row: Sequence[Any]) -> Exploration:
    """A row of `exploration`, with the data set its rows belong to."""
    fingerprint, data_set, at, what, learner, settings, times = row
    return Exploration(fingerprint, data_set, at, what, learner, json.loads(settings), int(times))
