"""Two levels of a tree in one choice."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

_EXACT = "tests/privacy/test_two_levels.py::test_the_exact_sampler_turns_where_the_law_does"
_WIDTH = "tests/training/test_two_levels.py::test_one_row_changes_all_trees_within_the_width"

MUTANTS = (
    Mutant(
        "two levels: a release at twice epsilon",
        "dpviz.privacy.two_levels:TwoLevelChoice.sample_exactly",
        "self.width.rate(self.epsilon)",
        "2 * self.width.rate(self.epsilon)",
        (f"{_EXACT}[floats first-0.3]",),
    ),
    Mutant(
        "two levels: a simulation at twice epsilon",
        "dpviz.privacy.two_levels:TwoLevelChoice.sample",
        "float(self.width.rate(self.epsilon))",
        "2 * float(self.width.rate(self.epsilon))",
        ("tests/privacy/test_two_levels.py::test_draws_follow_the_law[simulation]",),
    ),
    Mutant(
        "two levels: a root weighed by one side twice",
        "dpviz.privacy.two_levels:_Roots.floats",
        "each[0] * each[1]",
        "each[0] * each[0]",
        (f"{_EXACT}[floats first-0.3]",),
    ),
    Mutant(
        "two levels: floats trusted beyond their error",
        "dpviz.privacy.exact_weights:choose",
        "4 * (error + len(weights) * _ULP)",
        "0.0",
        (f"{_EXACT}[floats first-0.3]",),
    ),
    Mutant(
        "two levels: a plain sum of correct rows and impurity",
        "dpviz.training.two_levels:_Trees._side",
        "half_impurity(inside, SCALE - units, axis=0)",
        "half_impurity(inside, SCALE, axis=0)",
        (f"{_WIDTH}[700-1-2-None]",),
    ),
    Mutant(
        "two levels: one label for a child without its impurity",
        "dpviz.training.two_levels:_Trees._side",
        "(units * child - half_impurity(child, SCALE - units, axis=0)).T",
        "(units * child).T",
        ("tests/training/test_two_levels.py::test_a_utility_is_the_sum_over_the_leaves_of_the_tree[700-1-2-None]",),
    ),
    Mutant(
        "two levels: rows of the right child are those of the left one",
        "dpviz.training.two_levels:_Trees._sides",
        "left[:, None, :] - both",
        "both",
        ("tests/training/test_two_levels.py::test_a_utility_is_the_sum_over_the_leaves_of_the_tree[700-1-2-None]",),
    ),
    Mutant(
        "two levels: a simulation that forgets the leaf on the right of a child",
        "dpviz.training.two_levels:_Trees._nearly",
        "even += _evenness(outside)",
        "even += 0",
        ("tests/training/test_two_levels.py::test_simulations_use_nearly_the_same_utilities[float64-700-1-2-None]",),
    ),
    Mutant(
        "two levels: a simulation in which candidates that are alike count once",
        "dpviz.privacy.two_levels:_sums_behind",
        "times.astype(np.float32)",
        "np.ones_like(times, dtype=np.float32)",
        ("tests/training/test_two_levels.py::test_a_simulation_weighs_roots_as_the_law_does",),
    ),
    Mutant(
        "two levels: class weights that the width does not know",
        "dpviz.training.two_levels:TreeScore.width",
        "SCALE * largest",
        "SCALE",
        (f"{_WIDTH}[700-1-3-weights1]",),
    ),
    Mutant(
        "two levels: labels after a tree that nobody pays for",
        "dpviz.learners.native.pf_tree:_Choosing.tree_then_labels",
        "Sequential((chosen.event, Parallel(tuple(events))))",
        "chosen.event",
        ("tests/contract/test_neighbours.py::test_one_row_changes_what_the_ledger_says[pf-tree, labels after two levels]",),
    ),
)
