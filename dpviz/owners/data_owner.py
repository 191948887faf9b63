"""One of several data owners who train together: it keeps its rows, and sends masked sums with its share of the noise.

An owner draws the trees from the public seed like all others, sums over its own rows (keeping their accounts if the individual
filter is on), adds its share of the noise and its masks, and learns the total. `python -m dpviz.owners` is an owner in its own
process: one line of JSON in, one line out.

It answers every round once, in order, and only with owners it has met: two answers with the same sums behind different masks
could reveal the sums.

Source: Kirschte et al. 2023, Algorithm 9 (which averages leaf values; sums are shared here).
"""

import base64
import io
import json
from collections.abc import Collection, Mapping
from typing import Any, TextIO

import numpy as np

from dpviz.errors import DpvizError, FederationError
from dpviz.owners.secure_sum import KeyPair, masked, masks_of
from dpviz.owners.terms import Terms
from dpviz.privacy.gaussian import GaussianNoise
from dpviz.privacy.source import ExactNoise, NoiseSource, Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.training.boosting.rounds import Rounds


class DataOwner:
    """An owner's rows, keys, and progress of training."""

    def __init__(self, number: int, data: EncodedDataset, terms: Terms, source: NoiseSource) -> None:
        self.number, self.terms, self.source = number, terms, source
        self._rounds = Rounds(data, terms.trees, terms.loss, 0.0, terms.recipe, source)
        self._pair = KeyPair()
        self._keys: dict[int, bytes] = {}
        self._tree = -1
        self._cells = np.empty(0, dtype=np.int64)

    @property
    def public_key(self) -> int:
        """For the other owners, relayed by the aggregator."""
        return self._pair.public

    def meet(self, public_keys: Mapping[int, int]) -> None:
        """Agree on a key with each of the others. Raises FederationError."""
        self._keys = {other: self._pair.shared_with(other, key) for other, key in public_keys.items() if other != self.number}

    def message(self, tree: int, taking_part: Collection[int]) -> np.ndarray:
        """The masked noisy sums of this owner's rows for one tree, uint64.

        `taking_part` may shrink from round to round, never grow. Raises FederationError.
        """
        self._require(tree, taking_part)
        self._tree = tree
        self._keys = {other: key for other, key in self._keys.items() if other in taking_part}
        self._cells, gradients, weights = self._rounds.sums(tree)
        vector = self._noisy(self.terms.vector(gradients, weights), len(taking_part))
        return masked(vector, masks_of(self.number, self._keys, tree, len(vector)))

    def _require(self, tree: int, taking_part: Collection[int]) -> None:
        known = {self.number, *self._keys}
        if not self._tree < tree < self.terms.recipe.rounds:
            what = f"It was asked about round {tree + 1:,} after round {self._tree + 1:,} of {self.terms.recipe.rounds:,}."
        elif self.number not in taking_part or not set(taking_part) <= known:
            what = f"It was asked to add up with owners {sorted(taking_part)}, but knows {sorted(known)}."
        elif len(set(taking_part)) < max(2, self.terms.colluding + 1):
            what = "It was asked to add up with too few others to hide among."
        else:
            return
        raise FederationError("round", what, owner=self.number, remedy="It answers every round once, among owners it has met.")

    def _noisy(self, vector: np.ndarray, taking_part: int) -> np.ndarray:
        scales = self.terms.share_scales(taking_part)
        columns = vector.reshape(-1, len(scales)).T
        noisy = [GaussianNoise(scale).add(column, source=self.source) for column, scale in zip(columns, scales, strict=True)]
        return np.column_stack(noisy).ravel()

    def learn(self, total: np.ndarray | None) -> None:
        """Update this owner's scores with the released total; None: the round was void."""
        self._rounds.learn(self._cells, self.terms.values(self._tree, total))


def rows_to_text(data: EncodedDataset) -> str:
    """Columns and target as text, for the owner's process."""
    with io.BytesIO() as buffer:
        np.savez(buffer, *data.columns, data.target)
        return base64.b64encode(buffer.getvalue()).decode()


def _rows_from_text(text: str, terms: Terms) -> EncodedDataset:
    with np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False) as arrays:
        *columns, target = (arrays[f"arr_{place}"] for place in range(terms.schema.n_features + 1))
    return EncodedDataset(terms.schema, tuple(columns), target)


def serve(asked: TextIO, said: TextIO) -> None:
    """Answer line by line until the last round; an error is reported and ends it, and so does a line that breaks off."""
    owner: DataOwner | None = None
    for line in asked:
        if not line.endswith("\n"):  # whoever wrote it was interrupted
            return
        request = json.loads(line)
        try:
            owner, answer = _join(request) if owner is None else (owner, _answer(owner, request))
        except DpvizError as error:
            _say(said, {"error": str(error)})
            return
        if answer is None:
            return
        _say(said, answer)


def _say(said: TextIO, answer: dict[str, Any]) -> None:
    said.write(json.dumps(answer) + "\n")
    said.flush()


def _join(request: dict[str, Any]) -> tuple[DataOwner, dict[str, Any] | None]:
    terms = Terms.from_dict(request["terms"])
    source = ExactNoise() if request["seed"] is None else Simulation(request["seed"])
    owner = DataOwner(request["number"], _rows_from_text(request["rows"], terms), terms, source)
    return owner, {"key": f"{owner.public_key:x}", "terms": terms.fingerprint}


def _answer(owner: DataOwner, request: dict[str, Any]) -> dict[str, Any] | None:
    if "keys" in request:
        owner.meet({int(other): int(key, 16) for other, key in request["keys"].items()})
        return {}
    if "learn" in request:
        total = request["learn"]
        owner.learn(None if total is None else np.array(total, dtype=np.int64))
    if request["tree"] is None:
        return None
    return {"masked": owner.message(request["tree"], request["taking_part"]).tolist()}
