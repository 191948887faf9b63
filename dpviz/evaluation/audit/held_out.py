"""Verification of a tree from whose growing rows are held out at random: the exact mixture over all assignments.

An output is a tree together with a table of noisy counts (leaf by class) per part of the rows that was set aside. On a table D,

    P(tree, c) = sum over assignments P(it) * P(tree | rows it grows from) * prod over parts, cells of g(c - rows counted there),

where g is the geometric law. All outputs are searched although they are infinitely many: a count that no row can reach, or one
beyond the rows there are, has the likelihood ratio of the nearest count that can occur, and a cell that no row of the pair can
reach cancels. So counts from 0 to the rows of the larger table are enough. For numbers at the ends of their range a row's sums
are a whole row in one of two cells per leaf; the window is part of the output (`_sums_law`).

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
from dpviz.accounting.plan import HeldOutPart
from dpviz.errors import UnsupportedError
from dpviz.evaluation.audit.evidence import Separation, WorstPair
from dpviz.evaluation.audit.exact import NodeLaws, Universe
from dpviz.models.document import model_body
from dpviz.models.tree import Branch, Leaf, Node, Tree
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget
from dpviz.training.estimate.leaf_means import LEAF_SUMS, UNITS, WINDOW_PART
from dpviz.training.estimate.window import N_WIDTHS, WIDTH, Window, bernstein_units, rows_outside_range, width_utilities, widths
from dpviz.training.growing import LEAF_COUNTS

#: More trees are not listed one by one, and more pairs of neighbours times partitions of the rows by trees not searched.
MAX_TREES, MAX_MIXTURES = 20_000, 8_000


@dataclass(frozen=True, eq=False)
class _ListedTree:
    """A tree, the leaf of every kind of row (-1: not below this node), and the log probability on every table."""

    node: Node
    leaf: np.ndarray
    log_chance: np.ndarray
    n_leaves: int


def separation_with_held_out(tables: Universe, laws: NodeLaws, held_out: tuple[HeldOutPart, ...]) -> Separation:
    """The output, over all neighbouring pairs, with the largest log ratio. Raises UnsupportedError."""
    smaller, kinds = np.nonzero(tables.plus_one >= 0)
    mixtures = [_Mixture(tables, group, held_out) for group in leaf_partitions(tables, laws, len(smaller)).values()]
    order = np.argsort(tables.counts[smaller].sum(axis=1), kind="stable")  # among equals the fewest rows, which read best
    pairs = zip(smaller[order].tolist(), kinds[order].tolist(), strict=True)
    best: Separation | None = None
    for pair in pairs:
        for mixture in mixtures:
            best = mixture.worst(*pair, -math.inf if best is None else best.log_ratio) or best
    assert best is not None
    return best


def leaf_partitions(tables: Universe, laws: NodeLaws, n_pairs: int) -> dict[tuple[int, ...], list[_ListedTree]]:
    """All trees, by which kinds of rows share a leaf. Raises UnsupportedError where a search of so many pairs takes too long.

    Larger universes of the same kinds have no fewer of either.
    """
    everywhere = np.ones(tables.kinds.n_rows, dtype=bool)
    groups: dict[tuple[int, ...], list[_ListedTree]] = {}
    for number, tree in enumerate(_trees(tables, laws, 0, everywhere)):
        if number == MAX_TREES:
            raise UnsupportedError(f"There are more than {MAX_TREES:,} trees.", remedy="Use a smaller universe.")
        groups.setdefault(_leaf_partition(tree.leaf), []).append(tree)
        if n_pairs * len(groups) > MAX_MIXTURES:
            raise UnsupportedError("There are too many ways to part these rows.", remedy="Use a smaller universe.")
    return groups


def _leaf_partition(leaf: np.ndarray) -> tuple[int, ...]:
    """Which kinds share a leaf, whatever the leaves' numbers."""
    first: dict[int, int] = {}
    return tuple(first.setdefault(number, len(first)) for number in leaf.tolist())


def _trees(tables: Universe, laws: NodeLaws, level: int, reached: np.ndarray) -> Iterator[_ListedTree]:
    """Every subtree that can grow from the kinds of rows that reach a node."""
    log_chances = laws.table(tables.counts, level)[tables.part(reached)]
    for number, outcome in enumerate(laws.outcomes[level]):
        log_chance = log_chances[:, number]
        below = [list(_trees(tables, laws, level + 1, reached & part)) for part in outcome.open]
        for chosen in product(*below):
            node = outcome.complete([tree.node for tree in chosen])
            assert not isinstance(node, dict)
            tree = Tree(tables.kinds.schema, node)
            leaf = np.where(reached, tree.leaf_of_rows(tables.kinds), -1)
            chance = log_chance + sum(tree.log_chance for tree in chosen)
            yield _ListedTree(node, leaf, chance, tree.n_leaves)


