"""A page alone under AppTest, with data put into use beforehand."""

import base64
import gzip
import json
from collections.abc import Sequence
from functools import cache
from html import unescape
from pathlib import Path
from re import findall
from typing import Any

from streamlit.testing.v1 import AppTest

from dpviz.app import background, publish
from dpviz.app.explorations import CONSENT
from dpviz.app.parts import escape_markdown
from dpviz.app.preparation import Preparation
from dpviz.app.schema_draft import SchemaDraft
from dpviz.app.state import DataInUse, encoded_sample
from dpviz.app.training import TrainedTree
from dpviz.errors import DpvizError, FailedWork
from dpviz.io.samples import load_sample
from dpviz.learners import get_learner
from dpviz.table.encode import encode
from dpviz.table.raw import RawTable
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema
from dpviz.training.params import Settings
from tests.support.fits import FEW
from tests.support.paths import SOON

#: Boxes that are filled when they are opened.
ON_DEMAND = (
    "Try one person",
    "The same tree as text",
    "Every measure on the held-out rows",
    "Every measure of the private test",
    "Download this model",
    "Where does ε go?",
    "How to read the picture",
    "This page as Python",
)
#: The box of the share map, which is worked on while it is open.
SHARES = "Would other shares of ε do better?"
PAGES = Path(__file__).resolve().parents[2] / "pages"
#: Role -> a small sample to show in it. Private: the clinic's rows as if they were real.
SAMPLE_OF = {DataRole.SIMULATED: "clinic", DataRole.PUBLIC: "wine", DataRole.PRIVATE: "clinic"}


@cache
def sample_of(role: DataRole) -> tuple[RawTable, Schema]:
    return load_sample(SAMPLE_OF[role])


@cache
def in_use(role: DataRole, schema: Schema | None = None) -> DataInUse:
    table, declared = sample_of(role)
    schema = schema or declared
    return DataInUse(role, "A table", None, table, schema, encode(table, schema))


def bundled_clinic() -> DataInUse:
    """The clinic as it comes: the same rows in every session."""
    table, schema = sample_of(DataRole.SIMULATED)
    return DataInUse(DataRole.SIMULATED, "A table", "clinic", table, schema, encoded_sample("clinic"))


def with_few_trees(name: str) -> dict[str, str]:
    """URL parameters that choose a learner; one of many trees gets a few."""
    return {"learner": get_learner(name).title} | {f"{name}.{field}": str(value) for field, value in FEW.get(name, {}).items()}


#: Of each kind one: a tree, shares by hand, a forest, a boosted model, no privacy, a vote, no tree at all.
OF_EACH_KIND = ("pf-tree", "privatree", "pf-forest", "s-gbdt", "cart", "dpa", "logistic")


def refusal(name: str, role: DataRole) -> str:
    """Why a learner cannot use the role's sample, as its plan says; empty when it can."""
    spec = get_learner(name)
    try:
        spec.plan(sample_of(role)[1], Settings(), spec.Params())
    except DpvizError as problem:
        return problem.what
    return ""


def open_page(
    page: str,
    role: DataRole = DataRole.SIMULATED,
    *,
    schema: Schema | None = None,
    rows: DataInUse | None = None,
    agreed: bool = True,
    open_boxes: Sequence[str] = (),
    **url: str,
) -> AppTest:
    """The page after its first run, on `rows` or the role's sample. `url` holds query parameters; `agreed`: private rows may be
    looked at; `open_boxes` are open besides those of ON_DEMAND.
    """
    test = AppTest.from_file(str(PAGES / f"{page}.py"), default_timeout=SOON)
    now = rows or in_use(role, schema)
    test.session_state["loaded"] = now
    if role is DataRole.PRIVATE and agreed:
        test.session_state[CONSENT] = now.data.identity
    for name, value in url.items():
        test.query_params[name] = value
    for label in open_boxes:
        test.session_state[f"open {label}"] = True
    return with_boxes_open(test).run()


_APP = f"""
import runpy
runpy.run_path({str(PAGES.parent / "app.py")!r}, run_name="__main__")
"""


def whole_app(**url: str) -> AppTest:
    """app.py after its first run, started as a script of another place: the test driver stumbles over a folder `pages/`."""
    test = AppTest.from_string(_APP, default_timeout=SOON)
    for name, value in url.items():
        test.query_params[name] = value
    test.run()
    assert not test.exception
    return test


def with_boxes_open(test: AppTest) -> AppTest:
    """With every box open whose contents are made when somebody opens it."""
    for label in ON_DEMAND:
        test.session_state[f"open {label}"] = True
    return test


def _is_sound(test: AppTest) -> None:
    """Nothing failed that nobody expected, on the page or off it."""
    assert not test.exception, [found.message for found in test.exception]
    assert not [found.value for found in test.error if escape_markdown(FailedWork("internal").what) in found.value]


def page_text(test: AppTest) -> str:
    """What a page says as a reader sees it: without the signs that keep names from being Markdown."""
    return texts(test).replace("\\", "").replace("\u2060", "")


