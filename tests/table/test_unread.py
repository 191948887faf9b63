"""What cannot be read as it is declared is named by kind, with how many cells and never one of them, wherever rows are read."""

from __future__ import annotations

import pickle
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.__main__ import main
from dpviz.errors import ReadingWarning
from dpviz.table.cells import UNREADABLE, number_of
from dpviz.table.dates import DateFeature
from dpviz.table.encode import encode_new, encode_part
from dpviz.table.kinds import text_kind_in_categories, text_kind_in_dates, text_kind_in_numbers
from dpviz.table.notes import Interface, Unread, note_text
from dpviz.table.raw import table_of
from tests.support.examples import examples
from tests.support.outcomes import doubts_of

#: A word of the kind -> texts of it that are no numbers.
BESIDE_NUMBERS = {
    "range": "5-6|5–6|5 to 6|5 bis 6|18..25|between 5 and 6|5 - 6 kg|1.5-2.5",
    "limit": "<5|< 0.1|>100|≥ 90|<=5|90+|over 89|85 or older|under 5 years|less than 5|unter 18|90 und älter|max. 5",
    "unit": "1e3kg|5 kg|5kg|3.2 mg/l|7 m²|12,5 km|40 years old|5 Std.|3rd|-3 dB|12A|80/120 mmHg",
    "other digits": "0x1F|0xa0",
    "for no value": "n/a?|n/a|N.A.|.|..|-|--|*|unknown|UNK|k.A.|keine Angabe|#N/A|#DIV/0!|missing|not done|<NA>|None",
    "percentage": "95%|95 %|0.5‰|12 percent|12 Prozent",
    "currency": "$1,037.50|12 €|12 EUR|USD 12|-$3.50|£5|1.000 Euro|5 kr",
    "brackets": "(12)|12-|(1,000)|( 5 )",
    "name of its month": "01-MAR-24|01MAR2024|1 March 2024|Mar 1, 2024|5. Mai 2024|March 2024",
    "a date or a time": "2024-03-01|1/2/2024|12:30|12:30:05|2024-03-01T10:00",
    "two ways": "1,311|1.234.5|1 23|1,2,3",
    "quotes": "'5|'5'|“5”",
    "several numbers": "120/80|5;6|1 x 2|(1, 2)",
    "remark": "~5|ca. 5|5*|5?|5 (est)|36.5 [1]|about 5",
    "beyond": "inf|-Infinity|1e999",
    "truth value": "true|YES|Ja|falsch",
    "letters and digits": "A12|n=5|No. 5|market 5|maybe 5",
    "other text": "twelve|Bern|three-five|august",
    "encoding lost": f"5{UNREADABLE}|{UNREADABLE}",
}
BESIDE_DATES = {
    "name of its month": "01-MAR-24|01MAR2024|1 March 2024",
    "another order": "01.03.2024|3/1/2024|13/01/2024",
    "digits alone": "20240301|45352|2024",
    "a part": "2024-03|03/2024|Q1 2024",
    "two digits": "24-03-01|1.3.24|2024-02-30|2024-13-40|2024 03 01",
    "for no value": "unknown|.|n/a?",
}
BESIDE_CATEGORIES = {
    "other capitals": "YES|No|Internal Medicine",
    "spelled otherwise": "42|1.5|1.500|0042",
    "blanks or signs": "internal-medicine|internal  medicine|yes!",
    "another word for a truth": "ja|1|TRUE",
    "for no value": "unknown|n/a?|.",
    "not declared": "surgery|43|zurich",
}
DECLARED = ("yes", "no", "internal medicine", "042", "1.50")


def test_every_text_has_its_kind_and_no_number_has_one_beside_numbers():
    for kinds, kind_of in [
        (BESIDE_NUMBERS, text_kind_in_numbers),
        (BESIDE_DATES, text_kind_in_dates("ymd")),
        (BESIDE_CATEGORIES, text_kind_in_categories(DECLARED)),
    ]:
        every = [(word, text) for word, texts in kinds.items() for text in texts.split("|")]
        assert {text: kind_of(text) for word, text in every if word not in kind_of(text)} == {}
    for text in "|".join(BESIDE_NUMBERS.values()).split("|"):
        assert number_of(text) != number_of(text)


