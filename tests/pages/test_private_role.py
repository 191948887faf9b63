"""Every page in the private role: nothing on screen is an exact count, a seed, a cell, or a tree without privacy."""

import gc
import re
import weakref
from dataclasses import replace
from threading import Event
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app import state, training
from dpviz.app.background import THREADS, Work
from dpviz.app.state import DataInUse
from dpviz.io.tables.read import read_table
from dpviz.learners import FitRequest, get_learner, learner_names
from dpviz.table.encode import encode
from dpviz.table.role import DataRole
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support import pages
from tests.support.pages import PAGES, after_work, tree_on_screen
from tests.support.paths import SOON

NAMES = sorted(path.stem for path in PAGES.glob("*.py"))
#: Numbers that only the rows know: how many there are, per class, dropped and clipped; and a cell.
N_ROWS, N_ILL, N_DROPPED, N_CLIPPED = 12371, 4193, 5387, 7129
CELL = "77.1313"
SECRETS = ("_compare_secret", "_robustness_secret", "_entropy")
SCHEMA = Schema(
    (NumericFeature("marker", 0, 100), CategoricalFeature("ward", ("north", "south"))),
    ClassTarget("state", ("ill", "well")),
    12_000,
)


def rows() -> bytes:
    lines = ["marker,ward,state"]
    for row in range(N_ROWS):
        marker = "500" if row < N_CLIPPED else CELL if row % 3 else "12.5"
        lines.append(f"{marker},{('north', 'south')[row % 2]},{'ill' if row < N_ILL else 'well'}")
    return "\n".join([*lines, *["1,west,ill"] * N_DROPPED]).encode()


@pytest.fixture(scope="module")
def private() -> DataInUse:
    table = read_table(rows(), name="ward.csv")
    return DataInUse(DataRole.PRIVATE, "ward.csv", None, table, SCHEMA, encode(table, SCHEMA))


def open_page(page: str, private: DataInUse, **url: str) -> AppTest:
    return pages.open_page(page, private.role, rows=private, **url)


def everything(test: AppTest) -> str:
    """Whatever the page sends to the browser, tables included."""
    sent = [str(getattr(element, "proto", "")) for block in (test.main, test.sidebar) for element in block]
    tables = [frame.value.to_csv() for frame in (*test.dataframe, *test.data_editor)]
    return "\n".join([*sent, *tables])


def numbers_in(text: str) -> set[str]:
    """Numbers that are shown; not digits of a hash: the head of the register, and ids of elements, which depend on the folder."""
    return set(re.findall(r"\d+(?:\.\d+)?", re.sub(r"\b[0-9a-f]{32,64}\b", "", text.replace(",", ""))))


def test_the_rows_are_as_told(private):
    report = private.data.report
    assert (report.rows_kept, report.rows_read) == (N_ROWS, N_ROWS + N_DROPPED)
    assert dict(report.clipped) == {"marker": N_CLIPPED}
    assert private.data.class_counts().tolist() == [N_ILL, N_ROWS - N_ILL]


OF_ROWS = {"compare", "publish", "robustness", "tree"}
#: Made of what was declared and the names of the columns, or of the register, without any row.
FILES = {"Download schema", "Download codebook"}
FILES |= {"Register (CSV)", "Register (JSON)"}


@pytest.mark.parametrize("page", NAMES)
def test_no_page_shows_a_count_a_cell_or_a_seed_or_offers_a_learner_or_a_file_of_rows(page, private):
    test = open_page(page, private)
    sent = everything(test)
    seen = numbers_in(sent)
    exact = {N_ROWS, N_ROWS + N_DROPPED, N_ILL, N_ROWS - N_ILL, N_DROPPED, N_CLIPPED}
    assert not seen & ({str(count) for count in exact} | {CELL}), page
    assert private.data.fingerprint not in sent
    assert not [found for found in test.number_input if found.label in ("Random seed", "Seed")]
    secrets = [test.session_state[key] for key in SECRETS if key in test.session_state]
    assert not [secret for secret in secrets if str(secret) in sent]
    as_they_are = {get_learner(name).title for name in learner_names() if not get_learner(name).spends_epsilon}
    named = [box for box in (*test.selectbox, *test.multiselect) if box.label in ("Algorithm", "Algorithms")]
    of_rows = [box for box in named if box.key in ("learner", "learners", "robust-learners")]  # others ask about other rows
    assert not {option for box in of_rows for option in box.options} & as_they_are
    assert bool(of_rows) == (page in OF_ROWS)
    assert page == "publish" or {button.proto.label for button in test.get("download_button")} <= FILES
    address = " ".join(f"{name}={value}" for name, value in test.query_params.items())
    assert not re.search("ward|marker|state=|ill|well", address), address


