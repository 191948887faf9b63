"""Secure sums: masks cancel, messages fit whatever has the same sum, and an owner who is missing leaves nothing to read."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from dpviz.errors import FederationError
from dpviz.owners.secure_sum import BITS, GENERATOR, PRIME, KeyPair, mask, masked, masks_of, read_message, sum_of
from tests.examples import examples

vectors = st.integers(-(2**61), 2**61)


def keyed(owners):
    """keys[u][v], the same both ways, without the time that real ones take."""
    keys = {u: {} for u in range(owners)}
    for u, v in combinations(range(owners), 2):
        keys[u][v] = keys[v][u] = bytes([u, v]) * 16
    return keys


def messages_of(values, keys, round_number):
    return {u: masked(values[u], masks_of(u, keys[u], round_number, values.shape[1])) for u in keys}


def is_prime(n):
    """Miller & Rabin; for a number nobody chose to deceive these bases."""
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13):
        powers = [pow(base, odd << k, n) for k in range(twos)]
        if powers[0] != 1 and n - 1 not in powers:
            return False
    return True


def test_the_group_is_a_safe_prime_of_2048_bits_and_2_spans_its_squares():
    assert PRIME.bit_length() == 2048
    assert is_prime(PRIME)
    assert is_prime((PRIME - 1) // 2)
    assert pow(GENERATOR, (PRIME - 1) // 2, PRIME) == 1


def test_two_owners_agree_on_a_key_that_a_third_does_not_have():
    one, two, three = KeyPair(), KeyPair(), KeyPair()
    assert one.shared_with(2, two.public) == two.shared_with(1, one.public)
    assert one.shared_with(2, two.public) != one.shared_with(3, three.public)
    assert len(one.shared_with(2, two.public)) == 32


@pytest.mark.parametrize("public", [0, 1, PRIME - 1, PRIME, PRIME + 2, -5])
def test_a_public_key_that_gives_the_shared_one_away_is_refused(public):
    with pytest.raises(FederationError, match="owner 4: Its public key lies outside the group") as caught:
        KeyPair().shared_with(4, public)
    assert (caught.value.code, caught.value.owner) == ("key", 4)


@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 2**40), st.data())
@examples(60)
def test_masks_cancel_in_the_sum_of_all(owners, length, round_number, data):
    values = np.array(data.draw(st.lists(st.lists(vectors, min_size=length, max_size=length), min_size=owners, max_size=owners)))
    values = values // owners
    messages = messages_of(values, keyed(owners), round_number)
    np.testing.assert_array_equal(sum_of(messages, range(owners)), values.sum(axis=0))


@given(st.integers(2, 6), st.data())
@examples(60)
def test_messages_fit_any_other_vectors_with_the_same_sum(owners, data):
    """For every alternative there are masks, one per pair, that explain exactly the same messages."""
    draw = st.lists(vectors, min_size=3, max_size=3)
    values, other = (np.array([data.draw(draw) for _ in range(owners)]) for _ in range(2))
    other[-1] = other[-1] + (values - other).sum(axis=0)  # modulo 2^64, as messages are
    between = {(u, v): mask(bytes([u, v]), 1, 3) for u, v in combinations(range(owners), 2)}
    seen = _with_masks(values, between)
    moved = (values - other).cumsum(axis=0).view(np.uint64)
    explained = between | {(u, u + 1): between[u, u + 1] + moved[u] for u in range(owners - 1)}
    np.testing.assert_array_equal(_with_masks(other, explained), seen)


def _with_masks(values, between):
    """Messages under chosen masks between pairs."""
    rows = []
    for u, row in enumerate(values):
        plus = sum((m for (a, _), m in between.items() if a == u), np.zeros(3, dtype=np.uint64))
        minus = sum((m for (_, b), m in between.items() if b == u), np.zeros(3, dtype=np.uint64))
        rows.append(masked(row, plus - minus))
    return np.array(rows)


@pytest.mark.parametrize("values", [(0, 0, 0), (3, 2, 3), (1, -1, 0)])
def test_under_all_masks_messages_are_uniform_among_those_with_the_sum(values):
    """Every triple of masks once, looked at modulo 4: each of the 16 messages with the right sum comes up equally often."""
    seen = Counter()
    for a, b, c in product(range(4), repeat=3):
        masks = np.array([a + b, c - a, -b - c], dtype=np.int64).view(np.uint64)
        seen[tuple((masked(np.array(values), masks) % 4).tolist())] += 1
    assert len(seen) == 16
    assert set(seen.values()) == {4}
    assert {sum(message) % 4 for message in seen} == {sum(values) % 4}


def test_masks_from_keys_look_uniform_and_new_in_every_round():
    keys = keyed(4)
    drawn = np.concatenate([messages_of(np.zeros((4, 64), dtype=np.int64), keys, t)[2] for t in range(60)])
    assert len(np.unique(drawn)) == len(drawn)
    found = np.bincount(drawn.view(np.uint8), minlength=256)
    statistic = np.square(found - found.mean()).sum() / found.mean()
    assert chi2.ppf(1e-4, 255) < statistic < chi2.ppf(1 - 1e-4, 255)


def test_without_one_message_there_is_no_sum_and_the_others_are_uniform():
    values = np.array([[5], [7], [9]])
    messages = messages_of(values, keyed(3), 1)
    del messages[1]
    assert sum_of(messages, range(3)) is None
    seen = Counter()
    for a, b, c in product(range(4), repeat=3):  # masks of pairs 01, 02, 12, modulo 4; owners 0 and 2 are seen
        first, last = (masked(values[u], np.array([m]).view(np.uint64)) for u, m in ((0, a + b), (2, -b - c)))
        seen[int(first[0] % 4), int(last[0] % 4)] += 1
    assert len(seen) == 16
    assert set(seen.values()) == {4}


@pytest.mark.parametrize(("sent", "words"), [([1, 2, 3], "3 numbers where 2 were due"), ([], "0 numbers"), (7, "no vector")])
def test_another_length_is_refused(sent, words):
    with pytest.raises(FederationError, match=words) as caught:
        read_message(3, sent, 2)
    assert (caught.value.code, caught.value.owner) == ("length", 3)


@pytest.mark.parametrize("wrong", [-1, 2**BITS, 0.5, True, "7", None])
def test_what_is_no_number_modulo_2_to_the_64_is_refused(wrong):
    with pytest.raises(FederationError, match="owner 0: It sent something that is no whole number below") as caught:
        read_message(0, [1, wrong], 2)
    assert caught.value.code == "number"


def test_the_largest_number_is_read():
    assert read_message(0, [2**BITS - 1, 0], 2).tolist() == [2**BITS - 1, 0]
