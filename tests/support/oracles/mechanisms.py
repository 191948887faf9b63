"""Laws of mechanisms straight from their definitions: slow, and written without looking at dpviz."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, groupby, pairwise, permutations

import numpy as np


def permute_and_flip(utilities: list[float], exponent: float) -> np.ndarray:
    """Walk through all orders of the candidates; flip a coin exp(a (u - max u)) for each; the first head wins."""
    best = max(utilities)
    heads = [math.exp(exponent * (utility - best)) for utility in utilities]
    distribution = np.zeros(len(utilities))
    orders = list(permutations(range(len(utilities))))
    for order in orders:
        still_going = 1.0 / len(orders)
        for candidate in order:
            distribution[candidate] += still_going * heads[candidate]
            still_going *= 1 - heads[candidate]
    return distribution


def one_sided_noise(utilities: np.ndarray, exponent: float) -> np.ndarray:
    """Distribution of the arg max of scaled utility plus Exp(1) noise, integrated over the value of the maximum."""
    scaled = exponent * (utilities - np.max(utilities))
    values = np.linspace(0, 60, 600_001)  # nothing below the best candidate's utility can win
    levels, where, sizes = np.unique(scaled, return_inverse=True, return_counts=True)
    log_below = np.array([np.log(-np.expm1(-(values[1:] - level))) for level in levels])
    all_below = np.exp((sizes[:, None] * log_below).sum(axis=0))
    distribution = np.empty(len(levels))
    for i, level in enumerate(levels):
        density = np.exp(-(values[1:] - level)) * all_below / np.exp(log_below[i])
        distribution[i] = _simpson(np.concatenate(([density[0]], density)), values[1] - values[0])
    return distribution[where]


def exponential_mechanism(utilities: list[float], exponent: float, weights: list[float]) -> np.ndarray:
    best = max(utilities)
    terms = [weight * math.exp(exponent * (utility - best)) for utility, weight in zip(utilities, weights, strict=True)]
    return np.array(terms) / math.fsum(terms)


def two_geometrics(decay: float, noise: int, terms: int = 4000) -> float:
    """P(G - H = noise) for two independent geometric variables on 0, 1, ..., summed term by term."""
    return math.fsum((1 - decay) ** 2 * decay ** (h + max(noise, 0) + h + max(-noise, 0)) for h in range(terms))


def quantile_cells(values: list[float], low: float, high: float, m: int, exponent: float) -> tuple[np.ndarray, dict]:
    """Edges of the gaps, and the weight of every way to put m increasing points into the gaps.

    The weight is the volume times exp(a u), u = -sum abs(n_j - n/(m+1)).
    """
    clipped = sorted(min(max(value, low), high) for value in values)
    edges = np.array(sorted({low, high, *clipped}))
    below = [sum(value <= edge for value in clipped) for edge in edges[:-1]]
    weights = {}
    for cells in combinations_with_replacement(range(len(edges) - 1), m):
        ranks = [0, *(below[cell] for cell in cells), len(clipped)]
        utility = -sum(abs(after - before - len(clipped) / (m + 1)) for before, after in pairwise(ranks))
        weights[cells] = _volume(cells, edges) * math.exp(exponent * utility)
    return edges, weights


def log_quantile_normaliser(values: np.ndarray, low: float, high: float, m: int, exponent: float) -> float:
    """The same sum for hundreds of values: every pair of gaps, one quantile after the other, in logarithms."""
    clipped = np.clip(values, low, high)
    edges = np.unique(np.concatenate(([low, high], clipped)))
    below = np.array([(clipped <= edge).sum() for edge in edges[:-1]])
    width = np.diff(edges)
    share = len(clipped) / (m + 1)
    step = -exponent * np.abs(below[None, :] - below[:, None] - share)  # from row to column
    step[np.tril_indices(len(below))] = -np.inf
    stay = -exponent * share
    runs = [np.log(width) - exponent * np.abs(below - share)]  # runs[k]: k + 1 quantiles in this gap so far
    for _ in range(m - 1):
        moved = np.logaddexp.reduce(np.logaddexp.reduce(runs, axis=0)[:, None] + step, axis=0) + np.log(width)
        runs = [moved, *(run + stay + np.log(width / (k + 2)) for k, run in enumerate(runs))]
    last = -exponent * np.abs(len(clipped) - below - share)
    return float(np.logaddexp.reduce(np.logaddexp.reduce(runs, axis=0) + last))


def _volume(cells: tuple[int, ...], edges: np.ndarray) -> float:
    volume = 1.0
    for cell, run in groupby(cells):
        k = len(list(run))
        volume *= (edges[cell + 1] - edges[cell]) ** k / math.factorial(k)
    return volume


def _simpson(values: np.ndarray, step: float) -> float:
    return step / 3 * (values[0] + values[-1] + 4 * values[1:-1:2].sum() + 2 * values[2:-1:2].sum())