@examples(200)
@given(st.text(st.sampled_from("0123456789.,-+<>%$€()/ :'\"eEkgnaJFM\ufffd§x²"), max_size=14))
def test_any_text_has_a_kind_that_quotes_nothing_of_it(text):
    for kind_of in (text_kind_in_numbers, text_kind_in_dates("dmy"), text_kind_in_categories(DECLARED)):
        kind = kind_of(text)
        assert kind
        assert len(text.strip()) < 3 or text not in kind


SCHEMA = dpviz.Schema(
    (
        dpviz.NumericFeature("x", 0, 10, missing_as=3, missing_codes=("refused",)),
        DateFeature("d", 1, 12, part="month"),
        dpviz.CategoricalFeature("c", ("Yes", "No", "o"), unknown_as="o"),
    ),
    dpviz.ClassTarget("y", ("n", "p")),
    n_public=20,
)
GOOD = ("1", "2024-03-01", "Yes", "n")
#: Place of a cell -> (cells, what the note of its column says).
ODD = {
    0: (("5-6", "<5", "<7", "1e3kg", "n/a?"), "'x': 5 cells", "limit (2)", "a range (1)", "behind (1)", "code (1)"),
    1: (("01-MAR-24", "3/1/24", "unknown"), "'d': 3 cells without a date", "name of its month (1)", "two digits", "code (1)"),
    2: (("YES", "yes", "maybe"), "'c': 2 cells without a declared text but like one", "other capitals (2)"),
    3: (("N", "q"), "'y': 2 cells without a declared text", "other capitals (1)", "not declared (1)"),
}
LINES = [",".join(GOOD)] * 6 + [
    ",".join((*GOOD[:place], cell, *GOOD[place + 1 :])) for place, (cells, *_) in ODD.items() for cell in cells
]
TEXT = "\n".join(["x,d,c,y", *LINES, "refused,2024-03-01,Yes,n", ",2024-03-01,Yes,n"]).encode()
FRAME = pd.DataFrame([line.split(",") for line in LINES], columns=list("xdcy"))


@pytest.mark.parametrize("rows", [TEXT, FRAME], ids=["file", "frame"])
def test_each_column_says_once_what_kinds_it_could_not_read(rows):
    said = doubts_of(lambda: dpviz.encode(rows, SCHEMA))
    assert len(said) == len(ODD)
    for note, (cells, *words) in zip(said, ODD.values(), strict=True):
        assert [word for word in words if word not in note] == []
        assert not any(f" {cell}" in note for cell in cells)
    starts = ["first in row 7:", "first in row 12:", "", "first in row 18:"]
    assert [start in note for start, note in zip(starts, said, strict=True)] == [True] * 4
    later = doubts_of(lambda: dpviz.encode(TEXT.replace(b"y\n", b"y\n1,2\n,,,\n", 1), SCHEMA))
    assert any("first in row 9:" in note for note in later), "records that are no rows count"


def test_the_command_line_and_the_page_say_it_in_the_same_words_also_of_rows_in_pieces(tmp_path, capsys, monkeypatch):
    (tmp_path / "rows.csv").write_bytes(TEXT)
    (tmp_path / "schema.json").write_text(SCHEMA.to_json())
    words = doubts_of(lambda: dpviz.encode(TEXT, SCHEMA))
    report = encode_part(table_of(TEXT), SCHEMA).report
    assert report is not None
    assert [note_text(note, Interface.SCREEN) for note in report.unread] == words
    model = dpviz.fit("pf-tree", TEXT, schema=SCHEMA, epsilon=1, seed=0)
    (tmp_path / "model.json").write_text(model.to_json())
    train = ["train", str(tmp_path / "rows.csv"), "--schema", str(tmp_path / "schema.json"), "--epsilon", "1", "--seed", "0"]
    predict = ["predict", str(tmp_path / "model.json"), str(tmp_path / "rows.csv")]
    for most in (1 << 30, 100):
        monkeypatch.setattr("dpviz.rows.files.MAX_BYTES", most)
        monkeypatch.setattr("dpviz.rows.text._CHUNK_SIZE", 150)
        for command, expected in ((train, words), (predict, words[:3])):
            assert main([*command, "--out", str(tmp_path / "out"), "--force"]) == 0
            printed = capsys.readouterr().err
            assert [printed.count(f"Warning: {note}") for note in expected] == [1] * len(expected), (most, command, printed)
    assert doubts_of(lambda: dpviz.encode_large(tmp_path / "rows.csv", SCHEMA)) == words


