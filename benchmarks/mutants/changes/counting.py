"""Who counts the rows, and where they are."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "rows that coins set aside are counted while a level is counted",
        "dpviz/training/counting/levels.py",
        "return level_root(self.growth.counter, self.grid, self.n_classes, parts)",
        "return self",
        ("tests/training/counting/test_contract.py::test_whoever_counts_the_model_is_the_same_to_the_last_bit",),
    ),
    Mutant(
        "a learner that needs the rows is let loose on counts",
        "dpviz/learners/__init__.py",
        "if not spec.counts_only:",
        "if False:",
        ("tests/training/counting/test_contract.py::test_a_learner_that_needs_more_says_so_before_anything_is_asked",),
    ),
    Mutant(
        "rows that coins set aside grow the tree in an engine",
        "dpviz/engines/statements.py",
        'return "part = 0" if of_part_0',
        'return "part >= 0" if of_part_0',
        ("tests/engines/test_engines.py::test_trees_are_those_of_memory[duckdb]",),
    ),
    Mutant(
        "a password in an address is accepted",
        "dpviz/engines/address.py",
        "if password is not None or any(",
        "if any(",
        ("tests/engines/test_address.py::test_a_password_is_refused_and_not_repeated",),
    ),
    Mutant(
        "an error of an engine carries what the engine said",
        "dpviz/engines/connection.py",
        'raise EngineError("failed", what, remedy=remedy) from None',
        'raise EngineError("failed", what, remedy=remedy) from error',
        ("tests/engines/test_engines.py::test_an_engine_that_dies_in_mid_level_is_a_typed_error_that_quotes_nothing[duckdb]",),
    ),
    Mutant(
        "what was made in an engine stays there",
        "dpviz/engines/rows.py",
        "self._connection.close()",
        "pass",
        ("tests/engines/test_engines.py::test_what_fails_or_is_stopped_in_mid_level_leaves_nothing[duckdb]",),
    ),
)
