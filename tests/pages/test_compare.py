"""The Compare page: a first look by itself, the whole when asked, what is there stays, and nothing private unasked."""

import json
from dataclasses import fields, replace
from threading import Event

import pytest

from dpviz.app.background import Job, Pool
from dpviz.app.compare import CompareRequest, first_look_at, fits_of
from dpviz.charts.compare import line_styles
from dpviz.evaluation import comparison, sweep
from dpviz.evaluation.sweep import KEYS, SweepGrid, as_frame, columns_of
from dpviz.learners import get_learner
from dpviz.learners.recommend import which_learner
from dpviz.table.role import DataRole
from tests.support.pages import (
    after_work,
    alerts,
    bundled_clinic,
    button,
    buttons,
    click,
    in_use,
    job_of,
    open_page,
    page_text,
    texts,
    values_in,
)
from tests.support.paths import SOON

SLOT, FIRST_LOOK = "compare", 100
#: A small question, as a link holds it; and one of more fits than are begun unasked.
SMALL = {"draws": "3", "splits": "1", "steps": "1", "epsilons": ["0.1", "1"]}
LARGE = {"draws": "20", "splits": "5", "steps": "1, 3", "epsilons": ["0.1", "1"]}


def test_fits_of_private_rows_are_others_than_of_the_same_rows_in_public_and_a_first_look_has_the_last_place():
    grid = SweepGrid(("pf-tree",), tuple(0.1 * step for step in range(1, 41)), repeats=20)
    asked, rows = CompareRequest("epsilon", "accuracy", grid, 100, "asked"), bundled_clinic()
    whole, private = (fits_of(asked, loaded) for loaded in (rows, replace(rows, role=DataRole.PRIVATE)))
    assert (whole.shared, private.shared) == (True, False)
    assert not set(whole.keys) & set(private.keys)
    looked_at = set(first_look_at(asked, whole).keys)
    assert looked_at < set(whole.keys)
    assert {key[1 + KEYS.index("epsilon")] for key in looked_at} >= {grid.epsilons[0], grid.epsilons[-1]}
    assert len(looked_at) <= FIRST_LOOK


def test_no_two_questions_share_a_fit_but_for_more_draws_of_the_same():
    grid, rows = SweepGrid(("pf-tree",), (1.0,), (4,), (100,)), bundled_clinic()

    def keys(changed):
        return set(fits_of(CompareRequest("epsilon", "accuracy", changed, 100, "asked"), rows).keys)

    more_draws = replace(grid, repeats=grid.repeats + 1)
    assert keys(grid) < keys(more_draws)
    others = {
        "learners": ("privatree",),
        "epsilons": (2.0,),
        "max_depths": (3,),
        "n_rows": (200,),
        "folds": 3,
        "seed": 1,
        "depth": "exact",
        "params": {"pf-tree": {"lookahead": 1}},
    }
    assert {*others, "repeats"} == {field.name for field in fields(grid)}
    for name, value in others.items():
        assert not keys(grid) & keys(replace(grid, **{name: value})), name


def titles(*names):
    return [get_learner(name).title for name in names]


def page(role=DataRole.SIMULATED, *, names=("pf-tree", "cart"), rows=None, schema=None, agreed=True, **url):
    about = {"schema": schema, "rows": rows, "agreed": agreed, "learners": titles(*names)}
    return open_page("compare", role, **about, **(SMALL | url))


def filled(*given, **more):
    return after_work(page(*given, **more), SLOT)


def finished(test):
    return after_work(test, SLOT)


def frame_of(test):
    return as_frame(values_in(test, SLOT))


def charts(test):
    return [json.loads(chart.proto.spec) for chart in test.get("plotly_chart")]


def lines(test):
    """Name -> colour of every line of the curves."""
    return {trace["name"]: trace["line"]["color"] for trace in charts(test)[0]["data"] if trace.get("name")}


def toolbars(test):
    """The settings of the toolbar of every chart."""
    return [json.loads(chart.proto.config) for chart in test.get("plotly_chart")]


