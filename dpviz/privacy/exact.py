"""OpenDP's exact samplers as plain functions. Imported only for a release, because opendp is slow to load."""

import opendp.prelude as dp

dp.enable_features("contrib")


def permute_and_flip(utilities: list[int], scale: float, monotone: bool) -> int:
    """The index that permute-and-flip chooses: integers plus exponential noise of this scale."""
    return int(_noisy_max(dp.max_divergence(), scale, monotone)(utilities))


def exponential_mechanism(utilities: list[int], scale: float, monotone: bool) -> int:
    """The index that the exponential mechanism chooses: integers plus Gumbel noise of this scale."""
    return int(_noisy_max(dp.zero_concentrated_divergence(), scale, monotone)(utilities))


def geometric(counts: list[int], scale: float) -> list[int]:
    """Integers plus two-sided geometric noise, P(k) ~ exp(-abs(k)/scale)."""
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return list(dp.m.make_laplace(*space, scale=scale)(counts))


def gaussian(values: list[int], scale: float) -> list[int]:
    """Integers plus discrete Gaussian noise, P(k) ~ exp(-k^2 / (2 scale^2))."""
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    return list(dp.m.make_gaussian(*space, scale=scale)(values))


def _noisy_max(measure: object, scale: float, monotone: bool) -> dp.Measurement:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64", monotonic=monotone)
    return dp.m.make_noisy_max(*space, measure, scale=scale)
