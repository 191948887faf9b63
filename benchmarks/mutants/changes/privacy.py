"""Selections, counts, samplers and where randomness comes from."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "permute-and-flip simulated at twice epsilon",
        "dpviz.privacy.selection:PermuteAndFlip.sample",
        "self.epsilon",
        "2 * self.epsilon",
        (
            "tests/statistical/test_samplers.py::"
            "test_selection_follows_its_distribution[simulation permute-and-flip monotone=True 6000]",
        ),
    ),
    Mutant(
        "probabilities of a selection at twice epsilon",
        "dpviz.privacy.selection:_Selection._logits",
        "self.epsilon",
        "2 * self.epsilon",
        ("tests/privacy/test_selection.py::test_one_row_never_moves_a_probability_by_more_than_epsilon",),
    ),
    Mutant(
        "half of the noise in a simulated exponential mechanism",
        "dpviz.privacy.selection:ExponentialMechanism.sample",
        "rng.gumbel(size=logits.shape)",
        "rng.gumbel(size=logits.shape) / 2",
        (
            "tests/statistical/test_samplers.py::"
            "test_selection_follows_its_distribution[simulation exponential mechanism monotone=True 6000]",
        ),
    ),
    Mutant(
        "real-valued utilities accepted by the exact sampler",
        "dpviz.privacy.selection:_Selection._integers_and_scale",
        "'iu'",
        "'iuf'",
        ("tests/privacy/test_selection.py::test_real_valued_utilities_cannot_be_released",),
    ),
    Mutant(
        "weights ignored by the exact sampler",
        "dpviz.privacy.selection:ExponentialMechanism.sample_exactly",
        "self.log_weights is not None",
        "False",
        ("tests/privacy/test_selection.py::test_weights_cannot_be_released",),
    ),
    Mutant(
        "a sensitivity that is not monotone counted as monotone",
        "dpviz.privacy.sensitivity:Sensitivity.exponent",
        "self.value if self.monotone else 2 * self.value",
        "self.value",
        ("tests/privacy/test_selection.py::test_one_row_never_moves_a_probability_by_more_than_epsilon",),
    ),
    Mutant(
        "the same in the scale of the exact sampler",
        "dpviz.privacy.sensitivity:Sensitivity.integers_and_scale",
        "Fraction(self.value) * (1 if self.monotone else 2)",
        "Fraction(self.value)",
        ("tests/privacy/test_selection.py::test_the_scale_of_an_exact_selection_never_costs_more_than_epsilon",),
    ),
    Mutant(
        "the scale of a selection rounded to nearest, not up",
        "dpviz.privacy.sensitivity:Sensitivity.integers_and_scale",
        "round_up",
        "float",
        ("tests/privacy/test_selection.py::test_the_scale_of_an_exact_selection_never_costs_more_than_epsilon",),
    ),
    Mutant(
        "a sensitivity that is no bound priced as one",
        "dpviz.privacy.sensitivity:Sensitivity.event",
        "self.is_bound",
        "True",
        ("tests/privacy/test_selection.py::test_a_selection_by_a_sensitivity_that_is_no_bound_has_no_price",),
    ),
    Mutant(
        "the sensitivity of a count halved",
        "dpviz.privacy.sensitivity",
        "Sensitivity(1.0, monotone=True, source='adding a row raises one count by one and lowers none')",
        "Sensitivity(0.5, monotone=True, source='adding a row raises one count by one and lowers none')",
        ("tests/contract/test_neighbours.py::test_one_row_changes_what_the_ledger_says[majority]",),
    ),
    Mutant(
        "utilities reach the sampler at epsilon 0",
        "dpviz.privacy.sensitivity:Sensitivity.integers_and_scale",
        "[0] * len(utilities)",
        "utilities.tolist()",
        ("tests/statistical/test_samplers.py::test_epsilon_zero_chooses_uniformly[release-PermuteAndFlip-500]",),
    ),
    Mutant(
        "geometric noise simulated at twice epsilon",
        "dpviz.privacy.geometric:GeometricNoise.sample",
        "-self.epsilon",
        "-2 * self.epsilon",
        ("tests/statistical/test_samplers.py::test_geometric_noise_follows_its_distribution[simulation l1=1.0]",),
    ),
    Mutant(
        "one-sided geometric noise",
        "dpviz.privacy.geometric:GeometricNoise.sample",
        "rng.geometric(chance, size) - rng.geometric(chance, size)",
        "rng.geometric(chance, size) - 1",
        ("tests/statistical/test_samplers.py::test_geometric_noise_follows_its_distribution[simulation l1=1.0]",),
    ),
    Mutant(
        "the exact geometric noise ignores the sensitivity",
        "dpviz.privacy.geometric:GeometricNoise.sample_exactly",
        "Fraction(self.l1)",
        "1",
        ("tests/privacy/test_geometric.py::test_the_scale_of_exact_noise_never_costs_more_than_epsilon",),
    ),
    Mutant(
        "the scale of geometric noise rounded to nearest, not up",
        "dpviz.privacy.geometric:GeometricNoise.sample_exactly",
        "round_up",
        "float",
        ("tests/privacy/test_geometric.py::test_the_scale_of_exact_noise_never_costs_more_than_epsilon",),
    ),
    Mutant(
        "the law of geometric noise at half of epsilon",
        "dpviz.privacy.geometric:GeometricNoise.pmf",
        "self.epsilon / self.l1",
        "self.epsilon / self.l1 / 2",
        ("tests/privacy/test_geometric.py::test_the_distribution_is_that_of_the_difference_of_two_geometric_variables",),
    ),
    Mutant(
        "the tail of geometric noise at half of epsilon",
        "dpviz.privacy.geometric:GeometricNoise.decay",
        "-self.epsilon / self.l1",
        "-self.epsilon / self.l1 / 2",
        ("tests/privacy/test_geometric.py::test_tail_is_the_sum_of_what_lies_beyond",),
    ),
    Mutant(
        "half of the Laplace noise",
        "dpviz.privacy.laplace:LaplaceNoise.scale",
        "self.epsilon",
        "2 * self.epsilon",
        ("tests/contract/test_neighbours.py::test_one_row_changes_what_the_ledger_says[fs-tree, numbers]",),
    ),
    Mutant(
        "Laplace noise in floating point released",
        "dpviz.privacy.laplace:LaplaceNoise.sample_exactly",
        "raise NotReleasable(f'{self.title} noise on real numbers')",
        "return self.sample(values, np.random.default_rng())",
        ("tests/privacy/test_laplace.py::test_it_is_never_released",),
    ),
    Mutant(
        "choices of a release from a fixed seed",
        "dpviz.privacy.uniform:UniformChoice.sample_exactly",
        "None",
        "0",
        ("tests/privacy/test_uniform.py::test_every_choice_is_equally_likely[release]",),
    ),
    Mutant(
        "keys of a release from a fixed seed",
        "dpviz.privacy.uniform:SecretKeys.sample_exactly",
        "None",
        "0",
        ("tests/privacy/test_uniform.py::test_a_seed_repeats_them_and_a_release_does_not",),
    ),
    Mutant(
        "secret codes without rejection",
        "dpviz.randomness:secure_integers",
        "256 - 256 % count",
        "256",
        ("tests/test_randomness.py::test_fair_bytes_give_every_code_equally_often",),
    ),
    Mutant(
        "secret uniforms in [0, 2)",
        "dpviz.randomness:secure_uniforms",
        "53",
        "52",
        ("tests/test_randomness.py::test_secure_uniforms_span_zero_to_one",),
    ),
    Mutant(
        "generators of a release from a fixed seed",
        "dpviz.randomness:generator",
        "seed",
        "seed or 0",
        ("tests/test_randomness.py::test_without_a_seed_nothing_repeats",),
    ),
    Mutant(
        "a release drawn by NumPy",
        "dpviz.privacy.source:ExactNoise.draw",
        "mechanism.sample_exactly(values)",
        "mechanism.sample(values, generator(None))",
        ("tests/privacy/test_source.py::test_a_release_draws_exactly_and_has_no_seed",),
    ),
    Mutant(
        "half of the exact geometric noise",
        "dpviz.privacy.exact:geometric",
        "scale",
        "scale / 2",
        ("tests/statistical/test_samplers.py::test_geometric_noise_follows_its_distribution[release l1=1.0]",),
    ),
    Mutant(
        "half of the exact discrete Gaussian",
        "dpviz.privacy.exact:gaussian",
        "scale",
        "scale / 2",
        ("tests/privacy/test_gaussian.py::test_small_noise_follows_its_distribution_and_no_other[3.0-release]",),
    ),
    Mutant(
        "half of the exact noise of permute-and-flip",
        "dpviz.privacy.exact:permute_and_flip",
        "scale",
        "scale / 2",
        (
            "tests/statistical/test_samplers.py::"
            "test_selection_follows_its_distribution[release permute-and-flip monotone=True 2500]",
        ),
    ),
    Mutant(
        "half of the exact noise of the exponential mechanism",
        "dpviz.privacy.exact:exponential_mechanism",
        "scale",
        "scale / 2",
        (
            "tests/statistical/test_samplers.py::"
            "test_selection_follows_its_distribution[release exponential mechanism monotone=True 6000]",
        ),
    ),
    Mutant(
        "coins of a release from a fixed seed",
        "dpviz.privacy.random_assignment:RandomAssignment.sample_exactly",
        "self._parts(n_rows, secure_uniforms)",
        "self.sample(n_rows, np.random.default_rng(0))",
        ("tests/privacy/test_random_assignment.py::test_assignments_of_a_release_never_repeat_and_know_no_position",),
    ),
    Mutant(
        "coins by position",
        "dpviz.privacy.random_assignment:RandomAssignment.sample_exactly",
        "secure_uniforms",
        "lambda n: np.arange(n) / n",
        ("tests/privacy/test_random_assignment.py::test_assignments_of_a_release_never_repeat_and_know_no_position",),
    ),
)
