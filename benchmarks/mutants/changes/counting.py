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
)
