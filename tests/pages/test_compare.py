import json
from dataclasses import replace
from threading import Event

import pytest

from dpviz.app.compare import run as compare_run
from dpviz.app.compare.ask import epsilons_between, row_sizes
from dpviz.app.work import tasks
from dpviz.app.work.pool import Job, Pool
from dpviz.app.work.session import poll
from dpviz.evaluation.compare.grid import columns_of
from dpviz.evaluation.compare.sweep import as_frame
from dpviz.learners import get_learner
from dpviz.learners.which import which_learner
from dpviz.table.role import DataRole
from tests.support.pages import after_work, bundled, in_use, job_of, opened, said_in_boxes, texts, values_in

#: A small question, as a link holds it.
SMALL = {"draws": "3", "splits": "1", "steps": "1", "epsilons": ["0.1", "1"]}


def titles(*names):
    return [get_learner(name).title for name in names]


def page(role=DataRole.SIMULATED, *, schema=None, names=("pf-tree", "cart"), **url):
    return opened("compare", role, schema=schema, learners=titles(*names), **(SMALL | url))


def finished(test):
    """The page once its work is done."""
    return after_work(test, compare_run.SLOT)


def filled(*given, **more):
    return finished(page(*given, **more))


def button(test, label):
    return next(found for found in test.button if found.label.startswith(label))


def frame_of(test):
    return as_frame(values_in(test, compare_run.SLOT))


def test_the_first_curves_of_rows_anyone_may_see_come_by_themselves():
    test = filled()
    assert len(frame_of(test)) == 2 * 3 + 1
    assert len(test.get("plotly_chart")) == 2
    assert len(test.dataframe) == 2
    assert "What a single draw may give" not in [found.value for found in test.header]  # three fits have no spread
    assert not [found for found in test.button if found.label.startswith("Compute")]


@pytest.mark.slow
def test_a_variant_is_a_line_of_its_own_in_the_link_and_in_python():
    test = page(names=("pf-tree",))
    test.selectbox(key="variant-pf-tree").set_value("lookahead").run()
    test.selectbox(key="variant-pf-tree.lookahead").set_value("1").run()
    button(test, "Add ").click().run()
    finished(test)
    assert set(frame_of(test).learner) == {"pf-tree", "pf-tree(lookahead=1)"}
    assert test.multiselect(key="learners").value == ["pf-tree", "PF-tree (lookahead=1)"]
    again = finished(opened("compare", learners=["PF-tree (lookahead=1)"], **SMALL))
    assert set(frame_of(again).learner) == {"pf-tree(lookahead=1)"}


@pytest.mark.parametrize("typed", ["PF-tree (lookahead=7)", "PF-tree (look=1)", "nothing", "dp-mean"])
def test_what_is_no_variant_is_said_and_the_others_are_compared(typed):
    test = finished(opened("compare", learners=["PF-tree", typed], **SMALL))
    assert len(test.error) == 1
    assert set(frame_of(test).learner) == {"pf-tree"}


@pytest.mark.slow
def test_a_large_comparison_takes_a_first_look_and_asks_before_it_refines(monkeypatch):
    monkeypatch.setattr(compare_run, "FIRST_LOOK", 3)
    test = filled()
    assert len(frame_of(test)) == 2 * 1 + 1
    assert "A first look: 3 of 7 fits" in texts(test)
    assert "settings before" not in texts(test)
    assert "No spread is drawn from fewer than 20 fits" in texts(test)
    button(test, "Refine: 4 fits").click().run()
    test = finished(test)
    assert len(frame_of(test)) == 2 * 3 + 1
    assert "first look" not in texts(test)


@pytest.mark.parametrize("most_whole", [3, 300], ids=["a first look", "all of it"])
@pytest.mark.slow
def test_curves_of_a_bundled_sample_are_there_for_the_next_session_and_for_no_other_rows_like_them(monkeypatch, most_whole):
    def on(rows):
        return opened("compare", rows.role, rows=rows, learners=titles("pf-tree", "cart"), **SMALL)

    monkeypatch.setattr(compare_run, "FIRST_LOOK", most_whole)
    first, second = finished(on(bundled())), on(bundled())
    assert job_of(first, compare_run.SLOT) is not None
    assert job_of(second, compare_run.SLOT) is None
    drawn, again = (test.get("plotly_chart")[0].proto.spec for test in (first, second))
    assert drawn == again
    assert [found.label for found in second.button] == [found.label for found in first.button]  # with the time it takes
    assert ("A first look: 3 of 7 fits" in texts(second)) == (most_whole == 3)
    assert job_of(on(replace(bundled(), sample=None)), compare_run.SLOT) is not None
    private = on(replace(bundled(), role=DataRole.PRIVATE))
    assert job_of(private, compare_run.SLOT) is None
    assert not private.get("plotly_chart")


