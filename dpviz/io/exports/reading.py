"""Models read as functions of raw cells: trees, forests, packed forests, boosted trees, sums of one term per feature."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.errors import NotExported
from dpviz.io.exports.conditions import Condition
from dpviz.io.exports.function import Decision, End, Function, Probabilities, Split, Step, condition_of, up_to
from dpviz.models.additive import AdditiveModel
from dpviz.models.boosted import BoostedTrees
from dpviz.models.constant import Constant
from dpviz.models.packed_forest import OfPackedTrees, PackedForest, PackedTrees
from dpviz.models.tree import Branch, Forest, Leaf, Node, NumberLeaf, SubsetRule, Tree, said_by
from dpviz.table.schema import NumericFeature, NumericTarget, Schema

#: Longer paths overflow the stack of one target or another.
LONGEST_PATH = 250


def function_of(model: Any) -> Function:
    """The model over raw cells. Raises NotExported for a kind that is no tree or trees, or is too deep."""
    makers: dict[type, Callable[[Any], Function]] = {
        Tree: _of_tree,
        Constant: lambda constant: _of_tree(Tree(constant.schema, Leaf(constant.label))),
        Forest: _of_forest,
        PackedForest: _of_packed_forest,
        BoostedTrees: _of_boosted,
        AdditiveModel: _of_additive,
    }
    if type(model) not in makers:
        raise NotExported(f"A model of kind {model.kind!r} is no tree.", remedy="Export it as JSON.")
    return makers[type(model)](model)


def _of_tree(tree: Tree) -> Function:
    leaves = [placed.node for placed in tree.nodes() if not isinstance(placed.node, Branch)]
    has_shares = all(isinstance(leaf, Leaf) and leaf.shares is not None for leaf in leaves)
    return Function(tree.schema, (_from_node(tree, _end),), "one", chances="leaf" if has_shares else "none")


def _end(leaf: Leaf | NumberLeaf) -> End:
    return End((float(said_by(leaf)),), leaf.shares if isinstance(leaf, Leaf) else None)


def _of_forest(forest: Forest) -> Function:
    votes = _votes(len(forest.schema.classes))
    trees = tuple(_from_node(tree, lambda leaf: End(votes[leaf.label])) for tree in forest.trees)
    return _voting(forest.schema, trees, "votes" if trees else "none")


def _voting(schema: Schema, trees: tuple[Step, ...], chances: Probabilities) -> Function:
    n_sums = 1 if len(schema.classes) == 2 else len(schema.classes)
    return Function(schema, trees, "sign" if n_sums == 1 else "most", (0.0,) * n_sums, chances)


def _votes(n_classes: int) -> list[tuple[float, ...]]:
    """What a vote for each class adds; for two classes one sum, which the second class pulls above 0."""
    one_each = np.eye(n_classes).tolist()
    return [(-1.0,), (1.0,)] if n_classes == 2 else [tuple(row) for row in one_each]


def _of_packed_forest(forest: PackedForest) -> Function:
    if forest.tallies is None:
        votes = _votes(len(forest.schema.classes))
        amounts = [votes[label] for label in forest.labels.tolist()]
    else:
        tallies = forest.tallies.astype(np.float64)
        shown = tallies[:, 1:] - tallies[:, :1] if tallies.shape[1] == 2 else tallies
        amounts = [tuple(row) for row in shown.tolist()]
    return _voting(forest.schema, _from_packed(forest.splits, amounts), "votes" if forest.tallies is None else "none")


def _of_boosted(model: BoostedTrees) -> Function:
    n_sums, splits = model.n_scores, model.splits
    turn = splits.tree[splits.leaves] % n_sums
    amounts = np.zeros((len(turn), n_sums))
    amounts[np.arange(len(turn)), turn] = model.values
    how: Decision = "sum" if isinstance(model.schema.target, NumericTarget) else "sign" if n_sums == 1 else "most"
    trees = _from_packed(splits, [tuple(row) for row in amounts.tolist()])
    return Function(model.schema, trees, how, (model.initial,) * n_sums, "none" if how == "sum" else "odds")


# --- trees


def _split(condition: Condition | bool, yes: Step, no: Step) -> Step:
    """Without a split that every cell passes the same way, or whose sides end alike."""
    if isinstance(condition, bool):
        return yes if condition else no
    return yes if isinstance(yes, End) and yes == no else Split(condition, yes, no)


def _require_short(depth: int) -> None:
    if depth > LONGEST_PATH:
        what = f"A path of this model has more than {LONGEST_PATH} splits, which is too deep for an export."
        raise NotExported(what, remedy="Export it as JSON, or train with a smaller depth or fewer categories.")


def _from_node(tree: Tree, end: Callable[[Any], End]) -> Step:
    _require_short(tree.depth)

    def read(node: Node) -> Step:
        if not isinstance(node, Branch):
            return end(node)
        return _split(condition_of(tree.schema, node.rule), read(node.left), read(node.right))

    return read(tree.root)


def _from_packed(splits: PackedTrees, amounts: list[tuple[float, ...]]) -> tuple[Step, ...]:
    _require_short(_longest_path(splits))
    return tuple(_from_node(tree, lambda leaf: End(amounts[int(leaf.value)])) for tree in _Numbered(splits).trees)


def _longest_path(splits: PackedTrees) -> int:
    """In rules of two sides: one child per category becomes a chain of them."""
    depth, counts = np.zeros(len(splits.feature), dtype=np.int64), splits.n_children()
    for place in np.flatnonzero(counts):  # parents come first
        children = np.arange(counts[place])
        depth[splits.first_child[place] + children] = depth[place] + np.minimum(children + 1, counts[place] - 1)
    return int(depth.max(initial=0))


@dataclass(frozen=True, eq=False)
class _Numbered(OfPackedTrees):
    """Packed trees whose leaves say their own number."""

    splits: PackedTrees

    def leaf(self, number: int) -> NumberLeaf:
        return NumberLeaf(float(number))


# --- one term per feature


def _of_additive(model: AdditiveModel) -> Function:
    """One tree per feature, from its table of values; a missing cell takes the last value, as it goes right everywhere."""
    terms = zip(model.schema.features, model.cuts, model.values, strict=True)
    trees = tuple(_term(model.schema, place, cuts, values) for place, (_, cuts, values) in enumerate(terms))
    return Function(model.schema, trees, "sign", (model.offset,), "odds")


def _term(schema: Schema, place: int, cuts: Sequence[float], values: Sequence[float]) -> Step:
    feature = schema.features[place]
    if isinstance(feature, NumericFeature):
        return _bins(feature, place, cuts, values)
    chain: Step = End((values[-1],))
    for code in reversed(range(len(values) - 1)):
        chain = _split(condition_of(schema, SubsetRule(place, (code,))), End((values[code],)), chain)
    return chain


def _bins(feature: NumericFeature, place: int, cuts: Sequence[float], values: Sequence[float]) -> Step:
    """Halves the cuts, so that no path is long."""
    if not cuts:
        return End((values[0],))
    middle = len(cuts) // 2
    below = _bins(feature, place, cuts[:middle], values[: middle + 1])
    above = _bins(feature, place, cuts[middle + 1 :], values[middle + 1 :])
    return _split(up_to(cuts[middle], feature, place, included=False), below, above)
