"""The only place where random number generators are made.

Everything else takes an `rng` or a seed and is therefore repeatable; `tests/test_architecture.py` checks it. Noise that
leaves as a release does not come from here but from OpenDP's samplers (`dpviz/privacy/source.py`).
"""

from __future__ import annotations

import numpy as np


def generator(seed: int | np.random.SeedSequence | None) -> np.random.Generator:
    """A NumPy generator. The same seed gives the same draws; None takes entropy from the operating system."""
    return np.random.default_rng(seed)


def child_seeds(seed: int, count: int) -> list[int]:
    """`count` statistically independent integer seeds (63 bits) derived from one: the k-th does not depend on `count`."""
    children = np.random.SeedSequence(seed).spawn(count)
    return [int(child.generate_state(1, np.uint64)[0] >> 1) for child in children]


def entropy() -> int:
    """128 bits from the operating system, other ones at each call: for names and noise that nobody may guess."""
    found = np.random.SeedSequence().entropy
    assert isinstance(found, int)
    return found
