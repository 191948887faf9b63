from __future__ import annotations

import re

import pytest

from dpviz.figures.wording import capital, chance, counted, percent
from tests.conftest import ROOT
from tests.number_forms import number_faults, strings_of
from tests.pages_of_docs import LONGEST_SENTENCE, sentences

#: SVG, SQL, Python and regular expressions.
OTHER_CODE = re.compile(r"<svg |\bSELECT |\bimport |\\[wd]")
DOCUMENTS = (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("dpviz/**/*.md"), *ROOT.glob("data/**/*.md"))


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0%"),
        (1, "100%"),
        (0.37, "37%"),
        (0.029, "2.9%"),
        (4e-4, "under 0.1%"),
        (0.9999, "over 99.9%"),
        (0.995, "99.5%"),
    ],
)
def test_percents_never_say_never_or_always_wrongly(share, words):
    assert chance(share) == words


def test_shares_have_a_tenth_only_where_there_is_one():
    assert [percent(share) for share in (0.9, 0.125, 1)] == ["90%", "12.5%", "100%"]


def test_one_row_is_a_row_and_all_others_are_rows():
    assert [counted(number, "row") for number in (0, 1, 12_000)] == ["0 rows", "1 row", "12,000 rows"]


def test_epsilon_keeps_its_letter_at_the_start_of_a_sentence():
    assert [capital(text) for text in ("", "at ε = 1", "ε = 1")] == ["", "At ε = 1", "ε = 1"]


def test_everything_written_has_one_form_for_numbers():
    """No text of the package, its pages or its documents writes a percentage, or a range, in another form."""
    found = {
        f"{path.relative_to(ROOT)}: {fault}"
        for path in (*ROOT.glob("dpviz/**/*.py"), *ROOT.glob("pages/*.py"), *ROOT.glob("benchmarks/*.py"), *DOCUMENTS)
        for text in (strings_of(path) if path.suffix == ".py" else [path.read_text(encoding="utf-8")])
        for fault in number_faults(text)
    }
    assert found == set()


def test_no_sentence_in_the_code_is_longer_than_thirty_words():
    """Titles, captions, tooltips, errors: every text in a file of Python but its docstrings and code in other languages."""
    found = {
        f"{path.relative_to(ROOT)}: {said}"
        for path in (*ROOT.glob("dpviz/**/*.py"), *ROOT.glob("pages/*.py"))
        for text in strings_of(path, docstrings=False)
        if len(text.split()) > LONGEST_SENTENCE and not OTHER_CODE.search(text)
        for said in sentences(text)
        if len(said.split()) > LONGEST_SENTENCE
    }
    assert found == set()


def test_other_forms_would_be_noticed(tmp_path):
    assert number_faults("84.8% of 12,000 rows, 80.1% to 82.5%, 2020-01-05, 10 % 3") == []
    for fault in ("about 80 %", "80\u00a0% of", "5–95%", "from 0.1–1", "1'000 rows", "12 000 rows"):
        assert len(number_faults(f"Here {fault} stands.")) == 1
    source = tmp_path / "page.py"
    source.write_text('share = 7 % 4\nsaid = f"{share:.1f} %"\n', encoding="utf-8")
    assert [fault for text in strings_of(source) for fault in number_faults(text)] == ["7 %"]
