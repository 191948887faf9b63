"""Every registered learner against every promise of the contract."""

import json
import math
from dataclasses import FrozenInstanceError, fields
from itertools import product

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import NonPrivate, walk
from dpviz.errors import DpvizError, NoProbabilities, NotReleasable, ParameterError, SchemaError, UnknownName, WrongTask
from dpviz.learners import get_learner, learners_for
from dpviz.privacy.source import ExactNoise, Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.fits import FEW, fit, fitted
from tests.support.tables import hostile_schema, reordered, schema_of, table

EVERY = dpviz.learner_names()
#: Those that predict classes; `test_learners_of_numbers.py` asks the others, and those that predict both again.
ALL = tuple(name for name in EVERY if "classes" in get_learner(name).tasks)
#: Exact by design: no noise, so no seed changes anything, and the loss is infinite.
EXACT = ("cart", "dpa", "gbdt")
#: Publish something exact beside their mechanisms, or use a sensitivity that is no bound: their ledger is infinite.
INFINITE = (
    *EXACT,
    "privatree",
    "privatree-star",
    "privatree-corrected",
    "bdpt",
    "dpgdf",
    "smooth-forest",
    "random-forest",
)
#: Stop where a noisy count is low: what is left of the path's epsilon stays unspent.
STOP_EARLY = ("fs-tree",)
#: Train where no feature can be split; the others refuse by name.
SPLIT_NOTHING = (*EXACT, "random-forest", "majority", "logistic")
NEED_NO_ROW_COUNT = (
    *EXACT,
    "random-forest",
    "majority",
    "diffprivlib-tree",
    "s-gbdt-published",
    "dpboost",
    "bdpt",
    "dpgdf",
    "pf-forest",
    "smooth-forest",
    "fs-tree",
    "rgv-forest",
)
NOISY = tuple(name for name in ALL if name not in EXACT)

every_learner = pytest.mark.parametrize("name", ALL)
noisy_learner = pytest.mark.parametrize("name", NOISY)
KINDS = ("numbers", "categories", "mixed")
SLOW = pytest.mark.slow
BUDGETS = (0.01, 0.1, 1 / 3, 1.0, 7.7)
DEPTHS = (1, 2, 3, 5)
#: Refuse a table without a category (their own tests say how).
NEED_CATEGORIES = ("dpgdf",)
on_any_table = pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name in ALL for kind in KINDS if (kind, name in NEED_CATEGORIES) != ("numbers", True)]
)


def test_the_promised_learners_are_there_and_the_default_comes_first():
    assert set(ALL) >= {"pf-tree", "privatree", "privatree-star", "privatree-corrected", "cart", "majority"}
    assert ALL[0] == "pf-tree"
    assert ALL.index("majority") > ALL.index("privatree")


@pytest.mark.slow
@on_any_table
def test_it_trains_and_predicts_declared_classes(name, kind):
    for n_classes in (2, 3, 7):
        predicted = fitted(name, kind, n_classes).model.predict(table(schema_of(kind, n_classes), 77, seed=6))
        assert predicted.dtype == np.uint8
        assert predicted.shape == (77,)
        assert predicted.max() < n_classes


@on_any_table
def test_it_trains_on_hardly_any_rows(name, kind):
    for n_rows in (0, 1, 2):
        assert fitted(name, kind, 3, n_rows).model.predict(table(schema_of(kind, 3), 9)).max() < 3


@pytest.mark.filterwarnings("ignore:No individual filter:dpviz.errors.ReplacedWarning")  # at a small epsilon
@pytest.mark.slow
@every_learner
@pytest.mark.parametrize("n_rows", [0, 60])
def test_it_trains_at_the_ends_of_what_may_be_asked(name, n_rows):
    schema = schema_of("mixed", 3)
    for epsilon, depth in product((1e-6, 1e6), (1, 8)):
        result = fit(name, table(schema, n_rows), epsilon=epsilon, max_depth=depth, depth=depth)
        assert result.plan.epsilon in (epsilon, math.inf)
        assert result.model.predict(table(schema, 5)).max() < 3


