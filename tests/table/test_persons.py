"""The claim about persons: one person more or less changes at most that person's rows, and no more of them than are kept."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpviz
from dpviz.errors import ParameterError, SchemaError
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.randomness import generator
from dpviz.results.verdict import Unit
from dpviz.table import encode as module
from dpviz.table.columns import Column
from dpviz.table.encode import choose_rows
from dpviz.table.raw import RawTable
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

SCHEMA = Schema((NumericFeature("x", 0, 99, missing_as=0),), ClassTarget("y", ("n", "p")), n_public=100)


def used(rows: list[tuple], most: int, monkeypatch) -> list[tuple]:
    """What reaches the first mechanism; each row is (person, x, y, its coin)."""
    usable = [row for row in rows if row[0] is not None and row[2] in ("n", "p")]
    monkeypatch.setattr(module, "secure_uniforms", lambda size: np.array([row[3] for row in usable], dtype=float)[:size])
    columns = [Column.from_texts(name, [row[place] or "" for row in rows]) for place, name in enumerate(("who", "x", "y"))]
    data = dpviz.encode(RawTable(tuple(columns)), SCHEMA, person="who", rows_per_person=most)
    assert data.rows_per_person == most
    return list(zip(data.columns[0].tolist(), data.target.tolist(), strict=True))


def is_without(shorter: list, longer: list, most: int) -> bool:
    """True when taking at most `most` rows out of `longer` leaves `shorter`, in order."""
    rest = iter(longer)
    return len(longer) - len(shorter) <= most and all(row in rest for row in shorter)


@pytest.mark.slow
def test_a_person_more_or_less_changes_at_most_that_many_rows_all_of_that_person(monkeypatch):
    rng, names = generator(1), [None, "a", "b", "c", "new"]
    for _ in range(300):
        rows = [
            (names[rng.integers(5)], str(rng.integers(100)), ("n", "p", "?x")[rng.integers(3)], rng.random())
            for _ in range(rng.integers(1, 16))
        ]
        most = int(rng.integers(1, 4))
        with_person, without = used(rows, most, monkeypatch), used([row for row in rows if row[0] != "new"], most, monkeypatch)
        assert is_without(without, with_person, most), (rows, most)


@pytest.mark.slow
def test_a_row_more_of_a_person_changes_rows_of_that_person_alone(monkeypatch):
    rng = generator(2)
    for _ in range(200):
        rows = [(str(rng.integers(3)), str(place), "n", rng.random()) for place in range(9)]
        changed = [("0", "99", "n", rng.random()), *rows]
        others = [place for place, row in enumerate(rows) if row[0] != "0"]
        kept, now = (dict(used(some, 2, monkeypatch)) for some in (rows, changed))
        assert {place for place in others if place in kept} == {place for place in others if place in now}


def test_every_choice_of_a_person_s_rows_is_equally_likely(monkeypatch):
    rng = generator(3)
    monkeypatch.setattr(module, "secure_uniforms", lambda size: rng.random(size))
    persons = np.array([1, 0, 1, 1, 0, 1])
    counts = Counter(tuple(np.flatnonzero(choose_rows(persons, 2))) for _ in range(6000))
    assert set(counts) == {tuple(sorted((*pair, 1, 4))) for pair in combinations((0, 2, 3, 5), 2)}
    assert max(abs(count - 1000) for count in counts.values()) < 5 * np.sqrt(1000 * 5 / 6)
    monkeypatch.undo()
    assert len({tuple(choose_rows(np.zeros(200, dtype=int), 100)) for _ in range(3)}) == 3, "drawn by the operating system"


ROWS = b"who,x,y\n" + b"".join(b"%d,%d,%s\n" % (k // 5, k % 90, (b"n", b"p")[k % 90 > 40]) for k in range(500))


def encoded(most: int | None = 2):
    table = dpviz.read_table(ROWS + b",1,n\n")
    return dpviz.encode(table, SCHEMA, person=None if most is None else "who", rows_per_person=most)


def test_the_report_counts_what_is_left_out_and_the_register_knows_the_rows_whichever_were_chosen():
    one, other = encoded(), encoded()
    report = one.report
    assert (report.rows_read, report.rows_kept, report.over_limit, report.dropped_missing) == (501, 200, 300, (("who", 1),))
    assert one.fingerprint != other.fingerprint
    assert one.identity == other.identity
    assert encoded(None).identity == encoded(None).fingerprint
    assert encoded(1000).n_rows == 500
    assert dpviz.encode(dpviz.read_table(b"who,x,y\n"), SCHEMA, person="who", rows_per_person=1).n_rows == 0


@pytest.mark.parametrize(("learner", "asked"), [("pf-tree", {"leaves": "honest"}), ("majority", {"test_share": 0.3})])
def test_the_rows_of_a_person_are_assigned_together(learner, asked, monkeypatch):
    drawn = []
    flip = RandomAssignment.assign
    monkeypatch.setattr(RandomAssignment, "assign", lambda *given, **named: drawn.append(flip(*given, **named)) or drawn[-1])
    data = encoded()
    result = dpviz.fit(learner, data, epsilon=1.0, seed=1, **asked)
    (parts,) = drawn
    assert len(set(parts.tolist())) > 1
    assert all(len(set(parts[data.persons == person].tolist())) == 1 for person in np.unique(data.persons))
    assert result.ledger.event.shared
    assert not dpviz.fit(learner, encoded(None), epsilon=1.0, seed=1, **asked).ledger.event.shared


def test_three_rows_of_a_person_and_three_persons_are_two_numbers():
    risk = dpviz.fit("pf-tree", encoded(3), epsilon=1.0, seed=1, leaves="honest", max_depth=4, depth=4).risk
    person, three = risk.for_rows(3).guesses(), risk.for_persons(3).guesses()
    assert 0.5 < risk.guesses() < three < person - 0.01 < risk.for_rows(3).for_persons(3).guesses()


def test_parts_and_splits_stay_bound_to_persons():
    for part in (*encoded().parts(0.3), *encoded().split(seed=0)):
        assert len(part.persons) == part.n_rows
        assert np.unique(part.persons, return_counts=True)[1].max() <= 2
    assert {part.rows_per_person for part in (*encoded().parts(0.3), *encoded().split(seed=0))} == {2}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"rows_per_person": 2}, ParameterError),
        ({"person": "who", "rows_per_person": 0}, ParameterError),
        ({"person": "who", "rows_per_person": True}, ParameterError),
        ({"person": "x", "rows_per_person": 2}, SchemaError),
        ({"person": "nobody", "rows_per_person": 2}, SchemaError),
    ],
)
def test_what_is_asked_about_persons_is_checked(given, error):
    with pytest.raises(error):
        dpviz.encode(dpviz.read_table(ROWS), SCHEMA, **given)


SECOND = 10**9
ODD: dict[str, Callable[[], Any]] = {
    "durations": lambda: pd.Series(np.array([10**9 * SECOND + k for k in range(5)], "timedelta64[ns]")),
    "durations of Python": lambda: pd.Series([timedelta(days=200_000, microseconds=k) for k in range(5)], dtype=object),
    "durations of Arrow": lambda: pa.array([10**9 * SECOND + k for k in range(5)], pa.duration("ns")),
    "times": lambda: pd.Series([time(1, 2, 3, k) for k in range(5)]),
    "times of Arrow": lambda: pa.array([10**9 + k for k in range(5)], pa.time64("us")),
    "decimals": lambda: pa.array([Decimal(10**60 + k) for k in range(5)], pa.decimal256(70, 2)),
    "large numbers": lambda: pa.array([2**64 - 1 - k for k in range(5)], pa.uint64()),
    "days": lambda: pd.Series([date(2024, 1, 1 + k) for k in range(5)]),
    "labels": lambda: pd.Series(pd.Categorical(list("abcde"))),
}


@pytest.mark.parametrize("kind", ODD)
def test_persons_of_odd_types_are_told_apart(kind):
    data = dpviz.encode(in_turn(ODD[kind]()), SCHEMA, person="who", rows_per_person=2)
    assert np.unique(data.persons, return_counts=True)[1].tolist() == [2] * 5


def test_persons_that_nobody_can_tell_apart_are_left_out():
    """Of what cannot be read nobody knows whether it is one person; what is read alike is one, with a person's few rows."""
    lost = pa.array([b"\xf0", b"\xf1", b"M", b"N", b"O"])  # the first two cannot be read
    alike = pa.array([10**13, 10**13 + 1, 0, 1000, 2000], pa.time64("ns"))  # the first two are read alike
    for cells, n_persons in ((lost, 3), (alike, 4)):
        data = dpviz.encode(in_turn(cells), SCHEMA, person="who", rows_per_person=2)
        persons, counts = np.unique(data.persons, return_counts=True)
        assert (len(persons), counts.max()) == (n_persons, 2)