def test_a_session_draws_the_points_there_are_while_it_waits_in_line_behind_the_session_that_found_them(monkeypatch, own_threads):
    def two_points(grid, data, batches, *, stop, workers=None):
        yield from original(grid, data, batches[:2], stop=stop)
        there.set()
        assert go.wait(60)

    original, there, go = compare_run.run_batches, Event(), Event()
    monkeypatch.setattr(compare_run, "run_batches", two_points)
    sessions = []
    for _ in range(2):
        sessions.append(opened("compare", rows=bundled(), learners=titles("pf-tree"), **SMALL))
        assert there.wait(60)
    assert own_threads.n_waiting("bulk") == 1
    assert sessions[1].get("plotly_chart")
    go.set()


@pytest.mark.slow
def test_the_spread_of_one_learner_is_drawn_where_there_are_enough_fits():
    test = filled(names=("pf-tree", "diffprivlib-tree"), draws="20")
    assert test.selectbox(key="banded").value == "pf-tree"

    def bands():
        return [trace for trace in json.loads(test.get("plotly_chart")[0].proto.spec)["data"] if trace.get("fill") == "toself"]

    assert len(bands()) == 1
    test.selectbox(key="banded").set_value("").run()
    assert not bands()


def test_every_picture_has_words_and_a_table():
    test = filled()
    curves, differences = test.get("plotly_chart")
    where = "At ε = 1 (add/remove one row), PF-tree"
    said = f"accuracy of 2 algorithms. {where}"
    assert said in curves.proto.alt
    assert "in points" in differences.proto.alt
    assert json.loads(curves.proto.spec)["data"]
    assert all(len(table.value) for table in test.dataframe)
    assert "add/remove one row" in " ".join(test.dataframe[0].value.columns)


@pytest.mark.slow
def test_what_a_box_is_stands_before_the_boxes():
    test = filled(draws="20")
    kinds = [element.type for element in test.main]
    said = [str(getattr(element, "value", "")) for element in test.main]
    explained = next(place for place, text in enumerate(said) if "A point is one fit" in text)
    charts = [place for place, kind in enumerate(kinds) if kind == "plotly_chart"]
    assert charts[0] < explained < charts[1]
    boxes = json.loads(test.get("plotly_chart")[1].proto.spec)["data"]
    assert [trace["type"] for trace in boxes] == ["box", "box"]


def toolbars(test):
    """The settings of the toolbar of every chart."""
    return [json.loads(chart.proto.config) for chart in test.get("plotly_chart")]


@pytest.mark.parametrize("role", [DataRole.SIMULATED, DataRole.PUBLIC])
def test_a_chart_of_rows_anyone_may_see_is_saved_as_png_and_in_no_other_way(role):
    found = toolbars(filled(role))
    assert all(config["modeBarButtons"] == [["toImage"]] and config["displayModeBar"] for config in found)
    names = [config["toImageButtonOptions"]["filename"] for config in found]
    assert names == ["compare-epsilon-curves", "compare-epsilon-differences"]


def test_the_probability_is_printed_with_what_it_means():
    said = texts(filled())
    assert "beats Decision tree" in said
    assert "with probability **" in said
    assert "A tie counts half" in said
    assert "the splits are taken as given" in said


def test_a_false_claim_is_named_with_its_reason():
    test = filled(names=("pf-tree", "privatree-corrected"), **{"x-axis": "ε asked for"})
    names = [trace.get("name") for trace in json.loads(test.get("plotly_chart")[0].proto.spec)["data"]]
    assert "PrivaTree (corrected), claim violated" in names
    assert "(violated)" in texts(test)


def drawn(test):
    """Name -> colour of every line of the curves."""
    spec = json.loads(test.get("plotly_chart")[0].proto.spec)
    return {trace["name"]: trace["line"]["color"] for trace in spec["data"] if trace.get("name")}


def axis_of(test):
    return json.loads(test.get("plotly_chart")[0].proto.spec)["layout"]["xaxis"]["title"]["text"]


