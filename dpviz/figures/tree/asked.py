"""Which trees of a model ask about a feature: to find them among many."""

from collections.abc import Sequence

from dpviz.figures.tree.labels import visible
from dpviz.models.tree import Branch, Tree
from dpviz.table.schema import Schema


def asked_by(trees: Sequence[Tree]) -> dict[int, tuple[int, ...]]:
    """Feature -> numbers, from 1, of the trees that ask about it once equal sides are merged; the most frequent first."""
    found: dict[int, list[int]] = {}
    for number, tree in enumerate(trees, start=1):
        nodes = (placed.node for placed in tree.merged().nodes())
        for feature in sorted({node.rule.feature for node in nodes if isinstance(node, Branch)}):
            found.setdefault(feature, []).append(number)
    return {feature: tuple(found[feature]) for feature in sorted(found, key=lambda one: (-len(found[one]), one))}


def asked_in_words(schema: Schema, feature: int, n_asking: int, n_trees: int) -> str:
    """As in "area: asked about in 87 of 200 trees"."""
    return f"{visible(schema.feature_names[feature])}: asked about in {n_asking:,} of {n_trees:,} trees"
