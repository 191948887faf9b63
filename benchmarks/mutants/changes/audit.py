"""The checks themselves: an audit that looks away."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

_GUESSES = (
    "tests/evaluation/audit/test_distinguishing.py"
    "::test_right_guesses_bound_epsilon_no_more_often_wrong_than_stated_and_better_where_both_errors_are_common"
)

MUTANTS = (
    Mutant(
        "a ratio a tenth above the bound is no evidence",
        "dpviz.evaluation.audit.findings",
        "1e-09",
        "0.1",
        ("tests/evaluation/audit/test_verify.py::test_a_verdict_compares_with_the_ledger_first_and_the_claim_second",),
    ),
    Mutant(
        "our own ledger is not judged",
        "dpviz.evaluation.audit.findings:judge",
        "exceeds(log_ratio, composed.epsilon)",
        "False",
        ("tests/evaluation/audit/test_verify.py::test_a_verdict_compares_with_the_ledger_first_and_the_claim_second",),
    ),
    Mutant(
        "an unproven claim passes for one that holds",
        "dpviz.evaluation.audit.findings:judge",
        "'unproven' if exceeds(composed.epsilon, claim.epsilon) else 'holds'",
        "'holds'",
        ("tests/evaluation/audit/test_verify.py::test_a_verdict_compares_with_the_ledger_first_and_the_claim_second",),
    ),
    Mutant(
        "delta is not taken off a lower bound",
        "dpviz.evaluation.audit.distinguishing:lower_bound",
        "at_least - delta",
        "at_least",
        ("tests/evaluation/audit/test_distinguishing.py::test_the_bound_is_that_of_clopper_and_pearson[50-5-100]",),
    ),
    Mutant(
        "a lower bound at half its confidence",
        "dpviz.evaluation.audit.distinguishing:lower_bound",
        "clopper_pearson(up, n, beta / 2)",
        "clopper_pearson(up, n, 0.5)",
        ("tests/evaluation/audit/test_distinguishing.py::test_the_bound_is_that_of_clopper_and_pearson[50-5-100]",),
    ),
    Mutant(
        "delta is not taken off what right guesses bound",
        "dpviz.evaluation.audit.distinguishing:bound_by_guesses",
        "share - delta",
        "share",
        (f"{_GUESSES}[0.6-400-0.01]",),
    ),
    Mutant(
        "right guesses at half their confidence",
        "dpviz.evaluation.audit.distinguishing:bound_by_guesses",
        "clopper_pearson(right, 2 * n, beta)",
        "clopper_pearson(right, 2 * n, 0.5)",
        (f"{_GUESSES}[0.55-5000-0.0]",),
    ),
    Mutant(
        "few guesses are taken for many",
        "dpviz.evaluation.audit.distinguishing:bound_by_guesses",
        "np.maximum(right - 1, 0) / (2 * n)",
        "1.0",
        ("tests/evaluation/audit/test_distinguishing.py::test_few_guesses_show_nothing",),
    ),
    Mutant(
        "an event is tested on the draws that chose it",
        "dpviz.evaluation.audit.distinguishing:distinguish",
        "draws[half:]",
        "draws[:half]",
        ("tests/evaluation/audit/test_distinguishing.py::test_where_there_is_nothing_to_find_the_bound_is_hardly_ever_positive",),
    ),
    Mutant(
        "only removing a row is searched",
        "dpviz.evaluation.audit.verify:separation",
        "grows",
        "False",
        ("tests/evaluation/audit/test_verify.py::test_privatree_as_published_has_an_infinite_loss_by_its_stopping_rule",),
    ),
    Mutant(
        "data sets two rows apart pass for neighbours",
        "dpviz.evaluation.audit.candidate_pairs:require_neighbours",
        "sorted((sum((one - other).values()), sum((other - one).values()))) != [0, 1]",
        "sorted((sum((one - other).values()), sum((other - one).values()))) not in ([0, 1], [0, 2])",
        ("tests/evaluation/audit/test_verify.py::test_data_sets_that_are_no_neighbours_are_refused",),
    ),
    Mutant(
        "a chosen pair is searched one way only",
        "dpviz.evaluation.audit.candidate_pairs:verify_pair",
        "grows if grows.log_ratio >= shrinks.log_ratio else shrinks",
        "shrinks",
        ("tests/evaluation/audit/test_verify.py::test_the_bound_of_pf_tree_is_nearly_reached",),
    ),
    Mutant(
        "an attack that stops pays for no delta",
        "dpviz.evaluation.audit.wagers:log_wealth",
        "2 * pairs * np.log1p(odds * delta)",
        "0.0",
        ("tests/evaluation/audit/test_wagers.py::test_delta_is_paid_for_at_every_draw[0.1]",),
    ),
    Mutant(
        "every stake is all of the money",
        "dpviz.evaluation.audit.wagers:log_wealth",
        "math.log(len(stakes))",
        "-math.log(len(stakes))",
        (
            "tests/evaluation/audit/test_wagers.py"
            "::test_whenever_an_attack_stops_its_bound_is_above_the_truth_no_more_often_than_stated[1.0-laws1]",
        ),
    ),
    Mutant(
        "draws are guessed that chose how to guess",
        "dpviz.evaluation.audit.by_attack:_white_box",
        "by_pair[CHUNK_OF_PAIRS:]",
        "by_pair",
        ("tests/evaluation/audit/test_white_box.py::test_no_draw_is_guessed_that_chose_how_to_guess",),
    ),
    Mutant(
        "a ratio is remembered for other questions",
        "dpviz.evaluation.audit.white_box:WhiteBoxTask._note_counted",
        "not _equal(tuple(self._counted.setdefault(chosen, limits)), tuple(limits))",
        "not self._counted.setdefault(chosen, limits)",
        ("tests/evaluation/audit/test_white_box.py::test_questions_that_follow_noise_are_soon_not_remembered_without_it",),
    ),
    Mutant(
        "a canary is always in the part that grows",
        "dpviz.evaluation.audit.white_box:_assignments",
        "(*(0,) * (n_rows - 1), part)",
        "(0,) * n_rows",
        ("tests/evaluation/audit/test_white_box.py::test_the_canary_may_be_in_every_part_as_often_as_rows_are_and_others_grow",),
    ),
)