@pytest.mark.slow
@pytest.mark.parametrize("axis", ["ε asked for", "ε composed", "right guesses of 100"])
def test_the_axis_that_was_asked_for_stays_and_every_curve_is_on_it(axis):
    test = page(names=("pf-tree", "privatree", "cart"), **{"x-axis": axis})
    at_first = axis_of(test)
    test = finished(test)
    assert axis_of(test) == at_first
    assert len(drawn(test)) == 4  # and guessing
    assert ("Nothing bounds what PrivaTree may tell" in texts(test).replace("\\", "")) == (axis != "ε asked for")
    assert "**PrivaTree** (" in texts(test)


@pytest.mark.slow
def test_epsilon_is_the_axis_unless_asked_otherwise():
    assert axis_of(filled()) == "ε asked for (add/remove one row)"
    test = filled(**{"x-axis": "right guesses of 100"})
    assert axis_of(test) == "right guesses of 100, at most (a coin: 50)"
    assert "ε = 0.1" in test.get("plotly_chart")[0].proto.alt
    test.select_slider(key="place-guesses").set_value(70).run()
    assert "Where at most 70 of 100" in test.get("plotly_chart")[0].proto.alt
    assert "PF-tree (ε = 1," in test.get("plotly_chart")[0].proto.alt


@pytest.mark.slow
def test_every_change_has_a_first_look_of_at_most_300_fits_and_keeps_colours(monkeypatch):
    """Settings of all kinds, one after the other; what was asked for in whole is not worked on unasked."""
    begun = []
    original = compare_run.run_batches

    def counted(grid, data, batches, **how):
        for rows in original(grid, data, batches, **how):
            begun.append(len(rows))
            yield rows

    monkeypatch.setattr(compare_run, "run_batches", counted)
    test = finished(opened("compare", learners=titles("pf-tree", "diffprivlib-tree"), draws="20", epsilons=["0.1", "1"]))
    colours = drawn(test)
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
        assert sum(begun) <= compare_run.FIRST_LOOK
        assert not test.exception
        assert "settings before" not in texts(test)
        assert colours.items() <= drawn(test).items()
    assert button(test, "Refine")


def test_the_recommended_algorithm_is_compared_at_first():
    loaded = in_use(DataRole.SIMULATED)
    recommended = which_learner(loaded.schema, epsilon=1.0).learner
    assert recommended != "pf-tree"
    assert recommended in opened("compare", **SMALL).multiselect(key="learners").value


@pytest.mark.parametrize(("pace", "said"), [({}, ""), ({"pf-tree": 10.0}, "(about 40 s)"), ({"cart": 10.0}, "")])
def test_time_is_said_where_every_algorithm_was_timed_and_nowhere_else(pace, said, monkeypatch):
    monkeypatch.setattr(compare_run, "FIRST_LOOK", 3)
    test = filled()
    test.session_state["_compare_pace"] = pace
    label = button(test.run(), "Refine: 4 fits").label
    assert label.removeprefix("Refine: 4 fits").strip() == said


@pytest.mark.slow
def test_going_back_to_earlier_settings_computes_nothing():
    test = filled()
    test.select_slider(key="draws").set_value(5).run()
    test.select_slider(key="draws").set_value(3).run()
    assert not [found for found in test.button if found.label.startswith("Compute")]
    assert "settings before" not in texts(test)


def test_another_learner_only_adds_its_own_fits():
    test = filled()
    before = {json.dumps(row) for row in values_in(test, compare_run.SLOT)}
    test.multiselect(key="learners").set_value(["pf-tree", "cart", "privatree-star"]).run()
    finished(test)
    found = {json.dumps(row) for row in values_in(test, compare_run.SLOT)}
    assert (len(found - before), len(before - found)) == (6, 0)


@pytest.mark.slow
def test_a_stop_keeps_what_is_done(monkeypatch):
    def half(grid, data, batches, *, stop, workers=1):
        yield from original(grid, data, [] if stop() else batches[:3], workers=workers)
        job_of(test, compare_run.SLOT).stop()

    original = compare_run.run_batches
    test = filled()
    monkeypatch.setattr(compare_run, "run_batches", half)
    monkeypatch.setattr(compare_run, "begin_unasked", poll)
    test.select_slider(key="splits").set_value(3).run()
    button(test, "Compute").click().run()
    test = finished(test)
    assert "Stopped: 18 fits are missing" in texts(test)
    monkeypatch.setattr(compare_run, "run_batches", original)
    button(test, "Go on with 18 fits").click().run()
    test = finished(test)
    assert "Stopped" not in texts(test)