@every_learner
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_add_up_and_agree_with_the_prediction_or_there_are_none(name, n_classes):
    result, data = fitted(name, n_classes=n_classes), table(schema_of("mixed", n_classes), 50)
    try:
        shares = result.model.predict_proba(data)
    except NoProbabilities:
        return
    assert shares.shape == (50, n_classes)
    assert shares.min() >= 0
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    predicted = result.model.predict(data)
    if result.plan.held_out_part("leaf counts") is None:  # labels of honest leaves come from other rows than their probabilities
        np.testing.assert_allclose(shares[np.arange(50), predicted], shares.max(axis=1))
    assert result.model.predict_proba(table(schema_of("mixed", n_classes), 0)).shape == (0, n_classes)


@every_learner
def test_it_predicts_no_rows(name):
    assert fitted(name).model.predict(table(schema_of(), 0)).shape == (0,)


@every_learner
def test_constant_features_and_single_categories_do_no_harm(name):
    features = (NumericFeature("x", 0, 1), CategoricalFeature("only", ("one",)), NumericFeature("z", -3, 9))
    schema = Schema(features, ClassTarget("y", ("n", "p")), n_public=50)
    columns = (np.full(40, 0.25), np.zeros(40, dtype=np.uint8), np.full(40, 9.0))
    data = EncodedDataset(schema, columns, (np.arange(40) % 2).astype(np.uint8))
    if name in NEED_CATEGORIES:
        with pytest.raises(SchemaError, match="No feature can be split"):
            fit(name, data)
        return
    assert set(fit(name, data).model.predict(data)) <= {0, 1}


@every_learner
def test_a_table_without_any_split_is_trained_on_or_refused_by_name(name):
    schema = Schema((CategoricalFeature("only", ("one",)),), ClassTarget("y", ("n", "p")), n_public=50)
    data = EncodedDataset(schema, (np.zeros(10, dtype=np.uint8),), np.zeros(10, dtype=np.uint8))
    if name in SPLIT_NOTHING:
        assert set(fit(name, data).model.predict(data)) <= {0, 1}
    else:
        with pytest.raises(SchemaError, match="No feature can be split"):
            fit(name, data)


@every_learner
@pytest.mark.parametrize(("low", "high"), [(-8e307, 8e307), (0, 1e-280), (1e16, 1e16 + 4)])
def test_extreme_ranges_are_trained_on_or_refused_by_name(name, low, high):
    schema = Schema((NumericFeature("x", low, high),), ClassTarget("y", ("n", "p")), n_public=50)
    data = EncodedDataset(schema, (np.linspace(low, high, 40),), (np.arange(40) > 19).astype(np.uint8))
    try:
        result = fit(name, data)
    except DpvizError as problem:
        assert problem.remedy  # noqa: PT017
        assert name in (*EXACT, "random-forest", *NEED_CATEGORIES)
    else:
        assert set(result.model.predict(data)) <= {0, 1}


@on_any_table
def test_the_same_seed_gives_the_same_document(name, kind):
    assert fit(name, table(schema_of(kind, 3))).to_json() == fitted(name, kind, 3).to_json()


