"""The samples: what they promise about themselves, and that the committed files are what the script writes."""

from __future__ import annotations

import gzip
import runpy
from pathlib import Path

import numpy as np
import pytest

import dpviz
from dpviz import installation
from dpviz.errors import DpvizError, UnknownName
from dpviz.evaluation.tree.paths import references, scored
from dpviz.evaluation.tree.resampling import resample
from dpviz.installation import bundled
from dpviz.io.samples import load_sample, samples
from dpviz.learners import FitRequest
from dpviz.table.encode import encode
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget

NAMES = [sample.name for sample in samples()]
SIMULATED = [sample.name for sample in samples() if sample.role == "simulated"]


def plain(file: str, content: bytes) -> bytes:
    """Compressed bytes may differ between builds of zlib, what they hold may not."""
    return gzip.decompress(content) if file.endswith(".gz") else content


@pytest.mark.slow
def test_the_committed_file_is_what_the_script_writes_every_time() -> None:
    write = runpy.run_path(str(bundled("data") / "make_samples.py"))["files"]
    written = write()
    assert write() == written
    for file in [f"{name}.{form}" for name in SIMULATED for form in ("csv.gz", "schema.json")]:
        assert plain(file, (bundled("data") / file).read_bytes()) == plain(file, written[file])


@pytest.mark.slow
def test_a_sample_encodes_without_loss_but_for_missing_cells() -> None:
    for name in NAMES:
        (sample,) = (sample for sample in samples() if sample.name == name)
        report = encode(*load_sample(name), rows_per_person=sample.rows_per_person).report
        assert report is not None
        assert report.rows_kept >= (0.97 if sample.rows_per_person is None else 0.9) * report.rows_read
        assert not any((report.clipped, report.dropped_unknown, report.unknown_mapped, report.dropped_target))
        assert sample.rows_per_person or not report.ignored_columns


def test_simulated_samples_declare_everything_wider_than_the_data_and_public_ranges_are_marked_as_read() -> None:
    for name in SIMULATED:
        table, schema = load_sample(name)
        assert schema.read_fields() == ()
        assert schema.n_public is not None
        for feature in schema.features:
            if isinstance(feature, NumericFeature):
                values = table.column(feature.name).numbers()
                assert feature.low <= np.nanmin(values) <= np.nanmax(values) < feature.high, feature.name
    for name in ("breast-cancer", "wine"):
        _, schema = load_sample(name)
        assert {field for _, field in schema.read_fields()} >= {"low", "high"}
        assert schema.target.read_from_data == ()
    table, schema = load_sample("digits")
    assert schema.read_fields() == ()
    assert (table.n_rows, schema.n_features, len(schema.classes), schema.n_public) == (1797, 64, 10, 1800)


def test_loans_have_long_tails_a_large_category_and_most_loans_repaid() -> None:
    table, schema = load_sample("loans")
    assert table.n_rows == 20_000
    income = table.column("income").numbers()
    assert income.max() > 5 * np.median(income)
    occupation = schema.feature("occupation")
    assert isinstance(occupation, CategoricalFeature)
    assert len(occupation.categories) == 40
    assert 0.70 < np.bincount(encode(table, schema).target)[0] / table.n_rows < 0.78


def test_the_name_of_a_class_says_what_it_is_without_its_column() -> None:
    """Beside branches that are true or false, "yes" would be another answer to the question above it."""
    for sample in samples():
        _, schema = load_sample(sample.name)
        names = schema.classes if isinstance(schema.target, ClassTarget) else ()
        assert not {name.lower() for name in names} & {"yes", "no", "true", "false", "y", "n"}


def test_a_tree_of_depth_four_finds_the_planted_rule() -> None:
    for name, gain in [("health", 0.2), ("loans", 0.05), ("clinic", 0.05)]:
        from sklearn.tree import DecisionTreeClassifier

        train, test = encode(*load_sample(name)).split(0.3, seed=0)
        tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(np.column_stack(train.columns), train.target)
        majority = np.bincount(test.target).max() / test.n_rows
        assert tree.score(np.column_stack(test.columns), test.target) > majority + gain


def test_an_unknown_sample_is_named_with_the_nearest_and_a_missing_file_with_its_remedy(monkeypatch, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"no sample called 'loan'. Did you mean 'loans'\?"):
        load_sample("loan")
    monkeypatch.setattr(installation, "_IN_WHEEL", tmp_path)
    with pytest.raises(DpvizError, match=r"loans\.csv\.gz: A file of dpviz is missing\. Install dpviz again\."):
        load_sample("loans")


def test_one_simulated_sample_predicts_a_number_with_a_long_tail() -> None:
    table, schema = load_sample("rents")
    data = encode(table, schema)
    assert isinstance(schema.target, NumericTarget)
    assert not schema.read_fields()
    assert (data.n_rows, data.report.clipped) == (3000, ())
    low, middle, high = np.quantile(data.target, (0.05, 0.5, 0.99))
    assert high - middle > 3 * (middle - low)
    train, test = data.split(0.2, seed=0)
    r2 = {name: dpviz.fit(name, train, epsilon=1.0, seed=0).score(test) for name in ("dp-mean", "cart-regression", "gbdt")}
    assert -0.05 < r2["dp-mean"] < 0.01 < 0.5 < r2["cart-regression"] < r2["gbdt"] < 0.9


@pytest.mark.slow
def test_the_first_sample_has_a_row_a_person_and_shows_what_epsilon_costs_at_its_depth() -> None:
    """From what a constant reaches up to an ordinary tree, each a point better than the one before; means of 20 reruns."""
    first = samples()[0]
    data = encode(*load_sample(first.name))
    assert first.depth is not None
    assert data.rows_per_person is None
    train, test = data.split(0.2, seed=0)
    lines = references(train, test, max_depth=first.depth)
    reached = [lines["constant"]]
    for epsilon in (0.03, 0.1, 0.3, 1.0, 3.0):
        request = FitRequest.of("pf-tree", epsilon=epsilon, max_depth=first.depth, depth=first.depth)
        reached.append(
            float(np.mean([scored(model, train, test) for model in resample(request, train, draws=20, seed=0).models]))
        )
    assert np.diff([*reached, lines["ordinary tree"]]).min() > 0.01


def test_one_sample_has_several_rows_a_person() -> None:
    (sample,) = (sample for sample in samples() if sample.rows_per_person)
    table, schema = load_sample(sample.name)
    assert schema.person is not None
    assert table.n_rows > encode(table, schema, rows_per_person=sample.rows_per_person).n_rows
    with pytest.raises(DpvizError, match="rows_per_person"):
        encode(table, schema)