@dataclass(frozen=True, eq=False)
class _Mixture:
    """Trees that part the kinds of rows in the same way: they differ in labels, or in how the parts came about."""

    tables: Universe
    trees: list[_ListedTree]
    held_out: tuple[HeldOutPart, ...]

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

    def worst(self, smaller: int, kind: int, beyond: float) -> Separation | None:
        """The largest log ratio of an output on a pair of neighbours, if it is larger than `beyond`."""
        larger = int(self.tables.plus_one[smaller, kind])
        cells, place = np.unique(self.cell[self.tables.counts[larger] > 0], return_inverse=True)
        spot = np.zeros((self.tables.kinds.n_rows, len(cells)), dtype=np.int64)
        spot[np.flatnonzero(self.tables.counts[larger]), place] = 1
        grid = np.array(list(product(*(range(rows + 1) for rows in self.tables.counts[larger] @ spot))))
        few, many = (self._probabilities(index, spot, grid) for index in (smaller, larger))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.nan_to_num(np.abs(np.log(many) - np.log(few)), nan=-np.inf, posinf=np.inf)
        where = np.unravel_index(ratios.argmax(), ratios.shape)
        if not ratios[where] > beyond + 1e-12:
            return None
        counted = [spot @ grid[place // (N_WIDTHS if self._of_numbers else 1)] for place in where[1:]]
        return self._separation(
            float(ratios[where]), (smaller, larger), int(where[0]), counted, (float(few[where]), float(many[where]))
        )

    def _probabilities(self, index: int, spot: np.ndarray, grid: np.ndarray) -> np.ndarray:
        """Of every output on a table: shape (n_trees, then the places on the grid of each part)."""
        total: np.ndarray | float = 0.0
        shares = tuple(held_out.share for held_out in self.held_out)
        for grown, counted, weights in _divisions(tuple(self.tables.counts[index].tolist()), shares):
            noisy = [self._law(held_out, spot, grid, part) for held_out, part in zip(self.held_out, counted, strict=True)]
            letters = "bcd"[: len(noisy)]
            mixed = np.einsum(f"a,{','.join('a' + letter for letter in letters)}->{letters}", weights, *noisy)
            total = total + np.multiply.outer(self.chances[self._numbers[grown]], mixed)
        return np.asarray(total)

    def _law(self, held_out: HeldOutPart, spot: np.ndarray, grid: np.ndarray, part: np.ndarray) -> np.ndarray:
        """Probability of every noisy table for every way of drawing a part: shape (n_ways, n_outputs)."""
        if held_out.part == LEAF_SUMS:
            root = self.trees[0].node
            assert isinstance(root, Branch)
            assert root.median_split is not None
            return _sums_law(
                held_out, self.tables.kinds, root.median_split.median, part, grid[None, :, :] - (part @ spot)[:, None, :]
            )
        return GeometricNoise(held_out.epsilon).pmf(grid[None, :, :] - (part @ spot)[:, None, :]).prod(axis=2)

    @cached_property
    def _numbers(self) -> dict[tuple[int, ...], int]:
        return {tuple(row): number for number, row in enumerate(self.tables.counts.tolist())}

    def _separation(
        self, ratio: float, pair: tuple[int, int], number: int, counted: list[np.ndarray], chances: tuple[float, float]
    ) -> Separation:
        """The output in full; `counted` holds, per part, the noisy count of the cell of every kind. Other cells hold 0."""
        tree, kinds = self.trees[number], self.tables.kinds
        occupied = np.flatnonzero(self.tables.counts[pair[1]])
        output: dict[str, Any] = {}
        rest = 1.0
        for held_out, noisy in zip(self.held_out, counted, strict=True):
            table = np.zeros((tree.n_leaves, self.n_classes), dtype=np.int64)
            table[tree.leaf[occupied], self.classes[occupied]] = noisy[occupied]
            cells = len(set(zip(tree.leaf[occupied].tolist(), self.classes[occupied].tolist(), strict=True)))
            rest *= float(GeometricNoise(held_out.epsilon).pmf(0)) ** (table.size - cells)
            output |= _body(kinds, tree.node, table) if held_out.part == LEAF_COUNTS else {held_out.part: table.tolist()}
        both = tuple(self.tables.dataset(index) for index in pair)
        pair_found = WorstPair.of(both[0], both[1], (chances[0] * rest, chances[1] * rest))
        return Separation(ratio, {**model_body(Tree(kinds.schema, tree.node)), **output}, pair_found)


def _sums_law(held_out: HeldOutPart, kinds: EncodedDataset, centre: float, part: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Windows of every width by noisy sums at whole rows, which are the extreme ones.

    Raises UnsupportedError where a row's sums are not a whole row in one cell.
    """
    target = kinds.schema.target
    assert isinstance(target, NumericTarget)
    for width in widths(target):
        units = bernstein_units((Window.around(centre, float(width), target).place(kinds.target) + 1) / 2, 2, UNITS)
        if not np.isin(units, (0, UNITS)).all():
            raise UnsupportedError(
                "The sums of these numbers are not whole rows.", remedy="Use numbers at the ends of their range."
            )
    for_window, for_sums = split_budget(held_out.epsilon, (WINDOW_PART, 1 - WINDOW_PART))
    beyond = rows_outside_range(kinds.target, target, centre)
    utilities = np.stack([width_utilities(rows @ beyond, for_window) for rows in part])
    chances = PermuteAndFlip(for_window, WIDTH).probabilities(utilities)
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
def _divisions(
    counts: tuple[int, ...], shares: tuple[float, ...]
) -> list[tuple[tuple[int, ...], tuple[np.ndarray, ...], np.ndarray]]:
    """How a table may be assigned: (rows grown from, rows of each part (n_ways, n_kinds), probabilities (n_ways,)) per kind."""
    ways_by_grown: dict[tuple[int, ...], list[tuple[tuple[tuple[int, ...], ...], float]]] = {}
    for ways in product(*(_ways(rows, shares) for rows in counts)):
        parts = tuple(zip(*(drawn for drawn, _ in ways), strict=True))
        ways_by_grown.setdefault(parts[0], []).append((parts[1:], math.prod(chance for _, chance in ways)))
    return [
        (
            grown,
            tuple(np.array(part) for part in zip(*(drawn for drawn, _ in listed), strict=True)),
            np.array([c for _, c in listed]),
        )
        for grown, listed in ways_by_grown.items()
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
