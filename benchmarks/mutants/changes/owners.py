"""Owners who train together."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "the same rows may be two owners",
        "dpviz.owners.federated:train_federated",
        "_require_disjoint(parts, is_release=seed is None)",
        "None",
        ("tests/owners/test_federated.py::test_rows_given_twice_are_refused_and_for_a_release_parts_of_one_table_too",),
    ),
    Mutant(
        "owners share one noise",
        "dpviz.owners.federated:train_federated",
        "_sources(seed, len(parts))",
        "_sources(seed, 1) * len(parts)",
        ("tests/owners/test_federated.py::test_leaves_are_the_means_of_what_each_owner_releases_from_its_own_rows",),
    ),
    Mutant(
        "an owner goes on from its own leaves",
        "dpviz.owners.federated:_round",
        ("for owner, (cells, _) in zip(owners, released, strict=True):\n    owner.learn(cells, means)"),
        ("for owner, (cells, values) in zip(owners, released, strict=True):\n    owner.learn(cells, values)"),
        ("tests/owners/test_federated.py::test_leaves_are_the_means_of_what_each_owner_releases_from_its_own_rows",),
    ),
    Mutant(
        "owners release from parts that depend on other rows",
        "dpviz.owners.federated:_require_row_wise",
        ("if part.not_row_wise:\n    raise NotRowWise(part.not_row_wise)"),
        ("if False:\n    raise NotRowWise(part.not_row_wise)"),
        ("tests/owners/test_federated.py::test_nothing_is_released_from_parts_that_depend_on_other_rows",),
    ),
    Mutant(
        "what only one owner read from its rows is not disclosed",
        "dpviz.owners.federated:_schema_of",
        "(field for part in parts for field in part.schema.read_from_data)",
        "(field for part in parts[:1] for field in part.schema.read_from_data)",
        ("tests/owners/test_federated.py::test_what_one_owner_read_from_its_rows_all_disclose",),
    ),
)