@pytest.mark.slow
def test_curves_of_private_rows_are_told_against_the_public_count(private):
    test = open_page("robustness", private, **{"robust-draws": "100", "robust-epsilons": ["0.01"]})
    next(button for button in test.button if button.label.startswith("Compute")).click().run()
    after_work(test, "robustness")
    assert "9600" in numbers_in(everything(test))
    held_out = round(0.2 * N_ROWS)
    assert not numbers_in(everything(test)) & {str(N_ROWS), str(N_ROWS - held_out), str(held_out)}


@pytest.mark.parametrize("role", [DataRole.PRIVATE, DataRole.PUBLIC])
def test_without_a_public_count_there_are_no_such_curves(private, role):
    schema = replace(SCHEMA, n_public=None)
    bare = replace(private, role=role, schema=schema, data=replace(private.data, schema=schema))
    test = open_page("robustness", bare, **{"robust-draws": "100", "robust-epsilons": ["0.01"]})
    for found in [button for button in test.button if button.label.startswith("Compute")]:
        found.click().run()
    test = after_work(test, "robustness")
    assert any("no count is public" in problem.value for problem in test.error) is (role is DataRole.PRIVATE)


def test_neither_a_link_nor_code_that_asks_for_a_learner_without_privacy_gets_it_and_a_result_holds_no_rows_and_no_seed(
    private, monkeypatch
):
    trained = tree_on_screen(open_page("tree", private, learner=get_learner("cart").title))
    assert trained.result.learner == "pf-tree"
    assert trained.result.seed is None
    assert trained.held_out is None
    held = gc.get_referents(trained.result, trained.result.model, trained.settings.request)
    assert not [item for item in held if item is private.data or item is private.table]
    monkeypatch.setattr(training, "st", SimpleNamespace(session_state={}))
    settings = trained.settings.request.settings
    for name in (name for name in learner_names() if not get_learner(name).spends_epsilon):
        task = training.tree_task(replace(trained.settings, request=FitRequest(name, settings)), private)
        ((_, result),) = task.run(task.keys, lambda share: None, lambda: False)
        assert "is not shown on private rows" in str(result.problem)


def test_seeds_of_private_rows_are_secrets_of_the_session(monkeypatch):
    seeds = []
    for _ in range(2):
        monkeypatch.setattr(state, "st", SimpleNamespace(session_state={}))
        first, again, other = (state.hidden_seed(DataRole.PRIVATE, key) for key in ("split", "split", "noise"))
        assert first == again
        seeds += [first, other]
        assert state.hidden_seed(DataRole.PUBLIC, "split") == state.hidden_seed(DataRole.SIMULATED, "split") == 0
    assert len({0, *seeds}) == 5


class Rows:
    """Stands for rows that work holds."""


@pytest.mark.slow
def test_a_job_lets_go_of_its_rows_when_it_is_done_and_one_in_line_when_its_session_ends(own_threads):
    pool, began, go = own_threads, Event(), Event()

    def holding():
        rows = Rows()
        alive.append(weakref.ref(rows))
        return lambda progress, stop: rows and None

    alive = []
    job = pool.submit("bulk", holding())
    assert job.wait(SOON)
    assert job.error is None
    other = pool.submit("bulk", lambda progress, stop: (began.set(), go.wait(SOON)))
    assert began.wait(SOON)
    gone = [pool.submit("bulk", holding())]
    gone += [pool.submit(lane, lambda progress, stop: go.wait(SOON)) for lane in THREADS]
    Work(jobs={str(place): (one, ()) for place, one in enumerate(gone)}).stop()
    gc.collect()
    assert [one() for one in alive] == [None, None]
    assert all(one.is_stopped for one in gone)
    assert not other.is_stopped
    go.set()