@on_any_table
@pytest.mark.parametrize("n_seeds", [2, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_fits_that_share_counts_give_the_documents_of_fits_that_count_anew(name, kind, n_seeds):
    data = table(schema_of(kind, 3))
    sharing = data.with_cached_counts()
    for seed in range(n_seeds if get_learner(name).spends_epsilon else 1):
        for epsilon in (0.1, 10.0):
            shared, anew = (fit(name, rows, seed=seed, epsilon=epsilon) for rows in (sharing, data))
            assert shared.to_json() == anew.to_json()


@pytest.mark.slow
@noisy_learner
def test_another_seed_gives_another_document(name):
    data = table(schema_of("mixed", 3), 30)
    labels = {tuple(fit(name, data, epsilon=0.1, seed=seed).model.predict(data)) for seed in range(10)}
    assert len(labels) > 1


@every_learner
def test_predictions_follow_their_rows(name, rng):
    data = table(schema_of("mixed", 3))
    model = fitted(name, "mixed", 3).model
    order = rng.permutation(data.n_rows)
    np.testing.assert_array_equal(model.predict(reordered(data, order)), model.predict(data)[order])


@every_learner
def test_the_order_of_training_rows_does_not_matter(name, rng):
    # Every learner reads counts (or sorted values) only; a learner that reads positions, such as a disjoint forest, must say so.
    # A simulation's coins belong to positions, as they must not look at rows: without them, then.
    data, asked = table(schema_of("mixed", 3)), {"leaves": "labels"} if name == "pf-tree" else {}
    expected = fitted(name, "mixed", 3, **asked).to_json()
    assert all(fit(name, reordered(data, rng.permutation(data.n_rows)), **asked).to_json() == expected for _ in range(3))


@every_learner
def test_labels_of_the_scored_rows_do_not_move_predictions(name):
    data = table(schema_of("mixed", 3))
    flipped = EncodedDataset(data.schema, data.columns, (2 - data.target).astype(np.uint8))
    model = fitted(name, "mixed", 3).model
    np.testing.assert_array_equal(model.predict(flipped), model.predict(data))


@every_learner
def test_nothing_in_a_result_can_be_changed(name):
    result = fitted(name)
    for thing in (
        result,
        result.model,
        result.plan,
        result.plan.shares[0],
        result.ledger,
        result.claim,
        result.settings,
        result.schema,
    ):
        with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
            setattr(thing, fields(thing)[0].name, None)
    assert isinstance(result.disclosures, tuple)


@pytest.mark.filterwarnings("ignore:No individual filter:dpviz.errors.ReplacedWarning")  # at a small epsilon
@pytest.mark.slow
@on_any_table
def test_the_plan_needs_no_rows(name, kind):
    schema, spec = schema_of(kind, 3), get_learner(name)
    for epsilon in (0.01, 1.0):
        few, many = (fit(name, table(schema, n), epsilon=epsilon) for n in (3, 300))
        assert few.plan == many.plan == spec.plan(schema, many.settings, spec.Params(**FEW.get(name, {})))
        assert few.claim == many.claim


def claim_covers_ledger(name, kind, n_classes, epsilon, depth):
    result = fit(name, table(schema_of(kind, n_classes), 40), epsilon=epsilon, max_depth=depth, depth=depth)
    if result.claim.verdict == "holds":
        assert result.ledger.guarantee.epsilon <= result.claim.epsilon
        assert not result.disclosures


@every_learner
@pytest.mark.filterwarnings("ignore::dpviz.errors.ReplacedWarning")
def test_a_claim_that_holds_covers_the_ledger_at_every_budget_and_depth(name):
    for epsilon, depth in product(BUDGETS, DEPTHS):
        claim_covers_ledger(name, "mixed", 3, epsilon, depth)


@on_any_table
def test_a_claim_that_holds_covers_the_ledger_of_any_table(name, kind):
    for n_classes in (2, 3, 7):
        claim_covers_ledger(name, kind, n_classes, 1 / 3, 3)


@pytest.mark.slow
@on_any_table
@pytest.mark.filterwarnings("ignore::dpviz.errors.ReplacedWarning")
def test_a_claim_that_holds_covers_the_ledger_of_any_table_at_every_budget_and_depth(name, kind):
    for n_classes, epsilon, depth in product((2, 3, 7), BUDGETS, DEPTHS):
        claim_covers_ledger(name, kind, n_classes, epsilon, depth)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.3, 1 / 3, 1.0, 7.7])
@pytest.mark.parametrize("shares", [(0.3, 0.1, 0.7), pytest.param(None, marks=SLOW), pytest.param((1, 2, 3), marks=SLOW)])
def test_privatree_on_one_feature_grown_complete_meets_its_claim(epsilon, shares):
    for feature in (NumericFeature("x", 0, 1), CategoricalFeature("c", ("a", "b", "c"))):
        data = table(Schema((feature,), ClassTarget("y", ("n", "p")), n_public=1000), 40)
        for depth in range(1, 8):
            result = fit("privatree", data, epsilon=epsilon, depth=depth, max_depth=depth, shares=shares, grow_complete=True)
            assert result.claim.verdict == "holds"
            assert result.ledger.guarantee.epsilon <= epsilon