def in_turn(persons: Any) -> pa.Table:
    """Three rows of each."""
    own = persons if isinstance(persons, pa.Array) else pa.Array.from_pandas(persons)
    return pa.table({"x": [1.0] * 15, "y": ["n"] * 15, "who": pa.concat_arrays([own] * 3)})


# --- a schema that says whose row it is

WHOSE = replace(SCHEMA, person="who")


def test_a_schema_with_persons_is_never_used_on_all_rows(tmp_path):
    (tmp_path / "rows.csv").write_bytes(ROWS)
    for schema, kept in ((WHOSE, 100), (replace(WHOSE, rows_per_person=3), 300)):
        assert dpviz.encode(ROWS, schema).n_rows == kept
        assert dpviz.fit("pf-tree", ROWS, epsilon=1, schema=schema, seed=0).unit.rows == schema.rows_per_person
        with dpviz.encode_large(tmp_path / "rows.csv", schema) as rows:
            assert rows.n_rows == kept
    with pytest.raises(ParameterError, match="3, as in the schema"):
        dpviz.encode(ROWS, schema, rows_per_person=2)
    with pytest.raises(ParameterError, match="rows were encoded"):
        dpviz.fit("pf-tree", dpviz.encode(ROWS, WHOSE), epsilon=1, schema=schema, seed=0)
    with pytest.raises(SchemaError, match=r"who: .*are not limited here"):
        dpviz.fit("pf-tree", dpviz.encode(ROWS, SCHEMA), epsilon=1, schema=WHOSE, seed=0)  # encoded without a limit


