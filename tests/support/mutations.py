"""Valid documents, spoiled: bytes moved, dropped, doubled and replaced, and parts of a JSON document exchanged."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

#: What breaks readers: quotes, delimiters, line ends, encodings, numbers at the edge, signs of other formats.
PIECES = (
    *(b'"', b'""', b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b"\x00", b"\xff", b"\xfe", b"\xef\xbb\xbf"),
    *(b"\x1f\x8b", b"PK\x03\x04"),
    *(b"NaN", b"Infinity", b"-1", b"1e999", b"1e308", b"-0", b"9" * 30, b"=1+1", b"'", b"\\", b"{", b"}", b"[", b"]"),
    *(b":", b"null"),
    *(b"true", b"\\ud800", b"\xc3", "ä€😀".encode(), b" ", b"", b"?", b"NA", b"_", b"1_000", b"0x1f", b"1,5", b"a" * 300),
)
#: What stands in place of a part of a JSON document.
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 0.5, 1e308, -1e308, 10**40, -0.0, "", " ", "age", "red", "n", "x" * 300, "\ud800", "\x00"),
    *(
        [],
        [[]],
        {},
        {"a": 1},
        [None],
        ["red", "red"],
        [1, 2],
        {"leaf": "n"},
        {"leaf": 3},
        "infinity",
        "dpviz-tree/1",
        "dpviz-schema/2",
    ),
)
_PLACES = st.floats(0, 1, exclude_max=True)


@st.composite
def spoiled(draw: st.DrawFn, documents: tuple[bytes, ...]) -> bytes:
    """One of the documents after one to four changes of its bytes."""
    text = draw(st.sampled_from(documents))
    for _ in range(draw(st.integers(1, 4))):
        text = _change(text, draw(st.integers(0, 4)), draw(_PLACES), draw(_PLACES), draw(st.sampled_from(PIECES)))
    return text


def _change(text: bytes, kind: int, one: float, other: float, piece: bytes) -> bytes:
    start, end = sorted((int(one * len(text)), int(other * len(text))))
    match kind:
        case 0:
            return text[:start] + piece + text[start:]
        case 1:
            return text[:start] + piece + text[start + len(piece) :]
        case 2:
            return text[:start] + text[end:]
        case 3:
            return text[:end] + text[start:end] + text[end:]
        case _:
            return text[:start] + text[end:] + text[start:end]


@st.composite
def exchanged(draw: st.DrawFn, documents: tuple[Any, ...]) -> str:
    """One of the JSON documents after one to three parts were exchanged, taken away, doubled or renamed."""
    document = copy.deepcopy(draw(st.sampled_from(documents)))
    for _ in range(draw(st.integers(1, 3))):
        holders = list(_holders(document))
        if holders:
            holder = holders[int(draw(_PLACES) * len(holders))]
            _exchange(holder, draw(st.integers(0, 3)), draw(_PLACES), copy.deepcopy(draw(st.sampled_from(VALUES))))
    return json.dumps(document)


def _holders(value: Any) -> Any:
    """Every list and object with something in it."""
    if isinstance(value, (dict, list)):
        if value:
            yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from _holders(item)


def _exchange(holder: Any, kind: int, place: float, value: Any) -> None:
    keys = list(holder) if isinstance(holder, dict) else range(len(holder))
    key = keys[int(place * len(keys))]
    if kind == 0:
        holder[key] = value
    elif kind == 1:
        del holder[key]
    elif isinstance(holder, list):
        holder.append(holder[key] if kind == 2 else value)
    elif kind == 2:
        holder[key] = holder[keys[-1]]
    else:
        holder[f"{key}x"] = holder.pop(key)
