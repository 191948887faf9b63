"""Randomness from the operating system: exactly uniform, and never the same twice."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from dpviz import randomness
from dpviz.randomness import generator, secure_integers, secure_uniforms


@pytest.fixture
def every_byte_in_turn(monkeypatch):
    """The operating system gives 0, 1, ..., 255 and begins again, as fair as bytes can be."""
    place = count()
    monkeypatch.setattr(randomness.os, "urandom", lambda size: bytes(next(place) % 256 for _ in range(size)))


@pytest.mark.parametrize("n_codes", [2, 3, 7, 10, 100, 128])
@pytest.mark.usefixtures("every_byte_in_turn")
def test_fair_bytes_give_every_code_equally_often(n_codes):
    whole_turns = 256 // n_codes * n_codes
    assert set(np.bincount(secure_integers(n_codes, 3 * whole_turns), minlength=n_codes)) == {3 * (256 // n_codes)}


@pytest.mark.parametrize(("byte", "value"), [(b"\x00", 0.0), (b"\xff", 1 - 2.0**-53), (b"\x80", 0.502)])
def test_secure_uniforms_span_zero_to_one(monkeypatch, byte, value):
    monkeypatch.setattr(randomness.os, "urandom", lambda size: byte * size)
    assert secure_uniforms(3) == pytest.approx([value] * 3, abs=1e-3)
    assert (secure_uniforms(3) < 1).all()


def test_without_a_seed_nothing_repeats():
    assert len({int(generator(None).integers(2**63)) for _ in range(5)}) == 5
    assert generator(0).integers(2**63) == generator(0).integers(2**63)
