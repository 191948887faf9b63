"""Sums of integer vectors of several owners that show the aggregator nothing but the sum.

Every two owners agree on a key (Diffie & Hellman 1976, in a public group) and derive one mask per round from it. The owner with
the smaller number adds the mask, the other subtracts it, both modulo 2^64, so masks cancel in the sum of all messages. Without
one of the messages they do not, and the others reveal nothing.

With ideally random masks, messages would be uniform among all vectors with that sum, so they reveal nothing but the sum. Masks
derived from keys (SHAKE-256) are as good for anybody who cannot break the group or the hash. The aggregator is trusted to relay
keys honestly, as nothing here signs them. Nor can an owner be kept from sending invented numbers: length and range are checked,
truth cannot be.

Source: Bonawitz et al. 2017, "Practical secure aggregation for privacy-preserving machine learning", section 4.0.1; RFC 3526.
"""

from collections.abc import Collection, Mapping, Sequence
from hashlib import sha3_256, shake_256
from typing import Any

import numpy as np

from dpviz.errors import FederationError
from dpviz.randomness import random_128_bits

#: Messages are numbers below 2^BITS; sums lie within +-2^(BITS - 1).
BITS = 64
#: The group of RFC 3526 with 2048 bits: 2^2048 - 2^1984 - 1 + 2^64 (floor(2^1918 pi) + 124476). Twice another prime plus one.
PRIME = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F"
    "83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B"
    "E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF6955817183995497CEA956AE515D2261898FA0510"
    "15728E5A8AACAA68FFFFFFFFFFFFFFFF",
    16,
)
GENERATOR = 2


class KeyPair:
    """An owner's secret of 256 bits from the operating system, and what others may know of it."""

    def __init__(self) -> None:
        self._secret = (random_128_bits() << 128) | random_128_bits()
        self.public = pow(GENERATOR, self._secret, PRIME)

    def shared_with(self, owner: int, public: int) -> bytes:
        """The 32 bytes that only this owner and `owner` can compute. Raises FederationError for a key that reveals them."""
        if not 2 <= public <= PRIME - 2:
            what = "Its public key lies outside the group."
            raise FederationError("key", what, owner=owner, remedy="Leave this owner out, or let it make another key.")
        return sha3_256(pow(public, self._secret, PRIME).to_bytes(256, "big")).digest()


def mask(key: bytes, round_number: int, length: int) -> np.ndarray:
    """The mask of two owners with this key in one round, uint64 of shape (length,)."""
    stream = shake_256(key + round_number.to_bytes(8, "big")).digest(8 * length)
    return np.frombuffer(stream, dtype="<u8").astype(np.uint64)


def masks_of(owner: int, keys: Mapping[int, bytes], round_number: int, length: int) -> np.ndarray:
    """The sum of all masks of `owner` in one round, given its keys with the others taking part, uint64 of shape (length,)."""
    total = np.zeros(length, dtype=np.uint64)
    for other, key in keys.items():
        drawn = mask(key, round_number, length)
        total = total + drawn if owner < other else total - drawn
    return total


def masked(values: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """The message: `values` (int64, private) plus masks, modulo 2^64, uint64."""
    return values.astype(np.int64).view(np.uint64) + masks


def sum_of(messages: Mapping[int, np.ndarray], owners: Collection[int]) -> np.ndarray | None:
    """The sum of all owners' vectors, int64; None when a message is missing."""
    if set(owners) - set(messages):
        return None
    total = np.zeros_like(next(iter(messages.values())))
    for owner in owners:
        total = total + messages[owner]
    return total.view(np.int64)


def read_message(owner: int, numbers: Any, length: int) -> np.ndarray:
    """An owner's message as uint64 of shape (length,). Raises FederationError for another length or other values."""
    if not isinstance(numbers, Sequence) or len(numbers) != length:
        sent = f"{len(numbers):,} numbers" if isinstance(numbers, Sequence) else "no vector"
        what = f"It sent {sent} where {length:,} were due."
        raise FederationError("length", what, owner=owner, remedy="Nothing was added up. Leave this owner out.")
    if not all(type(number) is int and 0 <= number < 2**BITS for number in numbers):
        what = f"It sent something that is no whole number below 2^{BITS}."
        raise FederationError("number", what, owner=owner, remedy="Nothing was added up. Leave this owner out.")
    return np.array(numbers, dtype=np.uint64)
