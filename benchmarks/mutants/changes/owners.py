"""Owners who train together."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "shares of the noise count on colluding owners",
        "dpviz/owners/terms.py",
        "/ self.owners / (taking_part - self.colluding))",
        "/ self.owners / taking_part)",
        ("tests/owners/test_federated.py::test_shares_add_up_to_the_noise_of_the_ledger_whoever_colludes",),
    ),
    Mutant(
        "no more noise for colluding owners",
        "dpviz/owners/federated.py",
        "more = sqrt(owners / (owners - colluding))",
        "more = 1.0",
        ("tests/owners/test_federated.py::test_shares_add_up_to_the_noise_of_the_ledger_whoever_colludes",),
    ),
    Mutant(
        "a round is answered twice",
        "dpviz/owners/data_owner.py",
        "if not self._tree < tree < ",
        "if not self._tree <= tree < ",
        ("tests/owners/test_federated.py::test_an_owner_answers_only_what_was_agreed",),
    ),
    Mutant(
        "an owner answers when nobody hides it",
        "dpviz/owners/data_owner.py",
        "max(2, self.terms.colluding + 1)",
        "1",
        ("tests/owners/test_federated.py::test_an_owner_answers_only_what_was_agreed",),
    ),
    Mutant(
        "messages without masks",
        "dpviz/owners/secure_sum.py",
        "return values.astype(np.int64).view(np.uint64) + masks",
        "return values.astype(np.int64).view(np.uint64)",
        ("tests/owners/test_secure_sum.py::test_under_all_masks_messages_are_uniform_among_those_with_the_sum",),
    ),
    Mutant(
        "the same masks in every round",
        "dpviz/owners/secure_sum.py",
        'shake_256(key + round_number.to_bytes(8, "big"))',
        "shake_256(key)",
        ("tests/owners/test_secure_sum.py::test_masks_from_keys_look_uniform_and_new_in_every_round",),
    ),
    Mutant(
        "a public key that reveals the shared one",
        "dpviz/owners/secure_sum.py",
        "if not 2 <= public <= PRIME - 2:",
        "if not 1 <= public <= PRIME - 2:",
        ("tests/owners/test_secure_sum.py::test_a_public_key_that_gives_the_shared_one_away_is_refused",),
    ),
    Mutant(
        "an owner adds half of its noise",
        "dpviz/owners/data_owner.py",
        "noisy = [GaussianNoise(scale)",
        "noisy = [GaussianNoise(scale / 2)",
        ("tests/owners/test_federated.py::test_messages_carry_a_share_of_the_noise_each",),
    ),
    Mutant(
        "owners release from parts that depend on other rows",
        "dpviz/owners/federated.py",
        "        if part.not_row_wise:",
        "        if False:",
        ("tests/owners/test_several.py::test_nothing_is_released_from_parts_that_depend_on_other_rows",),
    ),
    Mutant(
        "what only one owner read from its rows is not disclosed",
        "dpviz/owners/federated.py",
        "for part in parts for field in part.schema.read_from_data",
        "for part in parts[:1] for field in part.schema.read_from_data",
        ("tests/owners/test_several.py::test_what_one_owner_read_from_its_rows_all_disclose",),
    ),
)
