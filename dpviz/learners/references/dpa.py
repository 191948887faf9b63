"""DPA: many ordinary trees on disjoint parts of the rows, which vote. Not private, but every prediction has a certificate.

A keyed hash of the row (its values and its class) chooses its part, so adding or removing a row moves no other row and affects
one tree only. Each tree depends on the *set* of its rows alone. Changing a prediction with a lead of g votes therefore takes at
least g/2 rows (`dpviz/evaluation/poisoning.py`). A part without rows has no tree and no vote.

The key need not be secret: the certificate holds against an attacker who knows it.

Source: Levine & Feizi 2021 (deep partition aggregation), with decision trees as in PrivaTree, Section VI-B.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from dpviz.accounting.plan import BudgetPlan
from dpviz.learners.references.cart import grow_tree
from dpviz.learners.references.scikit_learn import reference_learner
from dpviz.models.tree import Forest, Leaf, Tree
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.training.params import whole

NAME = "dpa"


@dataclass(frozen=True, slots=True)
class Params:
    """Number of trees, and the key of the hash."""

    trees: int = whole(
        1000, "Trees", "Parts the rows are divided into. More parts: more poison is withstood.", low=1, high=10_000
    )
    key: int = whole(0, "Key", "Divides the rows differently. It need not be secret.", low=0, high=2**53 - 1)


def grow(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> Forest:
    """One ordinary tree per part that has rows."""
    part_of = parts(data, params.trees, params.key)
    order = np.argsort(part_of, kind="stable")
    ends = np.searchsorted(part_of[order], np.arange(1, params.trees))
    groups = (rows for rows in np.split(order, ends) if len(rows))
    return Forest(data.schema, tuple(_tree(data, rows, plan) for rows in groups), are_disjoint=True)


def _tree(data: EncodedDataset, rows: np.ndarray, plan: BudgetPlan) -> Tree:
    target = data.target[rows]
    if (target == target[0]).all():
        return Tree(data.schema, Leaf(int(target[0])))
    part = EncodedDataset(data.schema, tuple(column[rows] for column in data.columns), target)
    return grow_tree(part, plan.depth, shares=False)


def parts(data: EncodedDataset, count: int, key: int) -> np.ndarray:
    """The part of every row, int64 of shape (n_rows,), which depends on the row and the key alone, on every platform."""
    secret = int(key).to_bytes(8, "little")
    digests = (blake2b(row, digest_size=8, key=secret).digest() for row in _rows(data))
    return np.fromiter((int.from_bytes(digest, "little") % count for digest in digests), dtype=np.int64, count=data.n_rows)


def _rows(data: EncodedDataset) -> Iterator[bytes]:
    """Each row as bytes: its values as little-endian doubles (exact for every code and whole number), then its class."""
    table = np.column_stack([*(column.astype("<f8") for column in data.columns), data.target.astype("<f8")]) + 0.0
    return (row.tobytes() for row in np.ascontiguousarray(table, dtype="<f8"))


LEARNER = reference_learner(
    "labels",
    grow,
    name=NAME,
    title="Voting trees on disjoint rows (not private)",
    idea="Many ordinary trees on disjoint rows vote; a prediction withstands half its lead in poisoned rows.",
    citation="Levine & Feizi 2021",
    Params=Params,
)
