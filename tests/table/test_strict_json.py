"""JSON is read strictly, and whatever is wrong is named by its place in few words."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from dpviz.errors import DocumentError
from dpviz.table.strict_json import PlainValue, parse_json, read, read_entry, read_kind, require_format, with_infinity


@dataclass(frozen=True)
class Inner:
    share: float
    flag: bool = False


@dataclass(frozen=True)
class Outer:
    name: str
    items: tuple[Inner, ...]
    pair: tuple[int, int] = (0, 0)
    word: Literal["left", "right"] = "left"
    count: int | None = None
    params: dict[str, PlainValue] | None = None
    rest: Any = None


GOOD = {"name": "x", "items": [{"share": 1, "colour": "red"}], "unknown": {}}
CHANGES = [
    ({"name": 3}, "at.name: This must be a text; got a whole number."),
    ({"items": "ab"}, "at.items: This must be a list; got a text."),
    ({"items": [{"share": "1"}]}, "at.items[0].share: This must be a number; got a text."),
    ({"items": [{"share": True}]}, "at.items[0].share: This must be a number; got true or false."),
    ({"items": [{"share": 10**400}]}, "at.items[0].share: This must be a finite number."),
    ({"items": [{"share": 1, "flag": 0}]}, "at.items[0].flag: This must be true or false; got a whole number."),
    ({"items": [{}]}, "at.items[0].share: This entry is missing."),
    ({"items": [[]]}, "at.items[0]: This must be an object with named entries; got a list."),
    ({"pair": [1, 2, 3]}, "at.pair: This must be a list of length 2; got 3."),
    ({"pair": [1, 2.0]}, "at.pair[1]: This must be a whole number; got a number."),
    ({"count": True}, "at.count: This must be a whole number or null; got true or false."),
    ({"word": "up"}, "at.word: This must be one of the known texts; got 'up'."),
]
TEXTS = [
    ('{"a": {"b": 1, "c": 2, "b": 3}}', "The key 'b' appears twice in one object."),
    ('{"a": [1, NaN]}', "a[1]: This must be a finite number."),
    ('{"a": {"b": -1e999}}', "a.b: This must be a finite number."),
    (f"[1, {'9' * 200}{'0' * 200}.5]", "[1]: This must be a finite number."),
    ('{"a": "\\ud800"}', "a: This text holds half a character."),
    ('{"a": "\ud800"}', "a: This text holds half a character."),
    ('{"\\udfff": 1}', "document: This text holds half a character."),
    ("[" * 100_000, "It is nested too deep."),
    ('{"a":' * 100_000, "It is nested too deep."),
    *((text, "It is not JSON") for text in ("", "{", b"\xff\xfe{", "1" * 5000, b'{"a": "\xff"}')),
]


def test_a_dataclass_is_filled_unknown_keys_are_ignored_and_nothing_is_converted_in_silence():
    assert read(Outer, GOOD) == Outer("x", (Inner(1.0),))
    assert read(Outer, GOOD | {"params": {"shares": [0.5, 1]}}).params == {"shares": (0.5, 1)}
    for change, says in CHANGES:
        with pytest.raises(DocumentError) as caught:
            read(Outer, GOOD | change, "at")
        assert str(caught.value).startswith(says)
        assert caught.value.remedy


@pytest.mark.parametrize("case", range(len(TEXTS)))
def test_values_that_no_file_should_hold_are_refused(case):
    text, says = TEXTS[case]
    with pytest.raises(DocumentError) as caught:
        parse_json(text)
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize(
    "refused",
    [
        lambda long: parse_json(f'{{"{long}": 1, "{long}": 2}}'),
        lambda long: parse_json(f'{{"{long}": NaN}}'),
        lambda long: read(Outer, GOOD | {"word": long}),
        lambda long: read_entry(int, {long: "a"}, long),
        lambda long: read_kind({"a": 1}, {"kind": long}),
        lambda long: require_format({"format": long}, "dpviz-schema/1"),
    ],
)
def test_no_error_repeats_a_long_text(refused):
    with pytest.raises(DocumentError) as caught:
        refused("x" * 100_000)
    assert len(str(caught.value)) < 700


def test_infinity_is_a_word_only_where_a_number_is_meant():
    document = {"epsilon": "infinity", "because": "infinity", "rows": [{"epsilon": "infinity"}, "infinity"]}
    expected = {"epsilon": math.inf, "because": "infinity", "rows": [{"epsilon": math.inf}, "infinity"]}
    assert with_infinity(document, "epsilon") == expected
