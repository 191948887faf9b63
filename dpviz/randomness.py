"""The only place where random number generators are made.

Everything else takes an `rng` or a seed and is therefore repeatable; `tests/test_architecture.py` checks it. Noise that
leaves as a release does not come from here but from OpenDP's samplers (`dpviz/privacy/source.py`).
"""

from __future__ import annotations

import os

import numpy as np


def generator(seed: int | np.random.SeedSequence | None) -> np.random.Generator:
    """A NumPy generator. The same seed gives the same draws; None takes entropy from the operating system."""
    return np.random.default_rng(seed)


def child_seeds(seed: int, count: int) -> list[int]:
    """`count` statistically independent integer seeds (63 bits) derived from one: the k-th does not depend on `count`."""
    children = np.random.SeedSequence(seed).spawn(count)
    return [int(child.generate_state(1, np.uint64)[0] >> 1) for child in children]


def seed_from(*parts: int) -> int:
    """One seed (63 bits) from several numbers: the same for the same ones, otherwise independent."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> 1)


def entropy() -> int:
    """128 bits from the operating system, other ones at each call: for names and noise that nobody may guess."""
    found = np.random.SeedSequence().entropy
    assert isinstance(found, int)
    return found


def secret_codes(count: int, size: int) -> np.ndarray:
    """`size` uniform codes below `count` <= 128 from the operating system's secret bytes, uint8: nobody can reckon them back."""
    fair = 256 - 256 % count  # a byte from here on would favour the low codes
    codes = np.empty(0, dtype=np.uint8)
    while len(codes) < size:
        drawn = np.frombuffer(os.urandom(2 * (size - len(codes)) + 64), dtype=np.uint8)
        codes = np.concatenate([codes, drawn[drawn < fair] % np.uint8(count)])
    return codes[:size].copy()


def secret_shares(size: int) -> np.ndarray:
    """`size` uniform multiples of 2^-53 in [0, 1) from the operating system's secret bytes: nobody can reckon them back."""
    whole = np.frombuffer(os.urandom(8 * size), dtype=np.uint64) >> np.uint64(11)
    return whole.astype(np.float64) * 2.0**-53