@every_learner
def test_the_loss_is_infinite_exactly_where_something_exact_is_published(name):
    result = fitted(name)
    assert result.ledger.guarantee.is_finite == (name not in INFINITE)
    exact_steps = [step for _, step in walk(result.ledger.event) if isinstance(step, NonPrivate)]
    assert bool(exact_steps) == (name in INFINITE)


@on_any_table
def test_a_finite_ledger_costs_what_the_plan_composes_to(name, kind):
    asked = {"grow_complete": True} if name == "privatree" else {}
    for result in (fitted(name, kind, n_classes, depth=3, **asked) for n_classes in (2, 7)):
        composed = sum(share.composed for share in result.plan.shares)
        if name in INFINITE and name != "privatree":
            assert not result.ledger.guarantee.is_finite
        elif name in STOP_EARLY:
            assert result.ledger.guarantee.epsilon <= composed * (1 + 1e-12)
        else:
            assert result.ledger.guarantee.epsilon == pytest.approx(composed, rel=1e-12)
            assert sum(result.ledger.spent().values()) == pytest.approx(composed, rel=1e-12)


@every_learner
def test_a_smaller_epsilon_never_costs_more(name):
    asked = {"grow_complete": True} if name == "privatree" else {}
    losses = [
        fit(name, table(schema_of()), epsilon=epsilon, depth=3, **asked).ledger.guarantee.epsilon for epsilon in (0.1, 1.0, 3.0)
    ]
    assert losses == sorted(losses)


@on_any_table
def test_a_document_predicts_as_the_model_does(name, kind):
    result = fitted(name, kind, 7)
    fresh = table(schema_of(kind, 7), 500, seed=99)
    read = dpviz.model_from_json(result.to_json())
    assert read == result.model
    np.testing.assert_array_equal(read.predict(fresh), result.model.predict(fresh))


@every_learner
def test_hostile_names_survive_the_document(name):
    data = table(hostile_schema())
    result = fit(name, data, depth=3)
    read = dpviz.model_from_json(result.to_json())
    assert read.schema == data.schema
    np.testing.assert_array_equal(read.predict(data), result.model.predict(data))


#: Every number in a document is one of these: public, spent, or a released threshold.
def numbers_in(value, path=""):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from numbers_in(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from numbers_in(item, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


@every_learner
def test_a_document_holds_no_row_counts(name):
    # 1013 rows of which 409 are of class 1: numbers nothing public leads to.
    schema = schema_of("mixed")
    data = table(schema, 1013)
    target = np.zeros(1013, dtype=np.uint8)
    target[:409] = 1
    data = EncodedDataset(schema, data.columns, target)
    document = json.loads(fit(name, data, seed=7).to_json())
    secret = {1013, 409, 604}
    assert [path for path, number in numbers_in(document) if number in secret] == []
    assert not any(str(count) in json.dumps(document["privacy"]["ledger"]) for count in secret)


@every_learner
def test_a_simulation_says_so_and_names_its_seed(name):
    noise = json.loads(fit(name, table(schema_of()), seed=31337).to_json())["privacy"]["noise"]
    assert noise == {"source": "simulation", "seed": 31337, "warning": "A simulation, not a release."}


@every_learner
def test_a_release_needs_exact_samplers_and_keeps_no_seed(name):
    data = table(schema_of("mixed"), 40)
    if get_learner(name).exact:
        result = fit(name, data, depth=2, max_depth=2, seed=None, accept_rows=True)
        noise = json.loads(result.to_json())["privacy"]["noise"]
        covered = result.ledger.guarantee.is_finite and not result.disclosures
        assert (result.noise, result.seed, result.released) == ("release", None, covered)
        assert noise == {"source": "release"} if covered else noise["warning"].startswith("Not a release: ")
        return
    with pytest.raises(NotReleasable, match="has no exact sampler"):
        fit(name, data, depth=2, seed=None, accept_rows=True)


@every_learner
def test_the_seed_of_a_result_is_the_seed_of_its_source(name):
    data = table(schema_of("categories"), 40)
    simulated = fit(name, data, seed=None, source=Simulation(7))
    assert simulated.to_json() == fit(name, data, seed=7).to_json()
    assert not simulated.released
    if get_learner(name).exact:
        assert fit(name, data, depth=1, seed=7, source=ExactNoise(), accept_rows=True).seed is None


@pytest.mark.filterwarnings("ignore:No individual filter:dpviz.errors.ReplacedWarning")  # at a small epsilon
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NOISY if get_learner(name).exact])
def test_releases_differ(name):
    # 40 rows at epsilon .01: a release that drew from a fixed seed would give the same labels every time
    data = table(schema_of("categories", 7), 40)
    trees = {tuple(fit(name, data, epsilon=0.01, depth=1, seed=None, accept_rows=True).model.predict(data)) for _ in range(12)}
    assert len(trees) > 1


