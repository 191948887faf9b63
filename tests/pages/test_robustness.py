"""The Robustness page: verdict, curves and tables; private rows ask first; jobs, their end and what is stale."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.prose import sections
from dpviz.app.state import DataInUse
from dpviz.charts.robustness import Kind
from dpviz.errors import DpvizError
from dpviz.evaluation.attacks import ATTACKS
from dpviz.learners import DEFAULT, get_learner
from dpviz.table.encode import encode
from dpviz.table.role import DataRole
from tests.support.curves import PROVED
from tests.support.pages import after_work, alerts, bundled_clinic, button, click, in_use, job_of, open_page, page_text

CURVES, ATTACK = "robustness", "robustness-attack"
#: One curve of few draws.
LITTLE: dict[str, Any] = {"robust-draws": "100", "robust-epsilons": ["0.1"], "robust-learners": [get_learner(DEFAULT).title]}


def named(names: list[str]) -> list[str]:
    return [get_learner(name).title for name in names]


def page(role: DataRole = DataRole.SIMULATED, *names: str, **url: str | list[str]) -> AppTest:
    settings = {"learners": named(list(names or (DEFAULT,)))} | url
    return open_page("robustness", role, **LITTLE | {f"robust-{key}": value for key, value in settings.items()})  # type: ignore[arg-type]


def finished(test: AppTest, slot: str = CURVES) -> AppTest:
    assert job_of(test, slot) is not None
    return after_work(test, slot)


@pytest.mark.slow
def test_every_kind_of_curve_is_explained_below_the_picture_where_it_is_drawn() -> None:
    assert sections("robustness").keys() >= set(get_args(Kind))
    drawn = [item.value for item in finished(page()).caption if item.value.startswith("Heavy line")]
    assert len(drawn) == 1
    assert "Grey area" in drawn[0]
    assert not any(mark in drawn[0] for mark in ("Steps", "Grey dots", "Open grey circle", "Dots with limits"))


@pytest.mark.slow
def test_curves_of_rows_anyone_may_see_begin_by_themselves_give_a_verdict_and_are_attacked():
    test = finished(page())
    assert "withstands up to" in said(test)
    assert "ε = 0.1 (add/remove one row)" in said(test)
    assert (len(test.get("plotly_chart")), len(test.dataframe)) == (1, 1)
    assert test.get("plotly_chart")[0].proto.alt
    assert "not publish" not in said(test), "that is for private rows"
    finished(click(test, "Measure (1 curves)"), ATTACK)
    assert set(test.dataframe[1].value.attack) == {ATTACKS["leaf-flips"].title}
    job = job_of(test, CURVES)
    test.selectbox(key="robust-goal").select("an accuracy of my own").run()
    test.number_input(key="robust-wanted").set_value(99.0).run()
    assert "above the 99.0% you asked for" in said(test)
    assert job_of(test, CURVES) is job
    test.select_slider(key="robust-draws").set_value(10_000).run()  # much work waits for the button
    assert "The curves below are stale" in said(test)
    assert len(test.get("plotly_chart")) == 1
    assert button(test, "Compute 1 of 1 curves (up to 10,000 fits)")


@pytest.mark.slow
def test_curves_of_a_bundled_sample_are_there_for_the_next_session_and_for_no_other_rows_of_the_same_values():
    first, second = after_work(session_on(bundled_clinic()), CURVES), session_on(bundled_clinic())
    assert job_of(first, CURVES) is not None
    assert job_of(second, CURVES) is None
    drawn, again = (test.get("plotly_chart")[0].proto.spec for test in (first, second))
    assert drawn == again
    encoded_anew = encode(bundled_clinic().table, bundled_clinic().schema)
    for rows in (replace(bundled_clinic(), sample=None), replace(bundled_clinic(), data=encoded_anew)):
        assert job_of(session_on(rows), CURVES) is not None
    private = session_on(replace(bundled_clinic(), role=DataRole.PRIVATE))
    assert job_of(private, CURVES) is None
    assert not private.get("plotly_chart")


def said(test: AppTest) -> str:
    return "\n".join((*(header.value for header in test.header), page_text(test)))


def session_on(rows: DataInUse) -> AppTest:
    return open_page("robustness", rows.role, rows=rows, **LITTLE)


@pytest.mark.slow
def test_nothing_is_computed_on_private_rows_before_it_is_asked_for():
    test = page(DataRole.PRIVATE)
    assert job_of(test, CURVES) is None
    assert not test.get("plotly_chart")
    assert "keep it to yourself" in said(test)
    button(test, "Compute 1 of 1 curves").click().run()
    finished(test)
    assert len(test.get("plotly_chart")) == 1
    assert "not to be published" in said(test)


@pytest.mark.slow
def test_every_setting_has_curves_of_its_own_and_rows_of_a_person_are_counted_once(monkeypatch):
    asked, table = [], replace(PROVED.table, rows_per_person=2)

    def certify(request, splits, **how):
        asked.append((request.arguments, len(splits), how["draws"]))
        return table

    monkeypatch.setattr("dpviz.evaluation.poisoning.certify", certify)
    rows = in_use(DataRole.SIMULATED)
    test = after_work(open_page("robustness", rows=rows, **LITTLE), CURVES)
    n_train = rows.data.split(0.2, seed=0)[0].n_rows
    assert f"poisoned persons of {n_train // 2:,} (" in said(test)
    changes = {"depth": 2, "splits": 3, "draws": 300}
    for name, value in changes.items():
        test.select_slider(key=f"robust-{name}").set_value(value)
        after_work(test.run(), CURVES)
    test.multiselect(key="robust-epsilons").set_value([0.2])
    after_work(test.run(), CURVES)
    assert [(about["depth"], n_splits, draws, about["epsilon"]) for about, n_splits, draws in asked] == [
        ("auto", 1, 100, 0.1),
        (2, 1, 100, 0.1),
        (2, 3, 100, 0.1),
        (2, 3, 300, 0.1),
        (2, 3, 300, 0.2),
    ]


@pytest.mark.slow
def test_a_violated_claim_is_struck_through_and_gives_its_reason():
    test = finished(page(DataRole.SIMULATED, "privatree", epsilons=["5"]))
    assert "~~published: up to" in said(test)
    assert "no guarantee. Its privacy claim is violated." in said(test)
    assert "No curve here is proved" in said(test)


def test_every_error_is_said_in_a_box(monkeypatch):
    def refuse(*args, **given):
        raise DpvizError("Certifying failed.", remedy="Try again.")

    monkeypatch.setattr("dpviz.evaluation.poisoning.certify", refuse)
    test = finished(page())
    assert [kind for kind, text in alerts(test) if "Certifying failed" in text.replace("\\", "")] == ["error"]