@pytest.mark.parametrize("size", [40, 150, 1 << 20])
def test_rows_in_pieces_are_said_by_their_records_whatever_became_of_those_before(tmp_path, monkeypatch, size):
    """Also of records that are no rows, and of rows that are dropped, in pieces before."""
    monkeypatch.setattr("dpviz.rows.text._CHUNK_SIZE", size)
    path, (header, *lines) = tmp_path / "rows.csv", TEXT.decode().splitlines()
    for record in (",".join(GOOD), "1,2", '"1', "", ",,,"):
        path.write_text("\n".join([header, *(text for line in lines for text in (record, line))]))
        whole, pieces = (
            [note for note in doubts_of(lambda read=read: read(path, SCHEMA)) if "first in row" in note]
            for read in (dpviz.encode, dpviz.encode_large)
        )
        assert len(whole) == len(ODD) - 1
        assert pieces == whole, record


@pytest.mark.parametrize(
    ("declared", "codes", "others"),
    [
        (dpviz.NumericFeature("x", 0, 120), (999, -9, -1, 777), (130, 121.5, -0.5, 99)),
        (dpviz.NumericFeature("x", -10, 10), (-99, 88, 9999), (-11, 12, 9, -9)),
        (dpviz.NumericFeature("x", 0, 120, missing_as=50, missing_codes=("999",)), (-9, 888), (999, 200)),
    ],
)
def test_codes_for_no_value_beyond_a_range_are_not_silently_its_end(declared, codes, others):
    schema = dpviz.Schema((declared,), dpviz.ClassTarget("y", ("n", "p")))

    def notes(cells):
        return doubts_of(lambda: dpviz.encode(pd.DataFrame({"x": cells, "y": "n"}), schema))

    assert notes([*others, 5.0]) == []
    assert [f"'x': {len(codes)} cells beyond the declared range" in note for note in notes([*codes, *others])] == [True]


def test_rows_to_predict_are_noted_without_a_warning_and_what_can_be_read_is_not_noted():
    assert doubts_of(lambda: encode_new(table_of(FRAME), SCHEMA)) == []
    assert [note.column for note in encode_new(table_of(FRAME), SCHEMA).unread] == ["x", "d", "c"]
    cells = ["5", "5.5", "5e1", "NA", "", "refused", "1000", "-0.5"]
    rows = "\n".join(["x,d,c,y", *(f"{cell},2024-03-01,Yes,n" for cell in cells)]).encode()
    assert doubts_of(lambda: dpviz.encode(rows, SCHEMA)) == []


def test_a_declared_number_in_another_spelling_than_cells_with_a_type_is_noted():
    """Of a number with a type only the shortest text counts: 1.0 is 1."""
    schema = dpviz.Schema((dpviz.CategoricalFeature("c", ("1.0", "2.0")),), dpviz.ClassTarget("y", ("n", "p")))
    said = doubts_of(lambda: dpviz.encode(pd.DataFrame({"c": [1.0, 2.0, 1.0], "y": ["n"] * 3}), schema))
    assert len(said) == 1
    assert "a declared number that is spelled otherwise (3)" in said[0]
    assert doubts_of(lambda: dpviz.encode(b"c,y\n1.0,n\n2.0,p\n", schema)) == []


def test_a_word_for_nobody_is_no_person():
    schema = dpviz.Schema((dpviz.CategoricalFeature("c", ("a",)),), dpviz.ClassTarget("y", ("n", "p")))
    for word in ("unknown", ".", "-", "n/a", "None", f"a{UNREADABLE}"):
        frame = pd.DataFrame({"c": ["a"] * 5, "y": ["n"] * 5, "who": [word, "anna", word, "ben", ""]})
        with pytest.warns(ReadingWarning, match="'who': 2 cells without a person"):
            data = dpviz.encode(frame, schema, person="who", rows_per_person=1)
        assert data.n_rows == 2


def test_notes_are_added_and_kept_with_a_report():
    kinds = (({"a range": 1}, 0), ({"a range": 2, "other": 1}, 1200))
    one, two = (Unread("x", Counter(kind), ("are odd", "Mend them."), first) for kind, first in kinds)
    assert one.with_more(two.after(34)) == "'x': 4 cells are odd, first in row 1,234: a range (3), other (1). Mend them."
    assert pickle.loads(pickle.dumps(two)).kinds == two.kinds