@pytest.mark.parametrize("question", [SMALL, LARGE], ids=["all of it", "a first look"])
@pytest.mark.slow
def test_curves_of_a_bundled_sample_are_there_for_the_next_session_and_for_no_other_rows_like_them(question):
    first, second = filled(rows=bundled_clinic(), **question), page(rows=bundled_clinic(), **question)
    assert job_of(first, SLOT) is not None
    assert job_of(second, SLOT) is None
    assert charts(first) == charts(second)
    assert buttons(second) == buttons(first)
    assert ("A first look: 32 of 305 fits" in texts(second)) == (question is LARGE)
    assert job_of(page(rows=replace(bundled_clinic(), sample=None), **question), SLOT) is not None
    private = page(DataRole.PRIVATE, rows=replace(bundled_clinic(), role=DataRole.PRIVATE), **question)
    assert job_of(private, SLOT) is None
    assert not charts(private)


@pytest.mark.slow
@pytest.mark.parametrize("axis", ["ε asked for", "right guesses of 100"])
def test_a_session_draws_the_points_there_are_while_it_waits_in_line_behind_the_session_that_found_them(axis, monkeypatch):
    def two_points(grid, data, batches, *, stop, workers=None):
        yield from original(grid, data, batches[:2], stop=stop)
        there.set()
        assert go.wait(SOON)

    original, there, go = sweep.run_batches, Event(), Event()
    monkeypatch.setattr(sweep, "run_batches", two_points)
    sessions = []
    for _ in range(2):
        sessions.append(page(rows=bundled_clinic(), names=("pf-tree",), **{"x-axis": axis}))
        assert there.wait(SOON)
    assert job_of(sessions[1], SLOT).began is None
    assert charts(sessions[1])
    assert "No algorithm whose claim holds" not in texts(sessions[1])
    go.set()


@pytest.mark.slow
def test_every_change_has_a_first_look_of_at_most_150_fits_and_keeps_colours(monkeypatch):
    """Settings of all kinds, one after the other; what was asked for in whole is not worked on unasked."""
    begun, original = [], sweep.run_batches

    def counted(grid, data, batches, **how):
        for rows in original(grid, data, batches, **how):
            begun.append(len(rows))
            yield rows

    monkeypatch.setattr(sweep, "run_batches", counted)
    test = finished(open_page("compare", learners=titles("pf-tree", "diffprivlib-tree"), draws="20", epsilons=["0.1", "1"]))
    colours = lines(test)
    changes = [
        lambda: test.multiselect(key="learners").set_value(["pf-tree", "diffprivlib-tree", "privatree-corrected"]),
        lambda: test.select_slider(key="splits").set_value(3),
        lambda: test.segmented_control(key="view").set_value("over number of rows"),
        lambda: test.segmented_control(key="view").set_value("over ε"),
        lambda: test.select_slider(key="epsilons").set_value((0.001, 10.0)),
    ]
    for change in changes:
        begun.clear()
        change().run()
        finished(test)
        assert sum(begun) <= FIRST_LOOK
        assert "settings before" not in texts(test)
        assert colours.items() <= lines(test).items()
    assert button(test, "Refine")


def test_what_is_recommended_for_these_rows_is_compared_at_first(monkeypatch):
    monkeypatch.setattr(sweep, "run_batches", lambda *asked, **how: iter(()))
    test = open_page("compare", DataRole.SIMULATED)
    best = which_learner(in_use(DataRole.SIMULATED).schema, epsilon=1.0).learner
    assert {"pf-tree", best, "cart"} <= {*test.multiselect(key="learners").value}


@pytest.mark.slow
def test_a_colour_does_not_depend_on_which_curve_is_there_first(monkeypatch):
    whole, names = comparison.curves, ("diffprivlib-tree", "privatree", "privatree-corrected")
    monkeypatch.setattr(comparison, "curves", lambda *asked: [curve for curve in whole(*asked) if curve.learner == "privatree"])
    test = filled(names=names, draws="2")
    monkeypatch.setattr(comparison, "curves", whole)
    lone, all_lines = lines(test), lines(test.run())
    assert len(lone) < len(all_lines)
    for style in line_styles(dict.fromkeys(names, "holds")).values():
        assert next(colour for title, colour in all_lines.items() if title.startswith(style.title)) == style.colour