def test_it_needs_no_other_word_for_the_column_and_only_its_own_file_holds_its_name(tmp_path):
    data = dpviz.encode(ROWS, WHOSE, rows_per_person=2)
    assert (data.n_rows, data.rows_per_person, data.schema) == (200, 2, replace(SCHEMA, rows_per_person=2))
    result = dpviz.fit("pf-tree", data, epsilon=1, schema=WHOSE, seed=0)
    assert (result.unit.rows, '"who"' in result.to_json()) == (2, False)
    WHOSE.save(tmp_path / "s.json")
    assert dpviz.load_schema(tmp_path / "s.json") == WHOSE
    assert WHOSE.key != SCHEMA.key
    assert {"person", "rows_per_person"}.isdisjoint(SCHEMA.to_dict())
    several = replace(SCHEMA, rows_per_person=3)
    several.save(tmp_path / "k.json")
    assert dpviz.load_schema(tmp_path / "k.json") == several
    assert several.key != SCHEMA.key
    assert "person 'who'" in repr(WHOSE)


def test_without_such_a_column_the_number_of_rows_is_the_owners_word():
    data = dpviz.encode(ROWS, replace(SCHEMA, rows_per_person=3))
    assert (data.n_rows, data.rows_per_person) == (500, None)
    assert dpviz.fit("pf-tree", data, epsilon=1, seed=0).unit == Unit(3, is_bounded=False)
    assert data.identity == dpviz.encode(ROWS, SCHEMA).identity
    assert data.fingerprint != dpviz.encode(ROWS, SCHEMA).fingerprint


