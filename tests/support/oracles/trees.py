"""Trees walked one row at a time, and greedy trees by brute force."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpviz.models.tree import Branch, Node, Tree, prediction_of
from dpviz.table.dataset import EncodedDataset
from tests.support.oracles import counts


def predict_row(node: Node, data: EncodedDataset, row: int) -> float:
    """The label or number of one row."""
    while isinstance(node, Branch):
        value = data.columns[node.rule.feature][row]
        node = node.left if counts.goes_left(node.rule, value) else node.right
    return prediction_of(node)


def predict(tree: Tree, data: EncodedDataset) -> list[float]:
    """The label or number of every row."""
    return [predict_row(tree.root, data, row) for row in range(data.n_rows)]


def rows_by_node(tree: Tree, data: EncodedDataset) -> Iterator[tuple[int, Node, list[int]]]:
    """(depth, node, rows that reach it) of every node."""

    def walk(node: Node, rows: list[int], depth: int) -> Iterator[tuple[int, Node, list[int]]]:
        yield depth, node, rows
        if isinstance(node, Branch):
            values = data.columns[node.rule.feature]
            left = [row for row in rows if counts.goes_left(node.rule, values[row])]
            yield from walk(node.left, left, depth + 1)
            yield from walk(node.right, [row for row in rows if row not in set(left)], depth + 1)

    return walk(tree.root, list(range(data.n_rows)), 0)


def best(rules, data: EncodedDataset, rows, utility: Callable) -> int:
    """The best utility of any rule at a node: utility(left counts, right counts)."""
    total = counts.class_counts(data, rows)
    return max(utility(left, total - left) for left in counts.left_counts(rules, data, rows))


def utility_of(rule, data: EncodedDataset, rows, utility: Callable):
    """The utility of one rule at a node."""
    left = counts.left_counts([rule], data, rows)[0]
    return utility(left, counts.class_counts(data, rows) - left)
