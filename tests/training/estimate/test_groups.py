"""The test by groups: one row changes one cell by one, its figures are exact on exact counts, and its intervals cover."""

from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.accounting.events import PureDP, Step
from dpviz.accounting.plan import HeldOutPart
from dpviz.errors import DocumentError, ParameterError, UnknownName
from dpviz.io.results import result_from_json
from dpviz.models.tree import Branch, Leaf, SubsetRule, ThresholdRule, Tree
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.source import Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.counted_rows import counter_of
from dpviz.training.estimate.groups import divided
from dpviz.training.estimate.report import TEST, ClassReport
from dpviz.training.estimate.testing import report_of_classes
from tests.support.tables import schema_of, table

SMALL = Schema((NumericFeature("x", 0, 1), CategoricalFeature("g", ("a", "b", "c"))), ClassTarget("y", ("n", "p")), n_public=3)
SPLIT = Branch(ThresholdRule(0, 0.5), Leaf(0), Branch(SubsetRule(1, (1,)), Leaf(1), Leaf(0)))
ROWS = tuple(product((0.2, 0.8), range(3), range(2)))
EXACT = HeldOutPart(TEST, 0.1, 1e6, "g")
DATA = table(schema_of("mixed"), 600)


def rows_of(rows) -> EncodedDataset:
    x, g, y = (np.array([row[place] for row in rows]) for place in range(3))
    return EncodedDataset(SMALL, (x.astype(float), g.astype(np.uint8)), y.astype(np.uint8))


def cells_of_any(rows) -> np.ndarray:
    """Of a model that counts its answers: noise of epsilon 1e6 is none."""
    return report_of_classes(Tree(SMALL, SPLIT), rows_of(rows), EXACT, Simulation(0))[0].counts


def cells_of_a_tree(rows) -> np.ndarray:
    """Of the learner that tests itself: the leaves of its tree, each divided."""
    return counter_of(rows_of(rows)).leaf_counts(divided(SPLIT, SMALL, "g"), None, 1)[0]


@pytest.mark.parametrize("cells", [cells_of_any, cells_of_a_tree])
@pytest.mark.slow
def test_one_row_changes_one_cell_by_one(cells):
    """Every table of up to two of the twelve rows, and every row that is added: L1 distance 1, in one cell."""
    tables = [rows for n_rows in range(3) for rows in combinations_with_replacement(ROWS, n_rows)]
    for rows in tables:
        before = cells(rows)
        for row in ROWS:
            changed = cells((*rows, row)) - before
            assert (changed.sum(), np.abs(changed).sum(), np.abs(changed).max()) == (1, 1, 1)


def test_the_leaves_of_a_divided_tree_are_the_groups_of_each_leaf_in_order():
    for place, row in product(range(3), ROWS):
        found = cells_of_a_tree([row]).reshape(3, 3, 2)
        leaf = 0 if row[0] < 0.5 else 1 if row[1] == 1 else 2
        assert found[place, row[1], row[2]] == (place == leaf)
    assert divided(SPLIT, SMALL, "") is SPLIT