@every_learner
def test_what_was_read_from_the_data_is_disclosed(name):
    schema = schema_of("mixed")
    read = Schema(
        (
            NumericFeature("height", -2.5, 7.5, read_from_data=("low", "high")),
            CategoricalFeature("colour", ("red", "green"), read_from_data=("categories",)),
        ),
        ClassTarget("y", schema.classes, read_from_data=("classes",)),
        n_public=200,
        read_from_data=("n_public",),
    )
    disclosed = {(item.code, item.field) for item in fit(name, table(read)).disclosures}
    assert disclosed >= {
        ("schema-low", "height"),
        ("schema-high", "height"),
        ("schema-categories", "colour"),
        ("schema-classes", "y"),
        ("schema-n_public", "n_public"),
    }


@every_learner
def test_a_declared_schema_discloses_nothing_but_the_learner_s_own(name):
    codes = {item.code for item in fitted(name).disclosures}
    own = {
        "privatree": {"stopping-rule"},
        "privatree-star": {"stopping-rule", "exact-quantiles"},
        "bdpt": {"stopping-rule", "merged-values"},
        "dpgdf": {"stopping-rule"},
    }
    assert codes == own.get(name, set())


@every_learner
def test_a_numeric_target_is_refused_by_name(name):
    schema = Schema((NumericFeature("x", 0, 1),), NumericTarget("price", 0, 10), n_public=10)
    data = EncodedDataset(schema, (np.linspace(0, 1, 10),), np.linspace(0, 10, 10))
    if "number" in get_learner(name).tasks:
        assert fit(name, data).model.predict(data).shape == (10,)
        return
    with pytest.raises(WrongTask) as problem:
        fit(name, data)
    assert str(problem.value).startswith(
        f"The learner {name!r} predicts classes, but the target 'price' is declared as a number. "
        "Choose a learner for this kind of target ("
    )
    assert str(problem.value).endswith("), or declare the target differently.")
    assert problem.value.fitting == learners_for(schema)


@every_learner
def test_an_unknown_parameter_is_named(name):
    with pytest.raises(UnknownName, match=f"There is no parameter of '{name}' called 'colour'"):
        fit(name, table(schema_of()), colour=3)


def test_an_unknown_learner_is_named_with_the_nearest():
    with pytest.raises(UnknownName, match=r"There is no learner called 'pf_tree'\. Did you mean 'pf-tree'\?"):
        fit("pf_tree", table(schema_of()))


BAD_SETTINGS = [
    ({"epsilon": 0}, "The 'epsilon' parameter of fit must be a number in [1e-06, 1e+06]. Got 0."),
    ({"epsilon": -1.0}, "Got -1.0."),
    ({"epsilon": math.nan}, "Got nan."),
    ({"epsilon": math.inf}, "Got inf."),
    ({"epsilon": "much"}, "Got 'much'."),
    ({"max_depth": 0}, "The 'max_depth' parameter of fit must be a whole number in [1, 12]. Got 0."),
    ({"max_depth": 2.5}, "Got 2.5."),
    ({"max_depth": True}, "Got True."),
    ({"depth": "deep"}, "The 'depth' parameter of fit must be 'auto' or a whole number in [1, 12]. Got 'deep'."),
    ({"depth": 13}, "Got 13."),
    ({"delta": 0.6}, "The 'delta' parameter of fit must be None or a number in [0, 0.5]. Got 0.6."),
]


@every_learner
def test_bad_settings_are_named(name):
    for asked, text in BAD_SETTINGS:
        with pytest.raises(ParameterError) as problem:
            fit(name, table(schema_of(), 10), **asked)
        assert str(problem.value).endswith(text)


