"""Verification of a tree whose coins keep rows away from growing: the exact mixture over all coins.

An output is a tree together with a table of noisy counts (leaf by class) per part of the rows that was set aside. On a table D,

    P(tree, c) = sum over coins of P(coins) * P(tree | rows it grows from) * prod over parts, cells of g(c - rows counted there),

where g is the geometric law. All outputs are searched although they are infinitely many: a count that no row can reach, or one
beyond the rows there are, has the likelihood ratio of the nearest count that can occur, and a cell that no row of the pair can
reach cancels. So counts from 0 to the rows of the larger table are enough. For numbers at the ends of their range, and medians in
the middle, a row's sums are a whole row in one of two cells per leaf; the window is part of the output (`_sums_law`).

Source: this project.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count, product
from typing import Any

import numpy as np

from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import Aside
from dpviz.errors import NotEnumerable
from dpviz.evaluation.audit.distributions import Level
from dpviz.evaluation.audit.findings import Separation, WorstPair
from dpviz.evaluation.audit.universe import Universe
from dpviz.models.document import model_body
from dpviz.models.tree import Branch, Leaf, Node, Tree
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget
from dpviz.training.honest.leaves import LEAF_COUNTS
from dpviz.training.honest.masses import masses
from dpviz.training.honest.numbers import LEAF_SUMS, UNITS, WINDOW_PART
from dpviz.training.honest.window import WIDTH, Window, beyond_widths, width_utilities, widths

#: More trees are not listed one by one, and more pairs of neighbours times partings of the rows by trees not searched.
MOST_TREES, MOST_MIXTURES = 20_000, 8_000
#: Widths of windows that are searched.
WIDTHS = 2


@dataclass(frozen=True, eq=False)
class _Listed:
    """A tree, the leaf of every kind of row (-1: not below this node), and the log probability on every table."""

    node: Node
    leaf: np.ndarray
    log_chance: np.ndarray
    n_leaves: int


def separation_with_aside(tables: Universe, levels: list[Level], aside: tuple[Aside, ...]) -> Separation:
    """The output, over all neighbouring pairs, with the largest log ratio. Raises NotEnumerable."""
    if any(not np.array_equal(level.low, level.high) for level in levels):
        raise NotEnumerable("The growing of this tree is known up to bounds only.", remedy="Use a universe of categories.")
    everywhere = np.ones(tables.kinds.n_rows, dtype=bool)
    groups: dict[tuple[int, ...], list[_Listed]] = {}
    for number, tree in enumerate(_trees(tables, levels, 0, everywhere)):
        if number == MOST_TREES:
            raise NotEnumerable(f"There are more than {MOST_TREES:,} trees.", remedy="Use a smaller universe.")
        groups.setdefault(_parting(tree.leaf), []).append(tree)
    mixtures = [_Mixture(tables, group, aside) for group in groups.values()]
    smaller, kinds = np.nonzero(tables.plus_one >= 0)
    if len(smaller) * len(mixtures) > MOST_MIXTURES:
        raise NotEnumerable("There are too many ways to part these rows.", remedy="Use a smaller universe.")
    order = np.argsort(tables.counts[smaller].sum(axis=1), kind="stable")  # among equals the fewest rows, which read best
    pairs = zip(smaller[order].tolist(), kinds[order].tolist(), strict=True)
    found = (mixture.worst(*pair) for pair in pairs for mixture in mixtures)
    best = next(found)
    for other in found:
        best = other if other.log_ratio > best.log_ratio + 1e-12 else best
    return best


def _parting(leaf: np.ndarray) -> tuple[int, ...]:
    """Which kinds share a leaf, whatever the leaves' numbers."""
    first: dict[int, int] = {}
    return tuple(first.setdefault(number, len(first)) for number in leaf.tolist())


def _trees(tables: Universe, levels: list[Level], depth: int, reached: np.ndarray) -> Iterator[_Listed]:
    """Every subtree that can grow from the kinds of rows that reach a node."""
    here = tables.part(reached)
    for number, outcome in enumerate(levels[depth].outcomes):
        log_chance = levels[depth].low[here, number]
        if outcome.goes_left is None:
            assert outcome.ends is not None
            assert not isinstance(outcome.ends, dict)
            tree = Tree(tables.kinds.schema, outcome.ends)
            leaf = np.where(reached, tree.leaf_of_rows(tables.kinds), -1)
            yield _Listed(outcome.ends, leaf, log_chance, tree.n_leaves)
            continue
        assert outcome.rule is not None
        rights = list(_trees(tables, levels, depth + 1, reached & ~outcome.goes_left))
        for left in _trees(tables, levels, depth + 1, reached & outcome.goes_left):
            for right in rights:
                leaf = np.where(right.leaf >= 0, right.leaf + left.n_leaves, left.leaf)
                chance = log_chance + left.log_chance + right.log_chance
                yield _Listed(
                    Branch(outcome.rule, left.node, right.node, outcome.halves), leaf, chance, left.n_leaves + right.n_leaves
                )


