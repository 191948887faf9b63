"""The public Python interface: these names and signatures are promised; taking one away breaks somebody's script."""

import base64
import importlib
import inspect
import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

import dpviz
from dpviz.accounting.plan import BudgetPlan, HeldOutPart
from dpviz.models.tree import Branch, MedianSplit, NumberLeaf, ThresholdRule
from dpviz.table.columns import Column

CSV = b"age,colour,income\n" + b"".join(
    f"{20 + i % 60},{('red', 'green', 'blue')[i % 3]},{'high' if i % 60 > 30 else 'low'}\n".encode() for i in range(600)
)

PROMISED = {
    "read_table", "read_csv", "save_schema", "propose_schema", "load_sample", "load_schema", "encode", "encode_large",
    "fit", "learner_names", "model_from_json", "exact_trace", "train_federated", "stream_of", "train_on_stream", "Stream",
    "CategoricalFeature", "NumericFeature", "ClassTarget", "NumericTarget", "Schema", "FitResult", "ExactTrace",
    "PrivacyLoss", "DpvizError", "EncodedDataset", "FitRequest", "Parameter", "RawTable", "Register", "TestReport",
    "export_names", "open_register", "parameters", "Recommended", "which_learner", "__version__",
}  # fmt: skip


def test_every_promised_name_signature_and_field_is_there():
    assert set(dpviz.__all__) >= PROMISED
    assert all(hasattr(dpviz, name) for name in dpviz.__all__)
    assert [name for name in PROMISED - {"__version__"} if not (inspect.getdoc(getattr(dpviz, name)) or "").strip()] == []
    parameters = inspect.signature(dpviz.fit).parameters
    assert list(parameters)[:7] == ["name", "data", "epsilon", "max_depth", "depth", "delta", "seed"]
    defaults = {name: parameters[name].default for name in ("max_depth", "depth", "delta", "seed")}
    assert defaults == {"max_depth": None, "depth": "auto", "delta": None, "seed": None}
    assert parameters["epsilon"].default is inspect.Parameter.empty
    assert all(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in ("epsilon", "max_depth", "depth", "seed"))
    promised = {"learner", "model", "ledger", "claim", "plan", "params", "settings", "schema"}
    promised |= {"disclosures", "noise", "seed"}
    assert set(dpviz.FitResult.__dataclass_fields__) >= promised
    assert dpviz.learners is importlib.import_module("dpviz.learners")
    assert dpviz.learner_names()[0] == dpviz.learners.DEFAULT == "pf-tree"


@pytest.mark.slow
def test_a_file_is_read_by_whatever_is_called_first():
    """No reader is imported before rows come as a file."""
    code = "import dpviz; print(dpviz.propose_schema(b'age,label\\n1,no\\n2,yes\\n').target.classes)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("('no', 'yes')\n", "")


def test_the_walk_from_a_file_to_a_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(CSV)
    read = dpviz.read_table(path)
    schema = dpviz.propose_schema(read, target="income").declare("age", low=18, high=90)
    schema.save(tmp_path / "people.schema.json")
    assert dpviz.load_schema(tmp_path / "people.schema.json") == schema
    data = dpviz.encode(read, schema)
    assert (data.n_rows, data.n_features, data.report.rows_kept) == (600, 2, 600)
    train, test = data.split(test_share=0.2, seed=0)
    assert (train.n_rows, test.n_rows) == (480, 120)
    result = dpviz.fit("pf-tree", train, epsilon=1.0, max_depth=4, seed=0)
    assert result.model.predict(test).shape == (120,)
    assert result.score(test) > 0.8
    assert result.ledger.guarantee == dpviz.PrivacyLoss(epsilon=1.0, delta=0.0)
    disclosed = {item.field for item in result.disclosures}
    assert disclosed == {"colour", "income", "n_public"}  # the range of age was declared
    again = dpviz.model_from_json(result.to_json())
    np.testing.assert_array_equal(again.predict(test), result.model.predict(test))
    assert dpviz.exact_trace(result.model, train).rows("") == 480


