"""A run of verdicts: what is in it, and that it survives its file."""

import json
import math
from dataclasses import replace

import pytest

import dpviz
from dpviz.errors import Cancelled, DocumentError, DpvizError
from dpviz.evaluation.audit import verify_all as module
from dpviz.evaluation.audit.by_attack import audit
from dpviz.evaluation.audit.universe import Universe
from dpviz.evaluation.audit.verdicts import Refusal, StoredRun, run_from_json, run_to_json, stored_run
from dpviz.evaluation.audit.verify import verify_each
from dpviz.evaluation.audit.verify_all import verify_all, verify_mechanisms
from dpviz.version import VERSION

TINY = (Universe((2,), max_rows=2), Universe((2, 2), max_rows=2))


@pytest.fixture(scope="module")
def run():
    results = [found for name in ("pf-tree", "privatree", "cart") for found in verify_each(name, universes=TINY)]
    shares = verify_each("privatree", universes=TINY, shares=(0.0, 1.0, 1.0), grow_complete=True)
    refusals = (Refusal("forest", 1.0, {"trees": 3}, "Too large."),)
    audits = (audit("majority", seed=1, draws=40), audit("cart", seed=1, draws=4))
    return StoredRun("1.2.3", "2026-01-31", (*results, *shares), refusals, tuple(verify_mechanisms(1.0)), audits)


def test_a_run_survives_its_file(run):
    read = run_from_json(run_to_json(run))
    assert _without_seconds(read) == _without_seconds(run)


def _without_seconds(run):
    lists = {
        name: tuple(replace(item, seconds=0.0) for item in getattr(run, name)) for name in ("results", "mechanisms", "audits")
    }
    return replace(run, **lists)


def test_a_file_says_what_its_numbers_mean(run):
    document = json.loads(run_to_json(run))
    assert (document["version"], document["date"]) == ("1.2.3", "2026-01-31")
    assert document["neighbours"] == "add/remove one row"
    assert document["results"][2]["log_ratio"] == "infinity"


def test_an_empty_run_survives_its_file():
    empty = StoredRun("1", "2026-01-31", ())
    assert run_from_json(run_to_json(empty)) == empty


def test_the_worst_of_each_question_is_found_in_the_order_of_the_run(run):
    worst = run.worst()
    assert [(found.learner, bool(found.params)) for found in worst] == [
        ("pf-tree", False),
        ("privatree", False),
        ("cart", False),
        ("privatree", True),
    ]
    assert worst[0].log_ratio == max(found.log_ratio for found in run.results if found.learner == "pf-tree")
    assert worst[1].log_ratio == math.inf


def test_a_broken_ledger_anywhere_is_noticed(run):
    assert not run.has_broken_ledger
    for name in ("results", "mechanisms", "audits"):
        first, *rest = getattr(run, name)
        assert replace(run, **{name: (replace(first, verdict="ledger violated"), *rest)}).has_broken_ledger


@pytest.mark.parametrize(
    ("spoil", "where"),
    [
        (lambda d: d.update(format="dpviz-verdicts/2"), ""),
        (lambda d: d.pop("date"), "date"),
        (lambda d: d["results"][0].update(verdict="fine"), "results[0].verdict"),
        (lambda d: d["results"][1].update(log_ratio="much"), "results[1].log_ratio"),
        (lambda d: d["results"][0]["worst_pair"].update(probabilities=[1]), "results[0].worst_pair.probabilities"),
        (lambda d: d["results"][0].update(output=[]), "results[0].output"),
        (lambda d: d["refusals"][0].pop("reason"), "refusals[0].reason"),
        (lambda d: d["audits"][0].update(hits=[1, 2, 3]), "audits[0].hits"),
    ],
)
def test_a_damaged_file_is_refused_by_the_place_of_the_damage(run, spoil, where):
    document = json.loads(run_to_json(run))
    spoil(document)
    with pytest.raises(DocumentError) as problem:
        run_from_json(json.dumps(document))
    assert problem.value.where == where or not where
    assert problem.value.remedy


def test_unknown_keys_are_ignored(run):
    document = json.loads(run_to_json(run))
    document["colour"] = document["results"][0]["colour"] = "red"
    assert _without_seconds(run_from_json(json.dumps(document))) == _without_seconds(run)


def test_a_missing_file_says_how_to_make_it(tmp_path):
    with pytest.raises(DpvizError, match=r"dpviz verify --all --out gone\.json"):
        stored_run(tmp_path / "gone.json")


def test_the_stored_run_knows_every_learner_and_no_ledger_of_ours_is_violated():
    run = stored_run()
    asked = {(item.learner, item.epsilon) for item in (*run.results, *run.refusals)}
    assert {learner for learner, _ in asked} >= {"pf-tree", "privatree", "privatree-corrected", "cart", "majority"}
    assert not run.has_broken_ledger
    worst = {(found.learner, found.epsilon, *found.params.values()): found for found in run.worst()}
    assert worst["pf-tree", 1.0].verdict == worst["pf-tree", 0.025].verdict == "holds"
    assert worst["privatree", 1.0].log_ratio == math.inf
    assert worst["privatree", 1.0, True].log_ratio > 2.35
    assert worst["privatree-corrected", 0.025].verdict == "violated"


# --- making one


def test_every_learner_is_asked_with_every_flag_flipped_at_two_epsilons(monkeypatch):
    monkeypatch.setattr(module, "QUICK_UNIVERSES", TINY[:1])
    monkeypatch.setattr(module, "NAMED_PAIRS", ())
    told = []
    run = verify_all(date="2026-01-31", quick=True, progress=lambda share, text: told.append((share, text)))
    asked = {(item.learner, item.epsilon, tuple(item.params.items())) for item in (*run.results, *run.refusals)}
    assert {name for name, _, _ in asked} == set(dpviz.learner_names())
    assert {epsilon for _, epsilon, _ in asked} == {1.0, 0.025}
    assert ("privatree", 1.0, (("grow_complete", True),)) in asked
    assert (run.version, run.date, run.audits) == (VERSION, "2026-01-31", ())
    assert [share for share, _ in told] == sorted(share for share, _ in told)
    assert told[0] == (0.0, "PF-tree at epsilon 1")
    assert all(item.reason for item in run.refusals)


def test_a_stop_cancels_the_whole_run():
    with pytest.raises(Cancelled):
        verify_all(date="2026-01-31", quick=True, stop=lambda: True)


def test_of_the_bare_mechanisms_only_the_smooth_leaf_is_violated():
    for epsilon in (1.0, 0.025):
        verdicts = {found.learner: found.verdict for found in verify_mechanisms(epsilon)}
        assert verdicts.pop("exponential mechanism with smooth sensitivity") == "violated"
        assert set(verdicts.values()) == {"holds"}
        assert len(verdicts) == 3