@pytest.mark.slow
@pytest.mark.parametrize(("view", "places"), [("over depth", 3), ("over number of rows", 6)])
def test_other_views_have_curves_of_their_own(view, places):
    test = filled(names=("pf-tree",), view=view, deepest="3", **{"one-epsilon": "1.0"})
    assert "PF-tree" in lines(test)
    assert len(test.dataframe[0].value) == places
    assert "at ε = 1 (add/remove one row), PF-tree reaches" in page_text(test)


@pytest.mark.parametrize("n_public", [None, 1000])
def test_rows_of_a_private_table_are_taken_from_the_public_count_alone(n_public):
    schema = replace(in_use(DataRole.PRIVATE).schema, n_public=n_public)
    test = page(DataRole.PRIVATE, schema=schema, names=("bdpt",), view="over number of rows")
    assert ("over number of rows" in test.segmented_control(key="view").options) == (n_public is not None)
    # a place each of 25, 50, 100, 200 and 400 rows, and of all
    assert button(test, "Compute ").label == ("Compute 18 fits" if n_public else "Compute 6 fits")


@pytest.mark.slow
def test_curves_come_by_themselves_with_words_and_tables_and_what_is_there_is_not_computed_again():
    test = filled()
    assert len(frame_of(test)) == 2 * 3 + 1
    assert tuple(frame_of(test).columns) == columns_of(())
    (curves,) = test.get("plotly_chart")
    assert "At ε = 1 (add/remove one row), PF-tree" in curves.proto.alt
    (beaten,) = [found.proto.body for found in test.get("html") if "probability that it is beaten" in found.proto.body]
    assert get_learner("privatree").title in beaten or get_learner("cart").title in beaten
    assert len(test.dataframe) == 1
    assert all(len(table.value) for table in test.dataframe)
    assert "add/remove one row" in " ".join(test.dataframe[0].value.columns)
    assert all(config["modeBarButtons"] == [["toImage"]] for config in toolbars(test))
    assert len(test.get("download_button")) == 1
    assert "_compare_secret" not in test.session_state
    before = {json.dumps(row) for row in values_in(test, SLOT)}
    for draws in (5, 3):
        test.select_slider(key="draws").set_value(draws).run()
    assert not [label for label in buttons(test) if label.startswith("Compute")]
    assert "settings before" not in texts(test)
    test.multiselect(key="learners").set_value(["pf-tree", "cart", "privatree-star"]).run()
    found = {json.dumps(row) for row in values_in(finished(test), SLOT)}
    assert len(found - before) >= 6
    assert before <= found
    test.multiselect(key="learners").set_value([]).run()
    assert "info" in dict(alerts(test))


@pytest.mark.slow
def test_an_algorithm_that_cannot_be_trained_is_left_out_with_the_reason():
    schema = replace(in_use(DataRole.SIMULATED).schema, n_public=None)
    test = finished(page(DataRole.SIMULATED, schema=schema, names=("cart", "s-gbdt", "pf-tree", "bdpt")))
    first, second = (words for kind, words in alerts(test) if kind == "error")
    for name, words in (("gbdt", first), ("tree", second)):
        assert f"{name}\\' needs a public row count" in words
        assert "What to do" in words
        assert "The others are compared." in words
    assert set(frame_of(test).learner) == {"cart", "bdpt"}
    (problem,) = (words for kind, words in alerts(page(schema=schema, names=("pf-tree",))) if kind == "error")
    assert "The others" not in problem


@pytest.mark.slow
def test_a_variant_is_a_line_of_its_own_in_the_address_and_what_is_none_is_said():
    typed = ["PF-tree (lookahead=1)", "PF-tree (lookahead=7)", "PF-tree (look=1)", "nothing", "dp-mean"]
    again = finished(open_page("compare", learners=typed, **SMALL))
    assert set(frame_of(again).learner) == {"pf-tree(lookahead=1)"}
    assert all("The others are compared" in found.value for found in again.error)
    assert len(again.error) == len(typed) - 1