def _result(learner: str = "pf-tree") -> dpviz.FitResult:
    data = dpviz.encode(CSV, dpviz.propose_schema(CSV))
    return dpviz.fit(learner, data, epsilon=2, seed=1)


@pytest.mark.slow
def test_a_notebook_shows_the_tree_and_its_guarantee_and_nothing_that_runs():
    shown = _result()._repr_html_()
    picture = base64.b64decode(re.search(r"data:image/svg\+xml;base64,([^\"]+)", shown)[1]).decode()
    root = ElementTree.fromstring(picture)
    assert root.tag.endswith("svg")
    assert "prefers-color-scheme:dark" in picture
    assert "Not guaranteed" in shown
    assert "<script" not in shown + picture
    assert "many trees" in _result("s-gbdt")._repr_html_()
    named = dpviz.fit("pf-tree", rows_of(CSV.replace(b"income", b"<b>y</b>")), epsilon=2, seed=1)
    assert "<b>y" not in named._repr_html_()


def rows_of(raw: bytes) -> dpviz.EncodedDataset:
    return dpviz.encode(raw, dpviz.propose_schema(raw))


def test_every_form_is_exported_by_name():
    result = _result()
    assert {"json", "svg", "report", "python", "sqlite", "rules"} <= set(dpviz.export_names())
    assert result.export("svg").startswith("<svg")
    assert dpviz.model_from_json(result.export("json")) == result.model


def test_a_result_is_saved_and_read_back_and_never_overwrites(tmp_path):
    result = _result()
    result.save(tmp_path / "tree.json")
    assert dpviz.load_result(tmp_path / "tree.json").model == result.model
    with pytest.raises(dpviz.DpvizError, match="cannot be saved"):
        result.save(tmp_path / "tree.json")


def test_parameters_are_what_fit_takes():
    for learner in dpviz.learner_names():
        for found in dpviz.parameters(learner):
            assert found.allowed
            assert found.about
            assert dpviz.FitRequest.of(learner, **{found.name: found.default}).given == {}


def test_a_release_goes_through_a_register_from_python(tmp_path):
    schema = dpviz.Schema(
        (dpviz.NumericFeature("age", 0, 100), dpviz.CategoricalFeature("colour", ("red", "green", "blue"))),
        dpviz.ClassTarget("income", ("low", "high")),
        n_public=600,
    )
    with dpviz.open_register(tmp_path / "register.sqlite") as register:
        register.declare("clinic", epsilon_cap=1.0, unit="one patient")
        with (
            pytest.warns(DeprecationWarning, match="assign is called add_rows now"),
            pytest.raises(dpviz.DpvizError, match="protects nobody"),
        ):
            register.release("clinic", "pf-tree", CSV, schema=schema, epsilon=0.5, seed=1, assign=True)
        entry = register.release("clinic", "pf-tree", CSV, schema=schema, epsilon=0.5, add_rows=True, file=tmp_path / "tree.json")
        assert register.balance("clinic").left.epsilon == pytest.approx(0.5)
    assert dpviz.load_result(entry.file).released


def test_old_names_work_for_one_version_and_say_the_new_one():
    plan = BudgetPlan(1.0, 1, (), held_out=(HeldOutPart("test", 0.1, 1.0),))
    branch = Branch(ThresholdRule(0, 1.0), NumberLeaf(1.0), NumberLeaf(2.0), MedianSplit(1.5, low_left=True))
    with pytest.warns(DeprecationWarning, match="BudgetPlan.aside is called held_out now"):
        assert plan.aside == plan.held_out
    with pytest.warns(DeprecationWarning, match="called held_out_part now"):
        assert plan.set_aside("test") == plan.held_out_part("test")
    with pytest.warns(DeprecationWarning, match="Branch.halves is called median_split now"):
        assert branch.halves == branch.median_split
    column = Column.from_texts("job", ["nurse", "night", "nurse"])
    with pytest.warns(DeprecationWarning, match="Column.texts is called distinct_texts now"):
        assert column.texts == column.distinct_texts == ("nurse", "night")