# --- several spellings of a person

ALIKE = [
    ("7", "7.0"), ("7", "007"), ("7", "+7"), ("7", "7."), ("7", "7,0"), ("7", "7e0"), ("7.0", "007"), ("0.5", ".5"), ("-0", "0"),
    ("1000", "1,000"), ("1000", "1e3"), ("Anna", "anna"), ("P7", "p7"), ("P 7", "P7"), ("7", "\uff17"), ("a\u200bb", "ab"),
    ("\ufb01n", "fin"), ("Weiß", "WEISS"), ("Νίκος", "ΝΊΚΟΣ"),
    ("-7", "−7"), ("P-7", "P\u20117"), ("1–2", "1-2"), ("O'Hara", "O’Hara"), ("٧", "7"), ("P७", "P7"),
    ("9007199254740993", "09007199254740993"), ("true", "True"), (7, "007"), (7.0, "7.00"), (True, "TRUE"),
]  # fmt: skip
APART = [
    ("7", "8"), ("7", "70"), ("P7", "P8"), ("1,000", "1"), ("0e12", "0e34"), ("9007199254740993", "9007199254740992"), ("a", "b"),
    ("1e400", "1e401"), ("7", "seven"), ("1-2", "1-3"), ("é", "e"), (7, 8.5), (2**60, 2**60 + 1), ("1.2.3", "1.2.30"),
    ("−7", "7"), ("P–7", "P7"), ("٧", "٨"),
]  # fmt: skip
ONE = [("7", " 7 "), ("é", "e\u0301"), (7, 7.0), (7, "7"), (np.int8(7), np.float32(7)), (Decimal("7.00"), 7), (True, np.True_)]


def of_two(pair: tuple[Any, Any], form: str) -> Any:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": ["n"] * 3, "who": pd.Series([pair[0], "other", pair[1]], dtype=object)})
    match form:
        case "frame":
            return frame
        case "category":
            return frame.astype({"who": "category"})
        case "Arrow":
            return pa.table({**frame[["x", "y"]], "who": pa.array(map(str, frame["who"]))})
        case _:
            return "\n".join(["x,y,who", *(f'{row.x},{row.y},"{row.who}"' for row in frame.itertuples())]).encode()


def forms_of(pair: tuple[Any, Any]) -> list[str]:
    return ["frame", *(["category", "Arrow", "CSV"] if all(isinstance(cell, str) for cell in pair) else [])]


def encoded_by(pair: tuple[Any, Any], form: str) -> dpviz.EncodedDataset:
    return dpviz.encode(of_two(pair, form), SCHEMA, person="who", rows_per_person=1)


@pytest.mark.slow
def test_spellings_that_look_like_one_person_are_refused_and_not_quoted():
    """In the same words whatever the cells are."""
    said = set()
    for pair in ALIKE:
        for form in forms_of(pair):
            with pytest.raises(SchemaError, match=r"^who: Several spellings in this column seem to be one person") as caught:
                encoded_by(pair, form)
            said.add(str(caught.value))
    assert len(said) == 1


@pytest.mark.slow
def test_different_persons_are_different_and_one_is_one_whatever_the_type_of_a_cell():
    for pair in APART:
        assert {form: encoded_by(pair, form).n_rows for form in forms_of(pair)} == dict.fromkeys(forms_of(pair), 3)
    for pair in ONE:
        forms = forms_of(pair)[: 1 if pair[0] is True else None]
        assert {form: encoded_by(pair, form).n_rows for form in forms} == dict.fromkeys(forms, 2)
