"""Stored verdicts: three facts per plan, that survive their file and say the same as the code and the page of learners."""

import json
import math
import re
from dataclasses import replace

import pytest

import dpviz
from dpviz.errors import Cancelled, DocumentError, DpvizError
from dpviz.evaluation.audit import verdicts as module
from dpviz.evaluation.audit.attack import audit, perfect_bound
from dpviz.evaluation.audit.evidence import exceeds, typical
from dpviz.evaluation.audit.exact import Universe
from dpviz.evaluation.audit.verdicts import EPSILONS, StoredRun, run_from_json, run_to_json, stored_run, verify_all
from dpviz.evaluation.audit.verify import COUNTEREXAMPLES, UNIVERSES, verify
from dpviz.learners import registry
from dpviz.results.verdict import right_guesses
from dpviz.version import VERSION
from tests.support.audits import BOUND, BUG, HOLDS, IMPOSSIBLE, NONE, UNPROVEN, VIOLATED, facts, run_of
from tests.support.paths import ROOT

TINY = (Universe((2,), max_rows=2), Universe((2, 2), max_rows=2))
STORED = stored_run()


@pytest.fixture(scope="module")
def run():
    attacked = audit("majority", seed=1, draws=40)
    entries = (facts(HOLDS, BOUND), facts(IMPOSSIBLE, attacked), facts(NONE), facts(VIOLATED))
    refused = replace(facts(UNPROVEN), searched=None, places=(), not_searched="Too large.")
    return StoredRun((*entries, refused))


def test_a_run_survives_its_file_newer_entries_replace_older_and_a_broken_ledger_is_noticed(run):
    assert not run.has_broken_ledger
    assert run_of(HOLDS, BUG).has_broken_ledger
    assert StoredRun((facts(HOLDS, replace(BOUND, verdict="ledger violated")),)).has_broken_ledger
    newer = StoredRun((replace(facts(UNPROVEN), date="2031-05-06"),))
    merged = run.update(newer)
    assert [entry.learner for entry in merged.facts] == ["pf-tree", "cart", "privatree"]
    assert merged.dates == ("2030-01-02", "2031-05-06")
    once = run_from_json(run_to_json(run))
    assert run_from_json(run_to_json(once)) == once
    assert [entry.plan for entry in once.facts] == [entry.plan for entry in run.facts]
    assert once.facts[0].claim == run.facts[0].claim
    assert once.facts[0].attacked == run.facts[0].attacked
    assert once.facts[1].searched.log_ratio == math.inf
    assert run_from_json(run_to_json(StoredRun(()))) == StoredRun(())
    document = json.loads(run_to_json(run))
    assert (document["neighbours"], document["processor_seconds"]) == ("add/remove one row", 300)
    assert (document["facts"][0]["version"], document["facts"][0]["date"]) == ("9.8.7", "2030-01-02")
    assert document["facts"][1]["searched"]["log_ratio"] == "infinity"


def test_a_damaged_file_is_refused_by_the_place_a_missing_one_says_how_to_make_it_and_a_stop_cancels(run, tmp_path):
    for part, name, value, where in (
        ("claim", "verdict", "fine", "facts[1].claim.verdict"),
        ("searched", "log_ratio", "much", "facts[1].searched.log_ratio"),
        ("attacked", "hits", [1, 2, 3], "facts[1].attacked.hits"),
    ):
        document = json.loads(run_to_json(run))
        document["facts"][1][part][name] = value
        with pytest.raises(DocumentError) as problem:
            run_from_json(json.dumps(document))
        assert problem.value.where == where
    with pytest.raises(DocumentError):
        run_from_json(run_to_json(run).replace("dpviz-verdicts/3", "dpviz-verdicts/2"))
    with pytest.raises(DpvizError, match=r"dpviz verify --all --out gone\.json"):
        stored_run(tmp_path / "gone.json")
    with pytest.raises(Cancelled):
        verify_all(date="2026-01-31", learners=["majority"], stop=lambda: True)


