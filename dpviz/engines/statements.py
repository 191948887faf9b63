"""The questions put to an engine, as SQL. Names in them are random, the user's are quoted, and results are counts.

The encoded table has one small integer per feature (`b0`, `b1`, ...), the class `y` (of a numeric target its band, and the
number `v`), and `k`: the number of the row among those that can be used, NULL for the others. Parts come in blocks of `BLOCK`
rows: `first` is the number of a block's first row, `parts` what they are assigned to, one digit per row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np
from sqlglot import exp, parse_one
from sqlglot.expressions import Expression

from dpviz.engines.expressions import Words, column, double, outcome_of
from dpviz.engines.kinds import ColumnKind
from dpviz.engines.outcomes import Outcomes
from dpviz.models.tree import Branch, Node, SubsetRule, ThresholdRule, Tree
from dpviz.table.candidates import CandidateGrid, FeatureCandidates, prefix_candidates, thresholds_candidates
from dpviz.table.schema import CategoricalFeature, NumericTarget, Schema
from dpviz.training.source_nodes import Place

#: Rows whose parts are one text; PostgreSQL packs texts of more than 2 kB, and would unpack them for every row.
BLOCK = 1024
#: Parts that one digit can tell apart.
MOST_PARTS = 9
#: The column of a target that is a number.
VALUE = "v"


def encoding(
    table: Sequence[str], columns: Sequence[tuple[str, Outcomes]], schema: Schema, words: Words, order: str = ""
) -> Expression:
    """SELECT bins and class of every row of `table` (its name, part by part), and the column `order` as `o` if there is one.

    The last of `columns` is the target.
    """
    outcomes = (outcome_of(column(name), found, words) for name, found in columns)
    names = zip(outcomes, encoded_names(schema), strict=False)
    selected: list[Expression] = [exp.alias_(exp.cast(outcome, "smallint"), name) for outcome, name in names]
    if isinstance(target := schema.target, NumericTarget):
        raised = exp.Greatest(this=exp.cast(column(target.name), "double"), expressions=[double(target.low)])
        selected.append(exp.alias_(exp.Least(this=raised, expressions=[double(target.high)]), VALUE))
    if order:
        selected.append(exp.alias_(column(order), "o"))
    return exp.select(*selected).from_(table_named(table))


def reading(table: Sequence[str], columns: Mapping[str, ColumnKind], order: str) -> Expression:
    """SELECT these columns of every row, in the order of one if it is named.

    Decimals that hold not-a-number are texts: Arrow has none such.
    """
    texts = exp.DataType.build("text")
    selected = [
        exp.alias_(exp.cast(column(name), texts), name, quoted=True) if kind.has_nan else column(name)
        for name, kind in columns.items()
    ]
    found = exp.select(*selected).from_(table_named(table))
    return found.order_by(column(order)) if order else found


def table_rows(table: Sequence[str]) -> Expression:
    """SELECT the number of rows."""
    return exp.select("COUNT(*)").from_(table_named(table))


def encoded_names(schema: Schema) -> list[str]:
    """Columns of the encoded table, `k` aside."""
    value = [VALUE] if isinstance(schema.target, NumericTarget) else []
    return [*(f"b{number}" for number in range(schema.n_features)), "y", *value]


def table_named(parts: Sequence[str]) -> exp.Table:
    """A table, every part of its name quoted."""
    quoted = [exp.to_identifier(part, quoted=True) for part in parts]
    return exp.Table(**dict(zip(("this", "db", "catalog"), reversed(quoted), strict=False)))


def usable(names: Sequence[str]) -> str:
    """True for a row that no cell takes out."""
    return " AND ".join(f"{name} >= 0" for name in names if name != VALUE)


def numbering(encoded: str, names: Sequence[str], *, ordered: bool) -> str:
    """SELECT the encoded rows with their number among the usable ones: as they come, or in the order of `o`."""
    window = f"{'ORDER BY o ' if ordered else ''}ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    running = f"CAST(SUM(CASE WHEN {usable(names)} THEN 1 ELSE 0 END) OVER ({window}) AS BIGINT) - 1"
    return f"SELECT {', '.join(names)}, CASE WHEN {usable(names)} THEN {running} END AS k FROM ({encoded}) AS e"


def counting_rows(encoded: str) -> str:
    """SELECT (rows, usable rows)."""
    return f"SELECT COUNT(*), COUNT(k) FROM {encoded}"


def counting_classes(encoded: str) -> str:
    """SELECT (class, rows)."""
    return f"SELECT y, COUNT(*) FROM {encoded} WHERE NOT k IS NULL GROUP BY y"


def sorting(encoded: str, schema: Schema) -> str:
    """SELECT the different usable rows in order: bins, class, value, and how many rows are alike."""
    names = ", ".join(encoded_names(schema))
    return f"SELECT {names}, COUNT(*) AS n FROM {encoded} WHERE NOT k IS NULL GROUP BY {names} ORDER BY {names}"


def joining(encoded: str, assignment: str) -> str:
    """SELECT the usable rows with the part that each one is assigned to at random."""
    part = f"CAST(SUBSTRING(c.parts, CAST(e.k % {BLOCK} AS INT) + 1, 1) AS INT)"
    return f"SELECT e.*, {part} AS part FROM {encoded} AS e JOIN {assignment} AS c ON e.k - e.k % {BLOCK} = c.first"


def counting_level(encoded: str, node: str, n_features: int, *, of_part_0: bool) -> str:
    """SELECT (node, feature, bin, class, rows): one pass over the rows, every feature a grouping of its own."""
    bins = [f"b{number}" for number in range(n_features)]
    groups = ", ".join(f"(node, y, {name})" for name in bins)
    feature = " ".join(f"WHEN NOT {name} IS NULL THEN {number}" for number, name in enumerate(bins))
    rows = f"SELECT {node} AS node, y, {', '.join(bins)} FROM {encoded} WHERE {_counted(of_part_0)}"
    grouped = (
        f"SELECT node, y, {', '.join(bins)}, COUNT(*) AS n FROM ({rows}) AS r WHERE node > 0 GROUP BY GROUPING SETS ({groups})"
    )
    return f"SELECT node, CASE {feature} END, COALESCE({', '.join(bins)}, -1), y, n FROM ({grouped}) AS g"


def counting_pairs(encoded: str, node: str, n_features: int, *, of_part_0: bool) -> str:
    """SELECT (node, feature, a later feature, bin, bin, class, rows): one pass, every pair of features a grouping of its own."""
    bins = [f"b{number}" for number in range(n_features)]
    groups = ", ".join(f"(node, y, {one}, {other})" for one, other in combinations(bins, 2))
    places = [f"WHEN NOT {name} IS NULL THEN {number}" for number, name in enumerate(bins)]
    ends = [f"CASE {' '.join(order)} END" for order in (places, reversed(places))]
    ends += [f"COALESCE({', '.join(order)}, -1)" for order in (bins, reversed(bins))]
    rows = f"SELECT {node} AS node, y, {', '.join(bins)} FROM {encoded} WHERE {_counted(of_part_0)}"
    grouped = (
        f"SELECT node, y, {', '.join(bins)}, COUNT(*) AS n FROM ({rows}) AS r WHERE node > 0 GROUP BY GROUPING SETS ({groups})"
    )
    return f"SELECT node, {', '.join(ends)}, y, n FROM ({grouped}) AS g"


def _counted(of_part_0: bool) -> str:
    return "part = 0" if of_part_0 else "NOT k IS NULL"


def counting_leaves(encoded: str, leaf: str, *, with_parts: bool) -> str:
    """SELECT (part, leaf, class, rows) of the rows that are set aside; without parts of all rows, as part 1."""
    part, counted = ("part", "part > 0") if with_parts else ("1", "NOT k IS NULL")
    rows = f"SELECT {part} AS part, {leaf} AS leaf, y FROM {encoded} WHERE {counted}"
    return f"SELECT part, leaf, y, COUNT(*) FROM ({rows}) AS r GROUP BY part, leaf, y"


def place_of_row(places: Sequence[Place]) -> str:
    """The number of the place that a row has reached, from 1 in this order; 0 where it is none of them."""
    numbers = {place: str(number) for number, place in enumerate(places, 1)}
    below: dict[Place, dict[bool, Place]] = {}
    for place in places:
        for child, above in pairwise(place.way):
            below.setdefault(above, {})[child.is_left] = child

    def at(place: Place | None) -> str:
        if place is None:
            return "0"
        if place in numbers:
            return numbers[place]
        sides = below[place]
        one = next(iter(sides.values()))
        return f"CASE WHEN {_is_in(one.feature, one.left_bins)} THEN {at(sides.get(True))} ELSE {at(sides.get(False))} END"

    return at(places[0].way[-1])


def leaf_of_row(root: Node, grid: CandidateGrid) -> str:
    """The number of the leaf that a row reaches, left to right from 0; rules are those of the grid's candidates."""
    return _leaf(root, grid, iter(range(1 << 30)))


