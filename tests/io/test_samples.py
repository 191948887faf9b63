"""The samples: what they promise about themselves, and that the committed files are what the script writes."""

from __future__ import annotations

import gzip
import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import dpviz
from dpviz import installation
from dpviz.errors import DpvizError, UnknownName
from dpviz.installation import bundled
from dpviz.io.samples import load_sample, samples
from dpviz.table.encode import encode
from dpviz.table.schema import ClassTarget, NumericFeature

SIMULATED = [sample.name for sample in samples() if sample.role == "simulated"]


@pytest.mark.slow
def test_the_committed_file_is_what_the_script_writes_every_time() -> None:
    write = runpy.run_path(str(bundled("data") / "make_samples.py"))["files"]
    written = write()
    assert write() == written
    for file in [f"{name}.{form}" for name in SIMULATED for form in ("csv.gz", "schema.json")]:
        plain = gzip.decompress if file.endswith(".gz") else bytes  # what builds of zlib pack may differ
        assert plain((bundled("data") / file).read_bytes()) == plain(written[file])


@pytest.mark.slow
@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.name)
def test_a_sample_encodes_without_loss_but_for_missing_cells_and_says_what_was_read(sample) -> None:
    table, schema = load_sample(sample.name)
    report = encode(table, schema, rows_per_person=sample.rows_per_person).report
    assert report is not None
    assert report.rows_kept >= (0.97 if sample.rows_per_person is None else 0.9) * report.rows_read
    assert not any((report.clipped, report.dropped_unknown, report.unknown_mapped, report.dropped_target))
    assert sample.rows_per_person or not report.ignored_columns
    assert schema.n_public is not None
    assert {field for _, field in schema.read_fields()} >= (
        {"low", "high"} if sample.name in ("breast-cancer", "wine") else set()
    )
    if sample.name in SIMULATED:  # everything is declared, and wider than the data
        assert schema.read_fields() == ()
        for feature in schema.features:
            if isinstance(feature, NumericFeature):
                values = table.column(feature.name).numbers()
                assert feature.low <= np.nanmin(values) <= np.nanmax(values) < feature.high, feature.name
    if isinstance(schema.target, ClassTarget):  # beside branches that are true or false, "yes" would answer another question
        assert not {name.lower() for name in schema.classes} & {"yes", "no", "true", "false", "y", "n"}
    if schema.person is not None:
        assert table.n_rows > report.rows_kept
        assert schema.rows_per_person == sample.rows_per_person


@pytest.mark.slow
def test_a_tree_of_depth_four_finds_the_planted_rule() -> None:
    for name, gain in [("health", 0.2), ("loans", 0.05), ("clinic", 0.05)]:
        train, test = encode(*load_sample(name)).split(0.3, seed=0)
        tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(np.column_stack(train.columns), train.target)
        majority = np.bincount(test.target).max() / test.n_rows
        assert tree.score(np.column_stack(test.columns), test.target) > majority + gain
    train, test = encode(*load_sample("rents")).split(0.2, seed=0)
    r2 = {name: dpviz.fit(name, train, epsilon=1.0, seed=0).score(test) for name in ("dp-mean", "cart-regression", "gbdt")}
    assert -0.05 < r2["dp-mean"] < 0.01 < 0.5 < r2["cart-regression"] < r2["gbdt"] < 0.9


def test_an_unknown_sample_is_named_with_the_nearest_and_a_missing_file_with_its_remedy(monkeypatch, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"no sample called 'loan'. Did you mean 'loans'\?"):
        load_sample("loan")
    monkeypatch.setattr(installation, "_IN_WHEEL", tmp_path)
    with pytest.raises(DpvizError, match=r"loans\.csv\.gz: A file of dpviz is missing\. Install dpviz again\."):
        load_sample("loans")