# --- the stored run is the one source


def test_every_learner_is_stored_at_every_epsilon_with_its_three_facts_and_their_cost():
    for spec in registry().values():
        for epsilon in EPSILONS if spec.spends_epsilon else (1.0,):
            entry = STORED.of(spec.name, epsilon)
            assert entry is not None, f"run: dpviz verify --all {spec.name} --out data/benchmarks/verdicts.json --force"
            assert entry.attacked is not None
            assert entry.searched is not None or entry.not_searched
            assert entry.processor_seconds > 0
            assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry.date)
    assert len(run_to_json(STORED)) < 400_000


@pytest.mark.parametrize(
    "epsilon", [pytest.param(at, marks=[pytest.mark.verify, pytest.mark.slow][at == 1.0]) for at in EPSILONS]
)
def test_what_is_stored_as_proved_is_what_every_learner_says_of_its_plan(epsilon):
    for entry in (entry for entry in STORED.facts if entry.epsilon == epsilon):
        again = f"run: dpviz verify --all {entry.learner} --out data/benchmarks/verdicts.json --force"
        planned = typical(entry.learner, epsilon=entry.epsilon, **entry.params)
        assert entry.claim == _as_stored(planned.claim), again
        composed = planned.composed
        assert entry.composed.epsilon == pytest.approx(composed.epsilon, rel=1e-9), again
        assert entry.guesses == pytest.approx(right_guesses(composed, risk=planned.request.risk(planned.schema)), abs=0.01), again


#: Places that are searched again: the quickest of every kind of learner and rows.
AGAIN = [
    ("majority", {}, (0, 1)),
    ("privatree-corrected", {}, (0, 9)),
    pytest.param("pf-tree", {}, (0, 8), marks=pytest.mark.verify),
    pytest.param("diffprivlib-tree", {}, (0,), marks=pytest.mark.verify),
    pytest.param("privatree", {"grow_complete": True}, (0, 9), marks=pytest.mark.verify),
]


@pytest.mark.parametrize("epsilon", [1.0, *(pytest.param(at, marks=pytest.mark.verify) for at in (0.1, 3.0))])
@pytest.mark.parametrize(
    ("learner", "params", "numbers"), AGAIN, ids=["majority", "privatree-corrected", "pf-tree", "diffprivlib-tree", "privatree"]
)
def test_what_is_stored_as_searched_is_what_a_search_finds_today(learner, params, numbers, epsilon):
    entry = next(item for item in STORED.facts if (item.learner, item.params, item.epsilon) == (learner, params, epsilon))
    stored = {place.where: place.log_ratio for place in entry.places}
    for place in (place for number, place in enumerate((*UNIVERSES, *COUNTEREXAMPLES)) if number in numbers):
        found = verify(learner, epsilon=epsilon, universes=(place,), **params)
        again = f"run: dpviz verify --all {learner} --out data/benchmarks/verdicts.json --force"
        assert stored[found.searched] == pytest.approx(found.log_ratio, rel=1e-6, abs=1e-9), again


def _as_stored(claim):
    """Ten digits, as in the file."""
    return replace(claim, epsilon=float(f"{claim.epsilon:.10g}"), delta=float(f"{claim.delta:.10g}"))


def test_no_lower_bound_is_above_a_ledger_or_a_claim_that_holds_and_beside_it_stands_a_perfect_one():
    for entry in STORED.facts:
        for found, bound in ((entry.searched, "log_ratio"), (entry.attacked, "bound")):
            if found is not None:
                assert not exceeds(getattr(found, bound), found.composed), (entry.learner, entry.epsilon)
                assert found.verdict != "ledger violated"
                assert entry.claim.verdict != "holds" or not exceeds(getattr(found, bound), found.claimed)
    for entry in (entry for entry in STORED.facts if entry.claim.verdict == "holds" and not entry.attacked.delta):
        found = entry.attacked
        perfect = perfect_bound(found.n_tested, entry.composed.epsilon, 0.5, beta=0.05, rows=found.rows)
        assert found.perfect == pytest.approx(perfect, rel=1e-6)