@pytest.mark.slow
def test_rows_that_an_engine_counts_give_the_same_counts(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    frame = pd.DataFrame([(x, "abc"[g], "np"[y]) for x, g, y in ROWS] * 40, columns=["x", "g", "y"])
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
        connection.sql("CREATE TABLE rows AS SELECT * FROM frame")
    asked = {"epsilon": 1, "seed": 3, "groups": "g"}
    with dpviz.open_table(f"duckdb:///{tmp_path / 'rows.duckdb'}?table=rows", SMALL) as rows:
        elsewhere = dpviz.fit("pf-tree", rows, **asked).test_report
    assert elsewhere == dpviz.fit("pf-tree", frame, schema=SMALL, **asked).test_report


@pytest.mark.parametrize(
    ("learner", "asked"), [("pf-tree", {}), ("s-gbdt", {"test_share": 0.1}), ("majority", {"test_share": 0.3})]
)
def test_groups_cost_nothing_and_change_no_model(learner, asked):
    with_groups, without = (dpviz.fit(learner, DATA, epsilon=0.7, seed=3, groups=name, **asked) for name in ("colour", None))
    assert with_groups.ledger == without.ledger
    assert with_groups.ledger.event.events[-1] == Step(PureDP(0.7), "test", mechanism="geometric")
    np.testing.assert_array_equal(with_groups.predict(DATA), without.predict(DATA))
    assert [entry.name for entry in with_groups.test_report.by_group] == list(DATA.schema.features[1].categories)
    assert without.test_report.by_group == ()


def test_exact_counts_give_the_exact_figures():
    data = table(schema_of("mixed"), 2000)
    model = dpviz.fit("cart", data, epsilon=1, depth=2, seed=0).model
    report, _ = report_of_classes(model, data, HeldOutPart(TEST, 0.1, 1e6, "colour"), Simulation(0))
    wrong, group = model.predict(data) != data.target, data.columns[1]
    for code, entry in enumerate(report.by_group):
        assert entry.error.value == pytest.approx(wrong[group == code].mean())
        found = [1 - wrong[(group == code) & (data.target == label)].mean() for label in range(2)]
        assert [share.value for share in entry.found] == pytest.approx(found)
    assert report.accuracy.value == pytest.approx(1 - wrong.mean())
    assert [recall.value for recall in report.recalls] == pytest.approx([1 - wrong[data.target == k].mean() for k in range(2)])


@pytest.mark.parametrize(("epsilon", "n_rows"), [(0.1, 400), (0.5, 400), (1e6, 400)])
@pytest.mark.slow
def test_intervals_of_groups_cover_as_often_as_they_say(epsilon, n_rows):
    """Counts of a multinomial law with the noise of the test: 95% intervals, 3.5 standard errors of 600 draws."""
    rng, n_draws = np.random.default_rng(7), 600
    shares, right = np.array([0.6, 0.3, 0.1]), np.array([0.85, 0.7, 0.6])
    positive = np.array([0.3, 0.5, 0.5])
    law = np.array([[(1 - positive) * right, positive * (1 - right)], [(1 - positive) * (1 - right), positive * right]])
    law = (law * shares).transpose(0, 2, 1).reshape(6, 2)  # answer and group, class
    exact = rng.multinomial(n_rows, law.ravel(), n_draws).reshape(n_draws, 6, 2)
    noise = GeometricNoise(epsilon)
    held = np.zeros((3, 2))
    for draw, cells in enumerate(exact):
        noisy = noise.release(cells, source=Simulation(draw), part=TEST).value
        table = tuple(Leaf(place // 3, tuple(row)) for place, row in enumerate(noisy.tolist()))
        for group, entry in enumerate(ClassReport(SMALL, 0.1, epsilon, table, None, "g").by_group):
            truths = zip((entry.error, entry.found[1]), (1 - right[group], right[group]), strict=True)
            held[group] += [share.low <= truth <= share.high for share, truth in truths]
    assert (held / n_draws > 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / n_draws)).all()


def test_a_document_holds_them_and_older_ones_stay_readable():
    result = dpviz.fit("pf-tree", DATA, epsilon=1, seed=0, groups="colour")
    text = result.to_json()
    again = result_from_json(text)
    assert again.test_report == result.test_report
    assert again.test_report.by_group == result.test_report.by_group
    assert again.settings.groups == "colour"
    assert "by_group" not in dpviz.fit("pf-tree", DATA, epsilon=1, seed=0).to_json()
    for wrong in ('"groups": "height"', '"groups": "nothing"', '"groups": "town"'):
        with pytest.raises(DocumentError):
            result_from_json(
                text[: text.index('"test_report"')] + text[text.index('"test_report"') :].replace('"groups": "colour"', wrong)
            )


@pytest.mark.parametrize(
    ("groups", "more", "problem"),
    [
        (3, {}, ParameterError),
        ("", {}, ParameterError),
        ("colour", {"leaves": "labels"}, ParameterError),
        ("height", {}, UnknownName),
        ("nothing", {}, UnknownName),
    ],
)
def test_only_a_declared_category_is_a_group(groups, more, problem):
    with pytest.raises(problem):
        dpviz.fit("pf-tree", DATA, epsilon=1, seed=0, groups=groups, **more)