def cuts_of(root: Node, schema: Schema) -> dict[int, set[float]]:
    """feature -> thresholds of the rules of a tree."""
    cuts: dict[int, set[float]] = {}
    for placed in Tree(schema, root).nodes():
        if isinstance(placed.node, Branch) and isinstance(placed.node.rule, ThresholdRule):
            cuts.setdefault(placed.node.rule.feature, set()).add(placed.node.rule.threshold)
    return cuts


def grid_for(root: Node, grid: CandidateGrid | None, schema: Schema) -> CandidateGrid:
    """`grid`, if its bins tell apart what the rules of a tree do; otherwise a grid that does."""
    cuts = cuts_of(root, schema)
    if grid is not None and all(_has(grid.features[feature], own) for feature, own in cuts.items()):
        return grid
    bins = (
        prefix_candidates(len(feature.categories))
        if isinstance(feature, CategoricalFeature)
        else thresholds_candidates(sorted(cuts.get(number, (feature.low,))))
        for number, feature in enumerate(schema.features)
    )
    return CandidateGrid(schema, tuple(bins), "of a tree", is_reused=False)


def _has(candidates: FeatureCandidates, cuts: set[float]) -> bool:
    return candidates.thresholds is not None and bool(np.isin(sorted(cuts), candidates.thresholds).all())


