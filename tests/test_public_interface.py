"""The public Python interface: these names and signatures are promised; taking one away breaks somebody's script."""

import importlib
import inspect

import numpy as np
import pytest

import dpviz

CSV = b"age,colour,income\n" + b"".join(
    f"{20 + i % 60},{('red', 'green', 'blue')[i % 3]},{'high' if i % 60 > 30 else 'low'}\n".encode() for i in range(600)
)

PROMISED = {
    "read_csv",
    "read_table",
    "propose_schema",
    "load_schema",
    "save_schema",
    "encode",
    "encode_large",
    "fit",
    "learner_names",
    "model_from_json",
    "exact_trace",
    "train_federated",
    "stream_of",
    "train_on_stream",
    "Stream",
    "CategoricalFeature",
    "NumericFeature",
    "ClassTarget",
    "NumericTarget",
    "Schema",
    "FitResult",
    "ExactTrace",
    "PrivacyLoss",
    "DpvizError",
    "__version__",
}


def test_every_promised_name_is_there():
    assert set(dpviz.__all__) >= PROMISED
    assert all(hasattr(dpviz, name) for name in dpviz.__all__)


@pytest.mark.parametrize("name", sorted(PROMISED - {"__version__"}))
def test_every_public_name_explains_itself(name):
    assert (inspect.getdoc(getattr(dpviz, name)) or "").strip()


def test_fit_takes_what_is_promised():
    parameters = inspect.signature(dpviz.fit).parameters
    assert list(parameters)[:7] == ["name", "data", "epsilon", "max_depth", "depth", "delta", "seed"]
    defaults = {name: parameters[name].default for name in ("max_depth", "depth", "delta", "seed")}
    assert defaults == {"max_depth": 4, "depth": "auto", "delta": 0.0, "seed": None}
    assert parameters["epsilon"].default is inspect.Parameter.empty
    assert all(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in ("epsilon", "max_depth", "depth", "seed"))


def test_a_result_holds_what_is_promised():
    assert set(dpviz.FitResult.__dataclass_fields__) >= {
        "learner",
        "model",
        "ledger",
        "claim",
        "plan",
        "params",
        "settings",
        "schema",
        "disclosures",
        "noise",
        "seed",
    }


def test_the_walk_from_a_file_to_a_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(CSV)
    read = dpviz.read_csv(path)
    schema = dpviz.propose_schema(read, target="income").declare("age", low=18, high=90)
    dpviz.save_schema(schema, tmp_path / "people.schema.json")
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


def test_an_error_says_what_where_and_what_to_do():
    with pytest.raises(dpviz.DpvizError) as problem:
        dpviz.propose_schema(dpviz.read_csv(CSV), target="wealth")
    assert problem.value.what == "There is no column called 'wealth'."
    assert problem.value.remedy


def test_without_a_seed_it_is_a_release():
    features = (dpviz.NumericFeature("age", 0, 120), dpviz.CategoricalFeature("colour", ("red", "green", "blue")))
    declared = dpviz.Schema(features, dpviz.ClassTarget("income", ("low", "high")))
    result = dpviz.fit("pf-tree", dpviz.encode(dpviz.read_csv(CSV), declared), epsilon=1.0, depth=1)
    assert result.released
    assert result.seed is None


def test_with_anything_read_from_the_rows_it_is_none():
    data = dpviz.encode(dpviz.read_csv(CSV), dpviz.propose_schema(dpviz.read_csv(CSV), target="income"))
    result = dpviz.fit("pf-tree", data, epsilon=1.0, depth=1)
    assert (result.released, result.seed) == (False, None)
    assert "was read from the data." in result.not_released_because


def test_dpviz_learners_is_the_package():
    assert dpviz.learners is importlib.import_module("dpviz.learners")
    assert dpviz.learner_names()[0] == dpviz.learners.DEFAULT == "pf-tree"
