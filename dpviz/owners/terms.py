"""The terms that data owners agree on before the first round: trees, recipe, and shares of the noise. All public.

The guarantee must hold without the noise of colluding owners: with m owners taking part, of whom c may pool what they know with
the aggregator, each adds discrete Gaussian noise of variance s^2 / (m - c), where s is the scale in the ledger. The sum of such
shares is as close to the discrete Gaussian of the summed variance as the grid is fine (for shares of more than 10^5 steps closer
than floating-point numbers can express).

Source: Kairouz, Liu & Steinke 2021, "The distributed discrete Gaussian mechanism for federated learning with secure aggregation".
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from dpviz.privacy.source import Simulation
from dpviz.table.schema import Schema
from dpviz.table.schema_json import schema_from_dict
from dpviz.training.boosting.filter import FilterTerms
from dpviz.training.boosting.loss import Loss, loss_of
from dpviz.training.boosting.rounds import GRADIENTS, WEIGHTS, Recipe, leaf_values
from dpviz.training.boosting.trees import BoostingTrees, draw_boosting_trees


@dataclass(frozen=True)
class Terms:
    """The agreement."""

    schema: Schema  #: Of all rows together
    #: shape, depth, multiscale, numeric_weight, public_seed: they determine the trees, which are the same everywhere.
    shape: str
    depth: int
    multiscale: float
    numeric_weight: float
    public_seed: int
    newton: bool
    recipe: Recipe  #: Its noise is that of the total while all owners take part
    #: owners, colluding: how many start, and how many of them may pool what they know without harm to the others.
    owners: int
    colluding: int

    @cached_property
    def trees(self) -> BoostingTrees:
        """All trees, drawn without any row."""
        public = Simulation(self.public_seed)
        how = {"multiscale": self.multiscale, "numeric_weight": self.numeric_weight}
        return draw_boosting_trees(self.schema, self.shape, self.recipe.rounds, self.depth, **how, source=public)

    @cached_property
    def loss(self) -> Loss:
        """The loss to minimise."""
        return loss_of(self.schema, self.newton)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of terms and trees, hexadecimal: equal for owners that agree."""
        splits = self.trees.splits
        digest = sha256(json.dumps(self.to_dict(), sort_keys=True).encode())
        for array in (splits.tree, splits.feature, splits.threshold, splits.first_child, self.trees.cell):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def vector(self, gradients: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Sums of contributions, (n_cells, n_scores) and (n_cells,), as one vector in steps of the noise's grid, int64."""
        return np.rint(np.column_stack([gradients, weights])).astype(np.int64).ravel() << self.recipe.grid.extra_bits

    def length(self, tree: int) -> int:
        """Length of the vector of one tree: for every cell a gradient per score, and a weight."""
        return int(self.trees.n_cells[tree]) * (self.loss.n_scores + 1)

    def share_scales(self, taking_part: int) -> np.ndarray:
        """Standard deviations of one owner's share of the noise, in steps, for the numbers of one cell: (n_scores + 1,)."""
        share = math.sqrt((self.owners - self.colluding) / self.owners / (taking_part - self.colluding))
        scales = [self.recipe.grid.scales[GRADIENTS]] * self.loss.n_scores + [self.recipe.grid.scales[WEIGHTS]]
        return np.array(scales) * self.recipe.grid.steps * share

    def values(self, tree: int, total: np.ndarray | None) -> np.ndarray:
        """Values of a tree's cells: the noisy sum of all gradients over that of all weights; 0 where the round is void (None)."""
        if total is None:
            return np.zeros((int(self.trees.n_cells[tree]), self.loss.n_scores))
        sums = total.reshape(-1, self.loss.n_scores + 1) / self.recipe.grid.steps
        return leaf_values(self.recipe, self.loss, sums[:, :-1], sums[:, -1])

    def to_dict(self) -> dict[str, Any]:
        """The terms as JSON values."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {"schema": self.schema.to_dict(), "recipe": asdict(self.recipe)}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Terms:
        """The terms from `to_dict`."""
        recipe = dict(document["recipe"])
        recipe["filter"] = recipe["filter"] and FilterTerms(**recipe["filter"])
        return cls(**{**document, "schema": schema_from_dict(document["schema"]), "recipe": Recipe(**recipe)})
