"""The checks themselves: an audit that looks away."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "a ratio a tenth above the bound is no evidence",
        "dpviz/evaluation/audit/findings.py",
        "SLACK = 1e-9",
        "SLACK = 0.1",
        ("tests/evaluation/audit/test_verify.py::test_a_verdict_compares_with_the_ledger_first_and_the_claim_second",),
    ),
    Mutant(
        "our own ledger is not judged",
        "dpviz/evaluation/audit/findings.py",
        "if exceeds(log_ratio, composed.epsilon):",
        "if False:",
        ("tests/evaluation/audit/test_verify.py::test_a_verdict_compares_with_the_ledger_first_and_the_claim_second",),
    ),
    Mutant(
        "an unproven claim passes for one that holds",
        "dpviz/evaluation/audit/findings.py",
        'return "unproven" if exceeds(composed.epsilon, claim.epsilon) else "holds"',
        'return "holds"',
        ("tests/evaluation/audit/test_mechanisms.py::test_the_smooth_leaf_breaks_at_gap_one_where_epsilon_is_one",),
    ),
    Mutant(
        "delta is not taken off a lower bound",
        "dpviz/evaluation/audit/distinguishing.py",
        "(at_least - delta) / at_most",
        "at_least / at_most",
        ("tests/evaluation/audit/test_distinguishing.py::test_the_largest_bound_needs_an_event_that_always_and_never_happens",),
    ),
    Mutant(
        "a lower bound at half its confidence",
        "dpviz/evaluation/audit/distinguishing.py",
        "at_least, _ = clopper_pearson(up, n, beta / 2)",
        "at_least, _ = clopper_pearson(up, n, 0.5)",
        ("tests/evaluation/audit/test_distinguishing.py::test_the_largest_bound_needs_an_event_that_always_and_never_happens",),
    ),
    Mutant(
        "an event is tested on the draws that chose it",
        "dpviz/evaluation/audit/distinguishing.py",
        "for shown in draws[half:])",
        "for shown in draws[:half])",
        ("tests/evaluation/audit/test_distinguishing.py::test_where_there_is_nothing_to_find_the_bound_is_hardly_ever_positive",),
    ),
    Mutant(
        "only removing a row is searched",
        "dpviz/evaluation/audit/verify.py",
        "ways = [_Way(universe, levels, grows) for grows in (True, False)]",
        "ways = [_Way(universe, levels, False) for grows in (True, False)]",
        ("tests/evaluation/audit/test_verify.py::test_privatree_as_published_has_an_infinite_loss_by_its_stopping_rule",),
    ),
    Mutant(
        "data sets two rows apart pass for neighbours",
        "dpviz/evaluation/audit/named_pairs.py",
        "!= [0, 1]:",
        "not in ([0, 1], [0, 2]):",
        ("tests/evaluation/audit/test_verify.py::test_data_sets_that_are_no_neighbours_are_refused",),
    ),
    Mutant(
        "a named pair is searched one way only",
        "dpviz/evaluation/audit/named_pairs.py",
        "best = grows if grows.log_ratio >= shrinks.log_ratio else shrinks",
        "best = shrinks",
        ("tests/evaluation/audit/test_verify.py::test_the_bound_of_pf_tree_is_nearly_reached",),
    ),
)
