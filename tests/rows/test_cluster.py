"""Rows that a cluster keeps: the tree of memory on any engine, and all anew, with fresh draws, where some of them are lost."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import count

import numpy as np
import pyarrow as pa
import pytest

import dpviz
from dpviz.errors import TableError, UnsupportedError
from dpviz.models.packed_forest import values_of
from dpviz.privacy.source import Simulation
from dpviz.rows.cluster import CELLS, PART_SCHEMA, PERSON_SCHEMA, ClusterRows, PartFunction, concatenate_pieces
from dpviz.training.forests import draw_trees
from tests.support.nasty_cells import SCHEMA, shuffled
from tests.support.paths import ROOT, SEED
from tests.support.source_tables import CANARY, document, in_memory, numbered, wide


class Parts:
    """Parts of a table, made once and kept. `befalls` is called before each is used, with how many are kept, and may raise."""

    kept = 0  #: Sources whose parts are kept

    def __init__(self, parts: Sequence[list[pa.RecordBatch]], names: Sequence[str], befalls: Callable[[], None]) -> None:
        self.parts, self.names, self.befalls = [*parts], tuple(names), befalls

    def _each(self, function: PartFunction) -> Iterator[list[pa.RecordBatch]]:
        for number, part in enumerate(self.parts):
            self.befalls()
            yield list(function(number, iter(part)))

    def _made(self, parts: Sequence[list[pa.RecordBatch]], names: Sequence[str]) -> Parts:
        Parts.kept += 1
        return Parts(parts, names, self.befalls)

    def map_batches(self, function: PartFunction, schema: pa.Schema) -> Parts:
        return self._made([*self._each(function)], schema.names)

    def sum_batches(self, function: PartFunction) -> pa.Table:
        made = pa.Table.from_batches([batch for part in self._each(function) for batch in part], schema=CELLS)
        summed = made.group_by("cell").aggregate([("count", "sum")]).rename_columns(["cell", "count"])
        return summed.sort_by([("cell", "descending")])  # they come in no order that an engine would promise

    def partition_by(self, person: str, rows_per_person: int) -> Parts:
        self.befalls()
        rows = pa.Table.from_batches([batch for part in self.parts for batch in part], schema=PERSON_SCHEMA)
        rows = rows.filter(pa.compute.is_valid(rows["records"])).sort_by([("person", "ascending"), ("draw", "ascending")])
        persons = rows["person"].to_numpy(zero_copy_only=False)
        first = np.r_[True, persons[1:] != persons[:-1]][: len(persons)]
        place = np.arange(len(persons)) - np.maximum.accumulate(np.where(first, np.arange(len(persons)), 0))
        chosen = rows.filter(pa.array(place < rows_per_person)).sort_by("row")
        codes = chosen["person"].combine_chunks().dictionary_encode().indices.to_numpy()
        _, firsts = np.unique(codes, return_index=True)
        at = chosen.schema.get_field_index("row")
        numbered = chosen.set_column(at, "row", pa.array(firsts[codes], pa.int64())).cast(PERSON_SCHEMA)
        return self._made([[*concatenate_pieces(0, iter(numbered.to_batches(100)))]], PART_SCHEMA.names)

    def close(self) -> None:
        Parts.kept -= bool(self.parts) and self.names in (tuple(PART_SCHEMA.names), tuple(PERSON_SCHEMA.names))
        self.parts = []


N_ROWS = 600
NARROW = wide(SCHEMA).without("double", "labels", "decimal labels", "days").declare(n_public=N_ROWS)
#: In parts of several batches, one of them empty.
PLACES = ((0, 200), (200, 0), (200, 400))


def table(n_rows: int = N_ROWS, *, persons: bool = False) -> pa.Table:
    rows = numbered(shuffled(n_rows, SEED))
    who = [f"p{row % 90}" if row % 7 else None for row in range(n_rows)]
    return rows.append_column("who", pa.array(who)) if persons else rows


def opened(rows: pa.Table, befalls=lambda: None, *persons) -> ClusterRows:
    parts = [rows.slice(*place).to_batches(max_chunksize=70) for place in PLACES]
    return ClusterRows(Parts(parts, rows.column_names, befalls), NARROW, *persons)


def striking(at: Container[int]) -> Callable[[], None]:
    """Befalls a source: it loses rows at these steps, counted from 0."""
    steps = count()

    def strike() -> None:
        if next(steps) in at:
            raise MemoryError(CANARY)

    return strike


@pytest.mark.engine
def test_another_engine_gives_the_tree_of_memory() -> None:
    """The source of the documentation, on Dask."""
    dask = pytest.importorskip("dask")
    source = runpy.run_path(str(ROOT / "docs/how-to/dask_source.py"))["DaskSource"]
    rows, schema = table(3000), wide(SCHEMA).declare(n_public=3000)
    parts = [dask.delayed(rows.slice(*place).to_batches(max_chunksize=300)) for place in ((0, 900), (900, 0), (900, 2100))]
    data = dpviz.encode(in_memory(rows), schema)
    with ClusterRows(source(parts, rows.column_names), schema) as found:
        for seed in range(3):
            assert document("pf-tree", found, seed) == document("pf-tree", data, seed)
        np.testing.assert_array_equal(found.class_counts(), data.class_counts())
    with pytest.raises(TableError, match="rows of each person"):
        ClusterRows(source(parts, rows.column_names), schema, "id", 1)


#: Learner -> what is asked of it.
FITS = {"pf-tree": {}, "a test": {"test_share": 0.1}, "diffprivlib-tree": {}, "pf-forest": {"trees": 3}}
PERSONS = {"rows": (), "persons": ("who", 7)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fit", "persons"),
    [
        pytest.param(fit, persons, id=f"{fit} of {whose}", marks=() if fit == "a test" and persons else pytest.mark.verify)
        for fit in FITS
        for whose, persons in PERSONS.items()
    ],
)
def test_a_loss_in_any_part_of_any_pass_begins_the_fit_anew(fit: str, persons: tuple) -> None:
    """As if nothing had been: the seed's tree, or fresh draws of a source that is given; nothing more is kept than at an end."""
    rows, learner = table(persons=bool(persons)), fit if fit != "a test" else "pf-tree"
    steps = count()
    with opened(rows, lambda: next(steps), *persons) as found:
        wanted = document(learner, found, **FITS[fit])
    n_steps = next(steps)
    assert n_steps > 8
    if fit != "pf-forest":  # whose rows are dealt by their numbers, in memory by their values
        person, most = persons or (None, None)
        data = dpviz.encode(in_memory(rows), NARROW, person=person, rows_per_person=most)
        assert wanted == document(learner, data, **FITS[fit])
    for step in range(n_steps):
        with opened(rows, striking({step}), *persons) as found:
            assert document(learner, found, **FITS[fit]) == wanted, step
        assert Parts.kept == 0


