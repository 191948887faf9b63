"""The register and the way to a released file."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "a release may exceed the cap a little",
        "dpviz/release/records.py",
        "return epsilon <= Fraction(self.data_set.epsilon_cap) and",
        "return epsilon <= Fraction(self.data_set.epsilon_cap) * (1 + _ROUNDING) and",
        ("tests/release/test_records.py::test_what_is_left_fits_and_the_next_larger_number_does_not",),
    ),
    Mutant(
        "the cap on delta is ignored",
        "dpviz/release/records.py",
        " and delta <= Fraction(self.data_set.delta_cap)",
        "",
        ("tests/release/test_register.py::test_delta_has_a_cap_too",),
    ),
    Mutant(
        "earlier releases are not counted",
        "dpviz/release/records.py",
        "_sums([*(entry.loss for entry in self.releases), loss])",
        "_sums([loss])",
        ("tests/release/test_store.py::test_what_a_register_of_the_first_version_has_spent_counts_from_now_on",),
    ),
    Mutant(
        "what is left of the cap rounded up",
        "dpviz/release/records.py",
        "max(0.0, round_down(Fraction(self.data_set.epsilon_cap) - epsilon))",
        "max(0.0, round_up(Fraction(self.data_set.epsilon_cap) - epsilon))",
        ("tests/release/test_records.py::test_what_is_left_fits_and_the_next_larger_number_does_not",),
    ),
    Mutant(
        "an infinite loss has room",
        "dpviz/release/records.py",
        "        if not loss.is_finite:\n            return False\n",
        "",
        ("tests/release/test_register.py::test_what_has_no_bound_fits_under_no_cap",),
    ),
    Mutant(
        "a person with several rows loses as one row",
        "dpviz/accounting/guarantee.py",
        "epsilon = round_up(Fraction(loss.epsilon) * rows)",
        "epsilon = round_up(Fraction(loss.epsilon))",
        ("tests/release/test_records.py::test_several_rows_of_one_person_multiply_epsilon",),
    ),
    Mutant(
        "delta of a person with several rows only adds up",
        "dpviz/accounting/guarantee.py",
        "rows * loss.delta * math.exp(exponent) if",
        "rows * loss.delta if",
        ("tests/release/test_records.py::test_several_rows_of_one_person_multiply_epsilon",),
    ),
    Mutant(
        "the cap is not checked",
        "dpviz/release/register.py",
        "            require_room(balance, loss)\n",
        "",
        ("tests/release/test_store.py::test_what_a_register_of_the_first_version_has_spent_counts_from_now_on",),
    ),
    Mutant(
        "the same rows in two data sets",
        "dpviz/release/register.py",
        "if before is not None and before.name != name:",
        "if False:",
        ("tests/release/test_register.py::test_rows_never_move_to_another_data_set",),
    ),
    Mutant(
        "the same release twice",
        "dpviz/release/register.py",
        "if queries.find_entry(connection, token) is not None:",
        "if False:",
        ("tests/release/test_register.py::test_a_token_is_used_once",),
    ),
    Mutant(
        "an infinite cap",
        "dpviz/release/register.py",
        "if not (math.isfinite(epsilon_cap) and epsilon_cap > 0):",
        "if not epsilon_cap > 0:",
        ("tests/release/test_register.py::test_what_cannot_be_declared_is_refused[wrong1]",),
    ),
    Mutant(
        "a claim that does not hold is released",
        "dpviz/release/publish.py",
        "    _require_sound(spec.title, claim)\n",
        "",
        (
            "tests/release/test_publish.py::"
            "test_only_a_learner_whose_claim_holds_and_whose_noise_is_exact_is_released[privatree-star]",
        ),
    ),
    Mutant(
        "values read from the data are released",
        "dpviz/release/publish.py",
        "    _require_declared(taken)\n",
        "",
        ("tests/release/test_publish.py::test_nothing_read_from_the_data_is_released",),
    ),
    Mutant(
        "promised without an exact sampler",
        "dpviz/release/publish.py",
        "    if not spec.exact:",
        "    if False:",
        ("tests/release/test_publish.py::test_only_a_learner_whose_claim_holds_and_whose_noise_is_exact_is_released[dpboost]",),
    ),
    Mutant(
        "rows that touch each other cost before they are refused",
        "dpviz/release/publish.py",
        "    if data.not_row_wise:",
        "    if False:",
        ("tests/release/test_publish.py::test_rows_that_others_may_have_changed_are_refused_before_anything_is_spent",),
    ),
    Mutant(
        "training that cost more than promised is written",
        "dpviz/release/publish.py",
        "    _require_as_promised(result, promised)\n",
        "",
        ("tests/release/test_publish.py::test_a_seeded_run_leaves_no_file",),
    ),
    Mutant(
        "delta spent is not compared with the promise",
        "dpviz/release/publish.py",
        "spent.epsilon <= promised.loss.epsilon and spent.delta <= promised.loss.delta",
        "spent.epsilon <= promised.loss.epsilon",
        ("tests/release/test_publish.py::test_more_delta_than_was_promised_leaves_no_file",),
    ),
    Mutant(
        "the released file says how often the rows were explored",
        "dpviz/release/publish.py",
        'if item.kind != "tuning"]',
        "if item.kind]",
        ("tests/release/test_publish.py::test_the_file_does_not_say_how_often_the_rows_were_explored",),
    ),
    Mutant(
        "a range read from the data does not block a release",
        "dpviz/release/assumptions.py",
        "return Assumption(kind, column, what, Status.READ, _DECLARE, blocks=True)",
        "return Assumption(kind, column, what, Status.READ, _DECLARE)",
        ("tests/release/test_assumptions.py::test_what_was_read_from_the_rows_blocks_and_comes_first",),
    ),
    Mutant(
        "a row count read from the data does not block a release",
        "dpviz/release/assumptions.py",
        'return Assumption("row count", "", what, Status.READ, _DECLARE, blocks=True)',
        'return Assumption("row count", "", what, Status.READ, _DECLARE)',
        ("tests/release/test_assumptions.py::test_what_was_read_from_the_rows_blocks_and_comes_first",),
    ),
    Mutant(
        "everybody may read the register",
        "dpviz/release/store.py",
        "os.O_RDWR | os.O_CREAT, 0o600",
        "os.O_RDWR | os.O_CREAT, 0o644",
        ("tests/release/test_register.py::test_a_new_register_is_empty_and_for_its_owners_eyes",),
    ),
    Mutant(
        "what was spent can be changed",
        "dpviz/release/migrations.py",
        "BEFORE UPDATE OF number, token, data_set, epsilon, delta ON release",
        "BEFORE UPDATE OF number, token ON release",
        (
            "tests/release/test_register.py::"
            "test_the_file_itself_refuses_to_forget[UPDATE release SET data_set = 'others'-what was spent stays spent]",
        ),
    ),
    Mutant(
        "fingerprints are kept without a key",
        "dpviz/release/migrations.py",
        "UPDATE fingerprint SET fingerprint = keyed(fingerprint);",
        "",
        ("tests/release/test_store.py::test_no_fingerprint_without_its_key_stays_in_a_register_of_the_first_version",),
    ),
    Mutant(
        "a cap is raised without a reason",
        "dpviz/release/register.py",
        " and not all(given):",
        " and not any(given):",
        ("tests/release/test_register.py::test_a_cap_is_raised_only_with_a_reason_and_a_name",),
    ),
    Mutant(
        "an old copy of the register is spent from",
        "dpviz/release/store.py",
        "if known and not on_old_copy and not chain.holds(connection, known):",
        "if False:",
        ("tests/release/test_checking.py::test_an_old_copy_refunds_nothing",),
    ),
    Mutant(
        "a changed register is spent from",
        "dpviz/release/register.py",
        "if next(chain.faults(connection), None) is not None:",
        "if False:",
        ("tests/release/test_checking.py::test_nothing_is_spent_from_a_register_that_was_changed",),
    ),
    Mutant(
        "a restored copy gives back what was spent since",
        "dpviz/release/checking.py",
        "if left.epsilon or left.delta:",
        "if False:",
        ("tests/release/test_checking.py::test_an_old_copy_refunds_nothing",),
    ),
    Mutant(
        "a release can be deleted",
        "dpviz/release/migrations.py",
        "BEGIN SELECT RAISE (ABORT, 'a release is never undone'); END;\nCREATE TRIGGER fingerprint_stays",
        "BEGIN SELECT 1; END;\nCREATE TRIGGER fingerprint_stays",
        (
            "tests/release/test_register.py::"
            "test_the_file_itself_refuses_to_forget[DELETE FROM release-a release is never undone]",
        ),
    ),
)