def test_the_stored_run_shows_what_is_known_of_the_learners():
    least = {"majority": 0.9, "pf-tree": 0.7, "diffprivlib-tree": 0.8, "dp-mean": 0.8}
    for name, share in least.items():
        for epsilon in EPSILONS:
            assert STORED.of(name, epsilon).attacked.bound >= share * epsilon
    assert STORED.of("pf-tree", 1.0).searched.log_ratio > 0.9
    assert STORED.of("privatree", 1.0).searched.log_ratio == math.inf
    for attacked in (STORED.of(name, 1.0).attacked for name in ("privatree", "rgv-forest")):
        assert exceeds(attacked.bound, attacked.claimed)
    corrected = [STORED.of("privatree-corrected", epsilon).claim.verdict for epsilon in EPSILONS]
    assert corrected == ["violated", "unproven", "unproven"]
    searched = STORED.of("privatree-corrected", 0.1).searched
    assert exceeds(searched.log_ratio, searched.claimed)


def test_the_page_of_learners_says_of_each_what_is_stored():
    page = (ROOT / "data" / "benchmarks" / "learners.md").read_text(encoding="utf-8")
    for learner in (name for name in registry() if STORED.of(name, 1.0)):
        (proved,) = re.findall(rf"^\| `{learner}` \|(?: [^|]* \|){{3}} ([^|]*) \|", page, re.MULTILINE)
        stored = [STORED.of(learner, epsilon) for epsilon in EPSILONS]
        verdicts = list(dict.fromkeys(entry.claim.verdict for entry in stored if entry is not None))
        assert re.findall("holds|violated|unproven|none", proved) == verdicts


# --- making one


@pytest.mark.parametrize(
    "learners",
    [pytest.param(["pf-tree", "privatree", "cart"], marks=pytest.mark.slow), pytest.param((), marks=pytest.mark.verify)],
    ids=["three learners", "all learners"],
)
def test_every_learner_is_asked_with_every_flag_flipped_at_three_epsilons(monkeypatch, learners):
    monkeypatch.setattr(module, "QUICK_UNIVERSES", TINY[:1])
    monkeypatch.setattr(module, "COUNTEREXAMPLES", ())
    told = []
    run = verify_all(date="2026-01-31", learners=learners, quick=True, progress=lambda share, text: told.append((share, text)))
    asked = {(item.learner, item.epsilon, tuple(item.params.items())) for item in run.facts}
    assert {name for name, _, _ in asked} == set(learners or dpviz.learner_names())
    assert {epsilon for _, epsilon, _ in asked} == set(EPSILONS)
    assert ("privatree", 1.0, (("grow_complete", True),)) in asked
    assert {(item.version, item.date, item.attacked) for item in run.facts} == {(VERSION, "2026-01-31", None)}
    assert all((item.searched is None) == bool(item.not_searched) for item in run.facts)
    assert [share for share, _ in told] == sorted(share for share, _ in told)
    assert told[0] == (0.0, "PF-tree at epsilon 0.1")


@pytest.mark.slow
def test_one_learner_alone_is_searched_and_attacked(monkeypatch):
    monkeypatch.setattr(module, "UNIVERSES", TINY[:1])
    monkeypatch.setattr(module, "COUNTEREXAMPLES", ())
    monkeypatch.setattr(module, "draws_of", lambda spec: 60)
    run = verify_all(date="2026-01-31", learners=["majority"])
    assert [(item.learner, item.epsilon) for item in run.facts] == [("majority", epsilon) for epsilon in EPSILONS]
    for entry in run.facts:
        assert entry.searched.log_ratio == pytest.approx(entry.epsilon)
        assert 0 <= entry.attacked.bound < entry.epsilon
