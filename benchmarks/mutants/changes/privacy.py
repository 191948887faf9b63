"""Selections, counts, samplers and where randomness comes from."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "permute-and-flip simulated at twice epsilon",
        "dpviz/privacy/selection.py",
        "scaled = utilities * self.sensitivity.exponent(self.epsilon)",
        "scaled = utilities * self.sensitivity.exponent(2 * self.epsilon)",
        (
            "tests/statistical/test_samplers.py::"
            "test_selection_follows_its_distribution[simulation permute-and-flip monotone=True 6000]",
        ),
    ),
    Mutant(
        "probabilities of a selection at twice epsilon",
        "dpviz/privacy/selection.py",
        "return -self.sensitivity.exponent(self.epsilon) * behind",
        "return -self.sensitivity.exponent(2 * self.epsilon) * behind",
        ("tests/privacy/test_selection.py::test_one_row_never_moves_a_probability_by_more_than_epsilon",),
    ),
    Mutant(
        "half of the noise in a simulated exponential mechanism",
        "dpviz/privacy/selection.py",
        "rng.gumbel(size=logits.shape)",
        "rng.gumbel(size=logits.shape) / 2",
        (
            "tests/statistical/test_samplers.py::"
            "test_selection_follows_its_distribution[simulation exponential mechanism monotone=True 6000]",
        ),
    ),
    Mutant(
        "real-valued utilities accepted by the exact sampler",
        "dpviz/privacy/selection.py",
        'not in "iu"',
        'not in "iuf"',
        ("tests/privacy/test_selection.py::test_real_valued_utilities_cannot_be_released",),
    ),
    Mutant(
        "weights ignored by the exact sampler",
        "dpviz/privacy/selection.py",
        "        if self.log_weights is not None:\n            raise",
        "        if False:\n            raise",
        ("tests/privacy/test_selection.py::test_weights_cannot_be_released",),
    ),
    Mutant(
        "a sensitivity that is not monotone counted as monotone",
        "dpviz/privacy/sensitivity.py",
        "return epsilon / (self.value if self.monotone else 2 * self.value)",
        "return epsilon / self.value",
        ("tests/privacy/test_selection.py::test_one_row_never_moves_a_probability_by_more_than_epsilon",),
    ),
    Mutant(
        "the same in the scale of the exact sampler",
        "dpviz/privacy/sensitivity.py",
        "Fraction(self.value) * (1 if self.monotone else 2)",
        "Fraction(self.value)",
        ("tests/privacy/test_selection.py::test_the_scale_of_an_exact_selection_never_costs_more_than_epsilon",),
    ),
    Mutant(
        "the scale of a selection rounded to nearest, not up",
        "dpviz/privacy/sensitivity.py",
        "return utilities.tolist(), round_up(",
        "return utilities.tolist(), float(",
        ("tests/privacy/test_selection.py::test_the_scale_of_an_exact_selection_never_costs_more_than_epsilon",),
    ),
    Mutant(
        "a sensitivity that is no bound priced as one",
        "dpviz/privacy/sensitivity.py",
        "if self.is_bound:",
        "if True:",
        ("tests/privacy/test_selection.py::test_a_selection_by_a_sensitivity_that_is_no_bound_has_no_price",),
    ),
    Mutant(
        "the sensitivity of a count halved",
        "dpviz/privacy/sensitivity.py",
        "COUNT = Sensitivity(1.0,",
        "COUNT = Sensitivity(0.5,",
        ("tests/contract/test_neighbours.py::test_one_row_changes_what_the_ledger_says[majority]",),
    ),
    Mutant(
        "utilities reach the sampler at epsilon 0",
        "dpviz/privacy/sensitivity.py",
        "return [0] * len(utilities), 1.0",
        "return utilities.tolist(), 1.0",
        ("tests/statistical/test_samplers.py::test_epsilon_zero_chooses_uniformly[release-PermuteAndFlip-500]",),
    ),
    Mutant(
        "geometric noise simulated at twice epsilon",
        "dpviz/privacy/geometric.py",
        "chance = -math.expm1(-self.epsilon / self.l1)",
        "chance = -math.expm1(-2 * self.epsilon / self.l1)",
        ("tests/statistical/test_samplers.py::test_geometric_noise_follows_its_distribution[simulation l1=1.0]",),
    ),
    Mutant(
        "one-sided geometric noise",
        "dpviz/privacy/geometric.py",
        "rng.geometric(chance, size) - rng.geometric(chance, size)",
        "rng.geometric(chance, size) - 1",
        ("tests/statistical/test_samplers.py::test_geometric_noise_follows_its_distribution[simulation l1=1.0]",),
    ),
    Mutant(
        "the exact geometric noise ignores the sensitivity",
        "dpviz/privacy/geometric.py",
        "round_up(Fraction(self.l1) / Fraction(self.epsilon))",
        "round_up(1 / Fraction(self.epsilon))",
        ("tests/privacy/test_geometric.py::test_the_scale_of_exact_noise_never_costs_more_than_epsilon",),
    ),
    Mutant(
        "the scale of geometric noise rounded to nearest, not up",
        "dpviz/privacy/geometric.py",
        "round_up(Fraction(self.l1) / Fraction(self.epsilon))",
        "float(Fraction(self.l1) / Fraction(self.epsilon))",
        ("tests/privacy/test_geometric.py::test_the_scale_of_exact_noise_never_costs_more_than_epsilon",),
    ),
    Mutant(
        "the law of geometric noise at half of epsilon",
        "dpviz/privacy/geometric.py",
        "rate = self.epsilon / self.l1",
        "rate = self.epsilon / self.l1 / 2",
        ("tests/privacy/test_geometric.py::test_the_distribution_is_that_of_the_difference_of_two_geometric_variables",),
    ),
    Mutant(
        "the tail of geometric noise at half of epsilon",
        "dpviz/privacy/geometric.py",
        "return math.exp(-self.epsilon / self.l1)",
        "return math.exp(-self.epsilon / self.l1 / 2)",
        ("tests/privacy/test_geometric.py::test_tail_is_the_sum_of_what_lies_beyond",),
    ),
    Mutant(
        "half of the Laplace noise",
        "dpviz/privacy/laplace.py",
        "return self.l1 / self.epsilon",
        "return self.l1 / (2 * self.epsilon)",
        ("tests/contract/test_neighbours.py::test_one_row_changes_what_the_ledger_says[fs-tree, numbers]",),
    ),
    Mutant(
        "Laplace noise in floating point released",
        "dpviz/privacy/laplace.py",
        'raise NotReleasable(f"{self.title} noise on real numbers")',
        "return self.sample(values, np.random.default_rng())",
        ("tests/privacy/test_laplace.py::test_it_is_never_released",),
    ),
    Mutant(
        "choices of a release from a fixed seed",
        "dpviz/privacy/uniform.py",
        "return self.sample(counts, generator(None))",
        "return self.sample(counts, generator(0))",
        ("tests/privacy/test_uniform.py::test_every_choice_is_equally_likely[release]",),
    ),
    Mutant(
        "keys of a release from a fixed seed",
        "dpviz/privacy/uniform.py",
        "return self.sample(count, generator(None))",
        "return self.sample(count, generator(0))",
        ("tests/privacy/test_uniform.py::test_a_seed_repeats_them_and_a_release_does_not",),
    ),
    Mutant(
        "secret codes without rejection",
        "dpviz/randomness.py",
        "fair = 256 - 256 % count",
        "fair = 256",
        ("tests/test_randomness.py::test_fair_bytes_give_every_code_equally_often",),
    ),
    Mutant(
        "secret uniforms in [0, 2)",
        "dpviz/randomness.py",
        "* 2.0**-53",
        "* 2.0**-52",
        ("tests/test_randomness.py::test_secure_uniforms_span_zero_to_one",),
    ),
    Mutant(
        "generators of a release from a fixed seed",
        "dpviz/randomness.py",
        "return np.random.default_rng(seed)",
        "return np.random.default_rng(seed or 0)",
        ("tests/test_randomness.py::test_without_a_seed_nothing_repeats",),
    ),
    Mutant(
        "a release drawn by NumPy",
        "dpviz/privacy/source.py",
        "return mechanism.sample_exactly(values)",
        "return mechanism.sample(values, generator(None))",
        ("tests/privacy/test_source.py::test_a_release_draws_exactly_and_has_no_seed",),
    ),
    Mutant(
        "half of the exact geometric noise",
        "dpviz/privacy/exact.py",
        "make_laplace(*space, scale=scale)",
        "make_laplace(*space, scale=scale / 2)",
        ("tests/statistical/test_samplers.py::test_geometric_noise_follows_its_distribution[release l1=1.0]",),
    ),
    Mutant(
        "half of the exact discrete Gaussian",
        "dpviz/privacy/exact.py",
        "make_gaussian(*space, scale=scale)",
        "make_gaussian(*space, scale=scale / 2)",
        ("tests/privacy/test_gaussian.py::test_small_noise_follows_its_distribution_and_no_other[3.0-release]",),
    ),
    Mutant(
        "half of the exact noise of permute-and-flip",
        "dpviz/privacy/exact.py",
        "_noisy_max(dp.max_divergence(), scale, monotone)",
        "_noisy_max(dp.max_divergence(), scale / 2, monotone)",
        (
            "tests/statistical/test_samplers.py::"
            "test_selection_follows_its_distribution[release permute-and-flip monotone=True 2500]",
        ),
    ),
    Mutant(
        "half of the exact noise of the exponential mechanism",
        "dpviz/privacy/exact.py",
        "_noisy_max(dp.zero_concentrated_divergence(), scale, monotone)",
        "_noisy_max(dp.zero_concentrated_divergence(), scale / 2, monotone)",
        (
            "tests/statistical/test_samplers.py::"
            "test_selection_follows_its_distribution[release exponential mechanism monotone=True 6000]",
        ),
    ),
    Mutant(
        "coins of a release from a fixed seed",
        "dpviz/privacy/coins.py",
        "return self._parts(n_rows, secure_uniforms)",
        "return self.sample(n_rows, np.random.default_rng(0))",
        ("tests/privacy/test_coins.py::test_coins_of_a_release_never_repeat_and_know_no_position",),
    ),
    Mutant(
        "coins by position",
        "dpviz/privacy/coins.py",
        "return self._parts(n_rows, secure_uniforms)",
        "return self._parts(n_rows, lambda n: np.arange(n) / n)",
        ("tests/privacy/test_coins.py::test_coins_of_a_release_never_repeat_and_know_no_position",),
    ),
)