@pytest.mark.slow
def test_what_is_counted_after_a_loss_uses_draws_of_its_own() -> None:
    """A source of noise goes on: what it gave before is in nothing that comes out."""
    given = list[int]()

    class Told(Simulation):
        def draw(self, mechanism, values):
            given.append(len(given))
            return super().draw(mechanism, values)

    rows = table()
    with opened(rows, striking({14})) as found:
        dpviz.fit("pf-tree", found, epsilon=1.0, source=Told(1), test_share=0.1)
    again, given[:] = len(given), []
    with opened(rows) as found:
        dpviz.fit("pf-tree", found, epsilon=1.0, source=Told(1), test_share=0.1)
    assert again > len(given)


@pytest.mark.slow
def test_the_register_knows_rows_by_the_same_digest_whatever_is_lost_meanwhile() -> None:
    steps = count()
    with opened(table(), lambda: next(steps)) as found:
        wanted = found.identity
    for step in range(next(steps)):
        with opened(table(), striking({step})) as found:
            assert found.identity == wanted


@pytest.mark.slow
def test_what_is_lost_again_and_again_is_an_error_that_quotes_nothing() -> None:
    for first in (0, 8, 12):
        strike = striking(range(first, 10_000))
        with pytest.raises(TableError, match="lost rows that it kept") as lost, opened(table(), strike) as found:
            document("pf-tree", found)
        assert CANARY not in f"{lost.value} {lost.value.__cause__} {lost.value.__context__}"
        assert Parts.kept == 0


def test_a_table_that_changed_when_rows_are_lost_is_an_error() -> None:
    steps, rows = count(), table()
    with opened(rows) as found:
        source = found._source

        def change() -> None:
            if next(steps) == 3:
                source.parts[0] = rows.slice(1, 200).to_batches()
                raise MemoryError

        assert found.n_rows
        found._kept.befalls = change
        with pytest.raises(TableError, match="has changed since"):
            document("pf-tree", found)


@pytest.mark.slow
def test_forests_are_counted_and_each_row_is_in_one_tree() -> None:
    """Where all trees count all rows, as in memory; else every row once, in a tree that its number was dealt."""
    rows = table()
    data = dpviz.encode(in_memory(rows), NARROW)
    with opened(rows) as found:
        shared = {"trees": 3, "disjoint": False}
        assert document("pf-forest", found, **shared) == document("pf-forest", data, **shared)
    trees = draw_trees(NARROW, 3, 2, Simulation(1))
    for persons in ((), ("who", 7)):
        with opened(table(persons=True), lambda: None, *persons) as found:
            tree_of = np.arange(found.n_rows) % 3
            counts = found.forest_counts(trees, tree_of)
        rows_of_trees = np.bincount(trees.tree[trees.leaves], weights=counts.sum(axis=1), minlength=3)
        np.testing.assert_array_equal(rows_of_trees, np.bincount(tree_of))
        if not persons:
            leaf = trees.leaf_of(values_of(data), trees.roots[tree_of])
            expected = np.zeros_like(counts)
            np.add.at(expected, (leaf, data.target), 1)
            np.testing.assert_array_equal(counts, expected)
    needs = r"needs the rows themselves, in memory, where at most [\d,]+ fit"
    with pytest.raises(UnsupportedError, match=needs), opened(table()) as found:
        document("s-gbdt-published", found)