@every_learner
def test_whole_numbers_of_any_type_mean_the_same(name):
    data = table(schema_of())
    expected = fit(name, data, max_depth=2, epsilon=1.0).to_json()
    assert fit(name, data, max_depth=2.0, epsilon=1).to_json() == expected
    assert fit(name, data, max_depth=np.int64(2), epsilon=np.float64(1.0)).to_json() == expected
    assert fit(name, data, max_depth=2, depth=np.int32(2)).settings.depth == 2


@every_learner
def test_a_seed_is_a_whole_number(name):
    for seed in (-1, 1.5, "x", True):
        with pytest.raises(ParameterError, match="The 'seed' parameter of fit must be a whole number of at least 0, or None"):
            fit(name, table(schema_of()), seed=seed)
    assert fit(name, table(schema_of()), seed=np.int64(7)).seed == 7


@every_learner
def test_a_missing_row_count_is_trained_without_or_named_with_both_remedies(name):
    data = table(schema_of(n_public=None))
    remedies = {
        "pf-tree": "give the depth as a number (depth=3)",
        "jpw-forest": "give the depth as a number (depth=3)",
        "logistic": "choose a learner that needs none, such as diffprivlib-tree",
        "s-gbdt": "start from 0 (initial_share=0)",
    }
    if name in NEED_NO_ROW_COUNT:
        assert fit(name, data).plan
        return
    with pytest.raises(SchemaError) as problem:
        fit(name, data)
    assert problem.value.field == "n_public"
    assert f"The learner {name!r} needs a public row count, and none is declared." in str(problem.value)
    assert "schema.declare(n_public=...)" in str(problem.value)
    assert remedies.get(name, "set the quantile, node and leaf shares by hand") in str(problem.value)


def test_each_second_remedy_works():
    data = table(schema_of(n_public=None))
    assert fit("pf-tree", data, depth=3).plan.depth == 3
    assert [share.part for share in fit("s-gbdt", data, initial_share=0).plan.shares] == ["tree"]
    assert fit("privatree", data, shares=(1, 1, 1)).plan.shares[0].set_by == "you"
    assert fit("privatree-star", data, shares=(1, 1, 1)).plan.shares[0].set_by == "you"
    assert fit("privatree-corrected", data, shares=(1, 1)).plan.shares[0].set_by == "you"


@every_learner
def test_the_score_is_the_share_of_rows_classified_right(name):
    data = table(schema_of("mixed", 3))
    result = fitted(name, "mixed", 3)
    right = sum(int(a) == int(b) for a, b in zip(result.model.predict(data), data.target, strict=True))
    assert result.score(data) == pytest.approx(right / data.n_rows)


@every_learner
def test_no_rows_have_no_score(name):
    with pytest.raises(DpvizError, match="There are no rows to score"):
        fitted(name).score(table(schema_of(), 0))


@every_learner
def test_rows_of_another_schema_are_refused(name):
    result = fitted(name)
    with pytest.raises(SchemaError, match="lack the model's columns"):
        result.model.predict(table(schema_of("numbers")))
    with pytest.raises(SchemaError, match="declaration differs"):
        result.score(table(schema_of("mixed", 3)))


@every_learner
def test_a_learner_explains_itself(name):
    spec = get_learner(name)
    for text in (spec.title, spec.idea, spec.citation):
        assert text.strip()
    claim = fitted(name).claim
    assert claim.because.endswith(".")
    assert claim.source


def test_a_learner_is_one_file_in_the_folder(tmp_path, monkeypatch):
    folder = dpviz.learners
    (tmp_path / "coin.py").write_text(
        "from dpviz.learners.published.majority import LEARNER as majority\n"
        "from dataclasses import replace\n"
        "LEARNER = replace(majority, name='coin', title='Coin')\n"
    )
    (tmp_path / "no_learner.py").write_text("VALUE = 1\n")
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    folder.registry.cache_clear()
    try:
        assert set(dpviz.learner_names()) == {*EVERY, "coin"}
        assert fit("coin", table(schema_of())).learner == "coin"
    finally:
        monkeypatch.undo()
        folder.registry.cache_clear()
    assert dpviz.learner_names() == EVERY
