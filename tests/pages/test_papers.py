import pytest

from dpviz.app.papers.screen import settings_of
from dpviz.evaluation.papers import stored
from dpviz.evaluation.papers.stored import papers
from dpviz.installation import bundled
from dpviz.table.role import DataRole
from tests.pages.opened import in_use, opened, said_in_boxes, texts


def test_the_page_begins_with_numbers_beside_numbers_in_few_words():
    test = opened("papers")
    said = texts(test).replace("\\", "")
    assert "printed numbers are found here" in said
    [chart] = test.get("plotly_chart")
    assert "printed numbers" in chart.proto.alt
    assert len(said.split()) < 100


def test_every_paper_has_its_items_theorems_and_what_is_not_here():
    for paper in papers():
        test = opened("papers", paper=paper.title.partition(" (")[0])
        assert len(test.selectbox(key=f"item-of-{paper.author}").options) == len(paper.here)
        labels = [box.label for box in test.expander]
        assert any(label.startswith("Theorems, lemmas and corollaries") for label in labels)
        assert any(label.startswith("Tables and figures without a picture") for label in labels)


def test_a_file_that_cannot_be_read_is_said(monkeypatch):
    monkeypatch.setattr(stored, "FILE", "data/loans.schema.json")
    papers.cache_clear()
    assert "cannot be read" in dict(said_in_boxes(opened("papers")))["error"]
    monkeypatch.undo()
    papers.cache_clear()
    assert bundled(stored.FILE).is_file()


@pytest.mark.parametrize("place", ["compare", "robustness", "budget"])
@pytest.mark.slow
def test_an_experiment_is_what_its_page_then_asks(place):
    asked = next(
        item.experiment for paper in papers() for item in paper.here if item.experiment and item.experiment.place == place
    )
    loaded = in_use(DataRole.SIMULATED)
    wanted = settings_of(asked, loaded)
    test = opened(place)
    for key, value in wanted.items():
        test.session_state[key] = value
    test.run()
    assert not test.exception
    for key, value in wanted.items():
        assert test.session_state[key] == value