def _leaf(node: Node, grid: CandidateGrid, numbers: Iterator[int]) -> str:
    if not isinstance(node, Branch):
        return str(next(numbers))
    feature = node.rule.feature
    left, right = (_leaf(child, grid, numbers) for child in (node.left, node.right))
    return f"CASE WHEN {_is_in(feature, _left_bins(node.rule, grid))} THEN {left} ELSE {right} END"


def _left_bins(rule: ThresholdRule | SubsetRule, grid: CandidateGrid) -> np.ndarray:
    candidates = grid.features[rule.feature]
    left = np.zeros(candidates.n_bins, dtype=bool)
    if isinstance(rule, SubsetRule):
        left[list(rule.codes)] = True
    else:
        assert candidates.thresholds is not None
        left[: 1 + int(np.flatnonzero(candidates.thresholds == rule.threshold)[0])] = True
    return left


def _is_in(feature: int, left: np.ndarray) -> str:
    """Whether the bin of a feature is one of these: tests of whole runs."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], left, [False]]).astype(np.int8)))
    runs = [f"b{feature} BETWEEN {first} AND {after - 1}" for first, after in edges.reshape(-1, 2).tolist()]
    return " OR ".join(runs) or "1 = 0"


def written(statement: str | Expression, dialect: str) -> str:
    """A statement in the words of an engine."""
    return (parse_one(statement, read="duckdb") if isinstance(statement, str) else statement).sql(dialect=dialect)


def blocks(parts: np.ndarray) -> Iterator[tuple[int, str]]:
    """(number of the first row, one digit per row) of every block."""
    digits = (parts + ord("0")).astype(np.uint8).tobytes().decode("ascii")
    for first in range(0, len(digits), BLOCK):
        yield first, digits[first : first + BLOCK]
