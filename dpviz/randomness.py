"""The only place where random number generators are made.

All other code takes an `rng` or a seed, which makes it repeatable; ruff enforces this. Noise for a
release comes from OpenDP's samplers instead (`dpviz/privacy/source.py`).
"""

import os
import secrets

import numpy as np


def generator(seed: int | np.random.SeedSequence | None) -> np.random.Generator:
    """A NumPy generator. The same seed gives the same draws; None takes entropy from the operating system."""
    return np.random.default_rng(seed)


def generator_at(seed: int, place: int) -> np.random.Generator:
    """A NumPy generator of its own for every place below 2^64: Philox with the key (seed modulo 2^64, place), made for this."""
    return np.random.Generator(np.random.Philox(key=(seed % 2**64, place)))


def child_seeds(seed: int, count: int) -> list[int]:
    """`count` independent seeds (63 bits) derived from one. The k-th does not depend on `count`."""
    children = np.random.SeedSequence(seed).spawn(count)
    return [int(child.generate_state(1, np.uint64)[0] >> 1) for child in children]


def seed_from(*parts: int) -> int:
    """One seed (63 bits) from several numbers: equal numbers give equal seeds, others independent ones."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> 1)


def random_128_bits() -> int:
    """128 bits from the operating system, new ones at each call: for names and noise that nobody may guess."""
    return secrets.randbits(128)


def secure_bits(count: int) -> int:
    """A uniform integer of `count` bits from the operating system."""
    return secrets.randbits(count)


def secure_integers(count: int, size: int) -> np.ndarray:
    """`size` uniform integers below `count` <= 128, uint8, from the operating system: nobody can reconstruct them."""
    fair = 256 - 256 % count  # larger bytes would favour the small integers
    drawn = np.empty(0, dtype=np.uint8)
    while len(drawn) < size:
        more = np.frombuffer(os.urandom(2 * (size - len(drawn)) + 64), dtype=np.uint8)
        drawn = np.concatenate([drawn, more[more < fair] % np.uint8(count)])
    return drawn[:size].copy()


def secure_uniforms(size: int) -> np.ndarray:
    """`size` uniform multiples of 2^-53 in [0, 1) from the operating system: nobody can reconstruct them."""
    whole = np.frombuffer(os.urandom(8 * size), dtype=np.uint64) >> np.uint64(11)
    return whole.astype(np.float64) * 2.0**-53