def test_an_algorithm_that_the_address_alone_knows_is_said_with_those_there_are_as_on_screen():
    said = page_text(open_page("compare", learners="nothing"))
    assert "There is no algorithm for this target called 'nothing'" in said
    assert "Known: PF-tree" in said
    assert "The others" not in said


@pytest.mark.slow
def test_boxes_and_one_band_are_drawn_where_there_are_enough_fits():
    test = filled(names=("pf-tree", "diffprivlib-tree"), draws="20")
    assert [trace["type"] for trace in charts(test)[1]["data"]] == ["box", "box"]
    assert sum(trace.get("fill") == "toself" for trace in charts(test)[0]["data"]) == 1
    assert "Band: nine of ten outcomes, of 20 fits or more" in texts(test)


@pytest.mark.slow
@pytest.mark.parametrize("axis", ["", "right guesses of 100"])
def test_the_axis_that_was_asked_for_stays_and_a_violated_claim_is_named(axis):
    def title():
        return charts(test)[0]["layout"]["xaxis"]["title"]["text"] if charts(test) else None  # a busy machine has no point yet

    test = page(names=("pf-tree", "privatree-corrected", "cart"), **({"x-axis": axis} if axis else {}))
    at_first = title()
    test = finished(test)
    assert at_first in (None, title())
    assert (title() == "ε asked for (add/remove one row)") == (not axis)
    assert "PrivaTree (corrected), claim violated" in lines(test)
    words = {"Lines: median": True, "Dashed: the claim": True, "Where nothing bounds": bool(axis), "Band: ": False}
    assert {said: said in texts(test) for said in words} == words, "only what is drawn is explained"
    for place in [box for box in test.select_slider if box.key == "place-guesses"]:
        assert "PF-tree at ε = 0.1 (add/remove one row):" in page_text(test)  # at equal risk each has its own
        place.set_value(70).run()
        assert "Where at most 70 of 100" in test.get("plotly_chart")[0].proto.alt


@pytest.mark.slow
def test_who_gives_no_probabilities_is_not_compared_by_a_measure_of_them():
    test = filled(names=("pf-tree", "privatree"), measure="AUC")
    assert len(lines(test)) == 2  # with guessing
    assert "at least two algorithms that have AUC" in texts(test)


@pytest.mark.slow
def test_a_first_look_is_refined_when_asked_and_a_stop_keeps_what_is_done(monkeypatch):
    def half(grid, data, batches, *, stop, workers=1):
        yield from original(grid, data, [] if stop() else batches[:1], workers=workers)
        job_of(test, SLOT).stop()

    original = sweep.run_batches
    test = filled(**LARGE)
    assert "A first look: 32 of 305 fits" in texts(test)
    assert not [words for words in ("Band: ", "Dashed: ") if words in texts(test)], "neither is drawn"
    monkeypatch.setattr(sweep, "run_batches", half)
    test.run()
    finished(click(test, "Refine: 273 fits"))
    assert 32 <= len(frame_of(test)) < 305
    assert "Stopped: " in texts(test)
    monkeypatch.setattr(sweep, "run_batches", original)
    test.run()
    finished(click(test, "Go on with "))
    assert len(frame_of(test)) == 305
    assert not [words for words in ("Stopped", "first look") if words in texts(test)]


@pytest.mark.slow
def test_private_rows_are_never_computed_on_unasked_and_made_up_ones_are_said_to_be(monkeypatch):
    assert "On made\\-up rows" in texts(filled(DataRole.PRIVATE, agreed=False))
    test = page(DataRole.PRIVATE)
    assert job_of(test, SLOT) is None
    assert test.session_state["_compare_secret"] > 2**32
    with monkeypatch.context() as patch:
        patch.setattr(Pool, "submit", lambda self, lane, work: Job(work))  # waits in line for ever
        click(test, "Compute 6 fits")  # the one without noise is not compared with
        assert "waiting for other work on this server" in test.get("progress")[0].proto.text
        click(test, "Cancel")
    test = finished(click(test, "Compute 6 fits"))
    assert "keep it to yourself" in texts(test)
    assert "On made" not in texts(test)
    assert not test.get("download_button")
    assert [config["displayModeBar"] for config in toolbars(test)] == [False] * len(charts(test)) != []