@pytest.mark.parametrize("first_points", [-1.0, 3600.0], ids=["the second is over", "worker processes are there"])
def test_one_batch_at_least_is_computed_at_once_however_busy_the_machine(monkeypatch, first_points):
    given, done = [], []

    def watched(grid, data, batches, *, stop, workers=None):
        given.append((len(batches), workers))
        for found in original(grid, data, batches, stop=stop):
            done.append(workers)
            yield found

    original = compare_run.run_batches
    monkeypatch.setattr(compare_run, "run_batches", watched)
    monkeypatch.setattr(compare_run, "FIRST_POINTS", first_points)
    monkeypatch.setattr(compare_run, "_THERE", Event())
    if first_points > 0:
        compare_run._THERE.set()
    filled()
    (n_batches, here), (n_left, there) = given
    assert (here, there) == (None, tasks.WORKERS)
    assert n_left == n_batches - 1
    assert done == [None] + [there] * n_left


@pytest.mark.slow
def test_while_it_runs_the_page_says_how_far_it_is(monkeypatch):
    monkeypatch.setattr(compare_run, "begin_unasked", poll)
    test = page()
    monkeypatch.setattr(Pool, "submit", lambda self, session, lane, work, patience: Job(work))  # waits in line for ever
    button(test, "Compute 7 fits").click().run()
    assert not test.exception
    assert "Computing, waiting for other work on this server" in test.get("progress")[0].proto.text
    button(test, "Cancel").click().run()
    assert not test.exception
    assert button(test, "Compute 7 fits")


def test_private_rows_are_warned_about_and_never_computed_on_unasked():
    test = page(DataRole.PRIVATE)
    assert job_of(test, compare_run.SLOT) is None
    button(test, "Compute 6 fits").click().run()  # the one without noise is not compared with
    test = finished(test)
    assert "keep it to yourself" in texts(test)
    assert "not to be published" in texts(test)
    assert not test.get("download_button")
    assert toolbars(test)
    assert all(config["displayModeBar"] is False for config in toolbars(test))


def test_the_seed_of_private_curves_is_hidden_and_that_of_others_is_zero():
    private, public = page(DataRole.PRIVATE), page(DataRole.PUBLIC)
    assert private.session_state["_compare_secret"] > 2**32
    assert "_compare_secret" not in public.session_state


def test_the_download_holds_fits_and_no_rows():
    test = filled()
    frame = frame_of(test)
    assert tuple(frame.columns) == columns_of(())
    assert len(test.get("download_button")) == 1


@pytest.mark.parametrize(("view", "places"), [("over depth", 3), ("over number of rows", 6)])
def test_other_views_have_curves_of_their_own(view, places):
    test = filled(names=("pf-tree",), view=view, deepest="3", **{"one-epsilon": "1.0"})
    (spec, *_) = [json.loads(chart.proto.spec) for chart in test.get("plotly_chart")]
    (line,) = [trace for trace in spec["data"] if trace.get("name") == "PF-tree"]
    assert len(test.dataframe[0].value) == places
    assert line["mode"] == "lines+markers"


def test_rows_of_a_private_table_are_taken_from_the_public_count_alone():
    loaded = in_use(DataRole.PRIVATE)
    bare = replace(loaded, schema=replace(loaded.schema, n_public=None))
    assert row_sizes(bare) == (None,)
    assert row_sizes(replace(loaded, schema=replace(loaded.schema, n_public=1000))) == (25, 50, 100, 200, 400, None)


def test_epsilons_keep_both_ends():
    assert epsilons_between(0.01, 5.0) == (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0)
    assert epsilons_between(0.02, 5.0, "1") == (0.02, 0.1, 1.0, 5.0)
    assert epsilons_between(1.0, 1.0) == (1.0,)


def test_a_problem_is_said_with_its_remedy():
    schema = replace(in_use(DataRole.SIMULATED).schema, n_public=None)
    test = filled(schema=schema)
    ((_, problem),) = [(kind, text) for kind, text in said_in_boxes(test) if kind == "error"]
    assert "public row count" in problem
    assert "What to do" in problem


def test_no_learner_chosen_is_said():
    test = filled()
    test.multiselect(key="learners").set_value([]).run()
    assert ("info", "Choose at least one algorithm.") in said_in_boxes(test)