@dataclass(frozen=True, eq=False)
class _Mixture:
    """Trees that part the kinds of rows in the same way: they differ in labels, or in how the parts came about."""

    tables: Universe
    trees: list[_Listed]
    aside: tuple[Aside, ...]

    @cached_property
    def chances(self) -> np.ndarray:
        """Probability of every tree on every table, shape (n_tables, n_trees)."""
        return np.exp(np.stack([tree.log_chance for tree in self.trees], axis=1))

    @cached_property
    def cell(self) -> np.ndarray:
        """Leaf and class of every kind of row, as one number; of a number whether it is at the lower or the upper end."""
        return self.trees[0].leaf * self.n_classes + self.classes

    @cached_property
    def classes(self) -> np.ndarray:
        """Class of every kind of row."""
        return self.tables.kinds.target.astype(np.int64)

    @property
    def n_classes(self) -> int:
        """Cells of a leaf that rows reach."""
        return len(np.unique(self.classes)) if self._of_numbers else self.tables.kinds.n_classes

    @property
    def _of_numbers(self) -> bool:
        return isinstance(self.tables.kinds.schema.target, NumericTarget)

    def worst(self, smaller: int, kind: int) -> Separation:
        """The largest log ratio of an output on a pair of neighbours."""
        larger = int(self.tables.plus_one[smaller, kind])
        cells, place = np.unique(self.cell[self.tables.counts[larger] > 0], return_inverse=True)
        spot = np.zeros((self.tables.kinds.n_rows, len(cells)), dtype=np.int64)
        spot[np.flatnonzero(self.tables.counts[larger]), place] = 1
        grid = np.array(list(product(*(range(rows + 1) for rows in self.tables.counts[larger] @ spot))))
        few, many = (self._probabilities(index, spot, grid) for index in (smaller, larger))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.nan_to_num(np.abs(np.log(many) - np.log(few)), nan=-np.inf, posinf=np.inf)
        where = np.unravel_index(ratios.argmax(), ratios.shape)
        counted = [spot @ grid[place // (WIDTHS if self._of_numbers else 1)] for place in where[1:]]
        return self._found(
            float(ratios[where]), (smaller, larger), int(where[0]), counted, (float(few[where]), float(many[where]))
        )

    def _probabilities(self, index: int, spot: np.ndarray, grid: np.ndarray) -> np.ndarray:
        """Of every output on a table: shape (n_trees, then the places on the grid of each part)."""
        total: np.ndarray | float = 0.0
        shares = tuple(aside.share for aside in self.aside)
        for grown, counted, weights in _divided(tuple(self.tables.counts[index].tolist()), shares):
            noisy = [self._law(aside, spot, grid, part) for aside, part in zip(self.aside, counted, strict=True)]
            letters = "bcd"[: len(noisy)]
            mixed = np.einsum(f"a,{','.join('a' + letter for letter in letters)}->{letters}", weights, *noisy)
            total = total + np.multiply.outer(self.chances[self._numbers[grown]], mixed)
        return np.asarray(total)

    def _law(self, aside: Aside, spot: np.ndarray, grid: np.ndarray, part: np.ndarray) -> np.ndarray:
        """Probability of every noisy table for every way of drawing a part: shape (n_ways, n_outputs)."""
        if aside.part == LEAF_SUMS:
            root = self.trees[0].node
            assert isinstance(root, Branch)
            assert root.halves is not None
            return _sums_law(aside, self.tables.kinds, root.halves.median, part, grid[None, :, :] - (part @ spot)[:, None, :])
        return GeometricNoise(aside.epsilon).pmf(grid[None, :, :] - (part @ spot)[:, None, :]).prod(axis=2)

    @cached_property
    def _numbers(self) -> dict[tuple[int, ...], int]:
        return {tuple(row): number for number, row in enumerate(self.tables.counts.tolist())}

    def _found(
        self, ratio: float, pair: tuple[int, int], number: int, counted: list[np.ndarray], chances: tuple[float, float]
    ) -> Separation:
        """The output in full; `counted` holds, per part, the noisy count of the cell of every kind. Other cells hold 0."""
        tree, kinds = self.trees[number], self.tables.kinds
        occupied = np.flatnonzero(self.tables.counts[pair[1]])
        output: dict[str, Any] = {}
        rest = 1.0
        for aside, noisy in zip(self.aside, counted, strict=True):
            table = np.zeros((tree.n_leaves, self.n_classes), dtype=np.int64)
            table[tree.leaf[occupied], self.classes[occupied]] = noisy[occupied]
            cells = len(set(zip(tree.leaf[occupied].tolist(), self.classes[occupied].tolist(), strict=True)))
            rest *= float(GeometricNoise(aside.epsilon).pmf(0)) ** (table.size - cells)
            output |= _body(kinds, tree.node, table) if aside.part == LEAF_COUNTS else {aside.part: table.tolist()}
        both = tuple(self.tables.dataset(index) for index in pair)
        pair_found = WorstPair.of(both[0], both[1], (chances[0] * rest, chances[1] * rest))
        return Separation(ratio, {**model_body(Tree(kinds.schema, tree.node)), **output}, pair_found)


def _sums_law(aside: Aside, kinds: EncodedDataset, centre: float, part: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Windows of two widths (the others have the law of the second) by noisy sums at whole rows, which are the extreme ones.

    Raises NotEnumerable where a row's sums are not a whole row in one cell.
    """
    target = kinds.schema.target
    assert isinstance(target, NumericTarget)
    for width in widths(target)[:WIDTHS]:
        units = masses((Window(centre, float(width)).place(kinds.target) + 1) / 2, 2, UNITS)
        if not np.isin(units, (0, UNITS)).all():
            raise NotEnumerable("The sums of these numbers are not whole rows.", remedy="Use numbers at the ends of their range.")
    for_window, for_sums = split_budget(aside.epsilon, (WINDOW_PART, 1 - WINDOW_PART))
    costs = np.stack([width_utilities(row) for row in beyond_widths(kinds.target, target, centre)])
    chances = PermuteAndFlip(for_window, WIDTH).probabilities(part @ costs)[:, :WIDTHS]
    sums = GeometricNoise(for_sums).pmf(noise).prod(axis=2)
    return np.einsum("ap,aw->apw", sums, chances).reshape(len(part), -1)


def _body(kinds: EncodedDataset, node: Node, counts: np.ndarray) -> dict[str, Any]:
    numbers = count()

    def counted(node: Node) -> Node:
        if isinstance(node, Branch):
            return Branch(node.rule, counted(node.left), counted(node.right))
        assert isinstance(node, Leaf)
        return Leaf(node.label, tuple(counts[next(numbers)].tolist()))

    return model_body(Tree(kinds.schema, counted(node)))


@lru_cache(maxsize=4096)
def _divided(
    counts: tuple[int, ...], shares: tuple[float, ...]
) -> list[tuple[tuple[int, ...], tuple[np.ndarray, ...], np.ndarray]]:
    """What coins do with a table: (rows grown from, rows of each part (n_ways, n_kinds), probabilities (n_ways,)) per kind."""
    found: dict[tuple[int, ...], list[tuple[tuple[tuple[int, ...], ...], float]]] = {}
    for ways in product(*(_ways(rows, shares) for rows in counts)):
        parts = tuple(zip(*(drawn for drawn, _ in ways), strict=True))
        found.setdefault(parts[0], []).append((parts[1:], math.prod(chance for _, chance in ways)))
    return [
        (
            grown,
            tuple(np.array(part) for part in zip(*(drawn for drawn, _ in listed), strict=True)),
            np.array([c for _, c in listed]),
        )
        for grown, listed in found.items()
    ]


@lru_cache(maxsize=256)
def _ways(rows: int, shares: tuple[float, ...]) -> list[tuple[tuple[int, ...], float]]:
    """Every (rows grown from, rows of part 1, ...) of equal rows, with its multinomial probability."""
    chances = (1 - sum(shares), *shares)
    drawn = (ways for ways in product(range(rows + 1), repeat=len(chances)) if sum(ways) == rows)
    return [
        (way, math.factorial(rows) * math.prod(chance**k / math.factorial(k) for chance, k in zip(chances, way, strict=True)))
        for way in drawn
    ]