def records(test: AppTest, words: str) -> list[dict[str, str]]:
    """The table that these words describe, as a browser reads it."""
    (body,) = [found.proto.body for found in test.get("html") if f'aria-label="{words}' in found.proto.body]
    lines = body.partition("<tbody>")[2].split("</tr>")[:-1]
    return [{name: unescape(cell) for name, cell in findall('<td data-name="(.*?)">(.*?)</td>', line)} for line in lines]


def texts(test: AppTest) -> str:
    """Everything the page says in Markdown, captions and boxes."""
    _is_sound(test)
    kinds = (test.markdown, test.caption, test.success, test.warning, test.error, test.info, test.header, test.subheader)
    return "\n".join(element.value for kind in kinds for element in kind)


def alerts(test: AppTest) -> list[tuple[str, str]]:
    """(kind of box, text) of every alert."""
    kinds = {"success": test.success, "warning": test.warning, "error": test.error, "info": test.info}
    return [(kind, element.value) for kind, found in kinds.items() for element in found]


def job_of(test: AppTest, slot: str) -> background.Job | None:
    """The last job of a slot of the session's background work."""
    return test.session_state["_work"].jobs.get(slot, (None, ()))[0] if "_work" in test.session_state else None


def after_work(test: AppTest, *slots: str) -> AppTest:
    """The page once the work of these slots has ended."""
    _is_sound(test)
    for name in slots:
        job = job_of(test, name)
        assert job is None or job.wait(SOON)
    test.run()
    _is_sound(test)
    return test


def values_in(test: AppTest, slot: str) -> list[Any]:
    """Every value of a slot that the session or the server keeps, oldest first."""
    kept = {**background.shared_results(), **test.session_state["_work"].results}
    return [result.value for result in kept[slot].values()]


def tree_on_screen(test: AppTest) -> TrainedTree:
    """The tree of the rows in use that was drawn last."""
    loaded, work = test.session_state["loaded"], test.session_state["_work"]
    (key,), _ = work.last["tree", (loaded.data.key, str(loaded.role))]
    return work.results["tree"][key].value


def button(test: AppTest, label: str) -> Any:
    """The button of this label, or else the first whose label begins so."""
    exact = [found for found in test.button if found.label == label]
    return (exact or [found for found in test.button if found.label.startswith(label)])[0]


def buttons(test: AppTest) -> list[str]:
    return [found.label for found in test.button]


def click(test: AppTest, label: str) -> AppTest:
    button(test, label).click().run()
    _is_sound(test)
    return test


def data_page() -> AppTest:
    """The Data page of a new session."""
    test = AppTest.from_file(str(PAGES / "data.py"), default_timeout=SOON).run()
    _is_sound(test)
    return test


def upload(test: AppTest, content: bytes, *, role: str = "public", name: str = "mine.csv") -> AppTest:
    """The Data page with rows in this role; of private rows the first line holds names."""
    test.radio(key="role").set_value(role).run()
    if role == "private":
        test.radio(key="first-line-private").set_value("Column names").run()
    else:
        test.segmented_control(key=f"way-{role}").set_value("A file").run()
    test.file_uploader[0].set_value((name, content, "text/csv")).run()
    _is_sound(test)
    return test


def work_of(test: AppTest) -> Preparation:
    """What the Data page works on."""
    work: Preparation = test.session_state["prepared"]
    return work


def draft_of(test: AppTest) -> SchemaDraft:
    draft = work_of(test).draft
    assert draft is not None
    return draft


def column_cells(test: AppTest, name: str) -> dict[str, Any]:
    """What the grid of the Data page shows of a column."""
    grid = test.data_editor[0].value
    return dict(grid.iloc[list(grid["name"]).index(name)])


def edit(test: AppTest, **columns: dict[str, Any]) -> AppTest:
    """Type into the grid, by column and cell: the driver sets the widget's state, as a browser would."""
    (grid,) = test.data_editor
    names = list(grid.value["name"])
    edits = {names.index(name): cells for name, cells in columns.items()}
    test.session_state[grid.key] = {"edited_rows": edits, "added_rows": [], "deleted_rows": []}
    test.run()
    _is_sound(test)
    return test


def declare(test: AppTest, target: str, n_public: int, **columns: dict[str, Any]) -> AppTest:
    """Choose the target, give the row count, and type into the grid."""
    test.selectbox(key=f"target-{work_of(test).revision}").set_value(target).run()
    test.number_input(key=f"n-public-{work_of(test).revision}").set_value(n_public).run()
    return edit(test, **columns)


def release_job(state: Any) -> background.Job | None:
    """The release that the session of this state has begun and not yet heard of; None when there is none."""
    if "_publish_token" not in state or not state["_publish_token"]:
        return None
    job: background.Job = state["_work"].jobs[publish.SLOT][0]
    return job


def release_tree(test: AppTest) -> AppTest:
    """Tick, click, and wait until the release is there."""
    test.checkbox(key="publish-agreed").check().run()
    button(test, "Release").click().run()
    if (job := release_job(test.session_state)) is not None:
        assert job.wait(SOON)
    return test.run()


def steps_of(test: AppTest) -> list[dict[str, Any]]:
    """What the drawing of the tree can be dragged through."""
    (view,) = [found for found in test.main.get("bidi_component") if found.key == "tree-view"]
    packed = json.loads(view.proto.json)["steps"]
    return json.loads(gzip.decompress(base64.b64decode(packed))) if packed else []
