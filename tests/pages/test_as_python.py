"""Every page shows the few lines that make its numbers: they run by themselves and give what the page shows."""

import ast
import contextlib
import io
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import dpviz
from dpviz.app import plan_tab
from dpviz.app.frame import PLAN_TAB
from dpviz.app.state import DataInUse
from dpviz.charts import as_python
from dpviz.charts.as_python import RowsRead
from dpviz.charts.compare import measure_text
from dpviz.evaluation import plan as planning
from dpviz.evaluation.sweep import as_frame
from dpviz.learners import FitRequest, get_learner
from dpviz.release.register import Register
from dpviz.results.wording import number_text, rounded_up
from dpviz.table.encode import encode
from dpviz.table.role import DataRole
from tests.support.pages import after_work, bundled_clinic, in_use, open_page, page_text, tree_on_screen, values_in


def code_of(test: AppTest) -> str:
    assert not test.exception, [found.message for found in test.exception]
    (code,) = [found.value for found in test.code if found.value.startswith("import dpviz\n")]
    return str(code)


def ran(code: str) -> dict[str, Any]:
    """The names a snippet has defined, and what it printed as "said"."""
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(compile(code, "page", "exec"), names)
    return names | {"said": said.getvalue()}


def tables(test: AppTest) -> str:
    return "\n".join((*(frame.value.to_csv() for frame in test.dataframe), *(found.proto.body for found in test.get("html"))))


@pytest.mark.slow
def test_a_model_from_a_file(tmp_path, monkeypatch):
    result = dpviz.fit("pf-tree", bundled_clinic().data, epsilon=0.4, max_depth=2, seed=1)
    monkeypatch.chdir(tmp_path)
    result.save("ward's tree.json")
    test = open_page("publish", **{"publish-view": "Check a file"})
    content = Path("ward's tree.json").read_bytes()
    test.file_uploader[0].set_value(("ward's tree.json", content, "application/json")).run()
    said = ran(code_of(test))["said"]
    assert "PrivacyLoss(epsilon=0.4" in said
    right = 100 * float(said.split()[-1])
    assert f"{rounded_up(right)} times in 100" in page_text(test)


@pytest.mark.slow
def test_compare():
    asked = {"draws": "3", "splits": "1", "steps": "1", "epsilons": ["0.1", "1"]}
    titles = ["PF-tree", "PF-tree (lookahead=1)", get_learner("cart").title]
    test = after_work(open_page("compare", rows=bundled_clinic(), learners=titles, **asked), "compare")  # type: ignore[arg-type]
    made, on_page = ran(code_of(test)), as_frame(values_in(test, "compare"))
    assert made["frame"].equals(on_page[made["frame"].columns])
    (metric,) = re.findall(r'\)\["(\w+)"\]\.median', code_of(test))
    median = made["frame"].groupby(["learner", "epsilon"])[metric].median()["pf-tree", 1.0]
    assert measure_text(median, metric).rstrip("%") in tables(test) + page_text(test)


@pytest.mark.slow
def test_robustness():
    asked = {"draws": "100", "epsilons": ["0.1"], "learners": [get_learner("pf-tree").title]}
    url = {f"robust-{key}": value for key, value in asked.items()}
    test = after_work(open_page("robustness", rows=bundled_clinic(), **url), "robustness")  # type: ignore[arg-type]
    curve = ran(code_of(test))["curve"]
    assert f"{curve.tight_low[1]:.1%}" in tables(test)


@pytest.mark.parametrize("world", ["The rows in use", "The schema alone"])
@pytest.mark.slow
def test_plan(monkeypatch, world):
    steps = planning.consequences_steps

    def few(world, setup, **look):
        return steps(world, setup, epsilons=(1.0,), draws=10, **look)

    monkeypatch.setattr(planning, "consequences_steps", few)
    monkeypatch.setattr(planning, "Search", partial(planning.Search, stages=(20,)))
    monkeypatch.setattr(planning, "EPSILONS", (0.1, 1.0))
    monkeypatch.setattr(planning, "GRIDS", {"epsilon": (0.1, 1.0)})
    url = {"world": world, "wish-accuracy": "60", "sure": "50"}
    test = open_page("compare", tab=PLAN_TAB, rows=bundled_clinic(), **url)
    for start in ("Find the answer", "Compute the three curves"):
        (button,) = [button for button in test.button if button.label.startswith(start)]
        test = after_work(button.click().run(), plan_tab.CURVES, plan_tab.ANSWER)
    said = dict(line.split() for line in ran(code_of(test))["said"].splitlines())
    shown_there = [f",{epsilon},{100 * float(said[key]):.1f}," for key, epsilon in (("0.1", "0.1"), ("1.0", "1"))]
    assert any(cells in tables(test) for cells in shown_there), tables(test)


@pytest.mark.slow
def test_audit():
    test = open_page("audit", **{"audit-learner": get_learner("majority").title})
    found = ran(code_of(test))["result"]
    assert (found.learner, found.epsilon) == ("majority", 1.0)
    assert number_text(found.log_ratio) in page_text(test)


@pytest.mark.slow
def test_publish_and_register():
    data, book = bundled_clinic().data, Register()
    book.declare("ward", epsilon_cap=0.9, unit="one stay", rows_per_unit=1, role=DataRole.SIMULATED)
    book.assign(data.identity, "ward")
    test = open_page("publish", rows=bundled_clinic(), epsilon="0.7")
    made = ran(code_of(test))
    assert made["register"].balance("ward").left.epsilon == 0.9
    assert "register.release('ward', request, data)" in code_of(test)
    assert rounded_up(100 * made["request"].risk(made["schema"]).guesses()) in tables(test)
    register = open_page("publish", **{"publish-view": "Register"})
    assert "ward PrivacyLoss(epsilon=0.0, delta=0.0) PrivacyLoss(epsilon=0.9" in ran(code_of(register))["said"]
    assert "all of ε = 0.9" in page_text(register)


OF_ROWS = [(page, {}) for page in ("data", "tree", "compare", "robustness", "publish")]


@pytest.mark.parametrize(("page", "url"), [*OF_ROWS, ("compare", {"tab": PLAN_TAB})])
@pytest.mark.slow
def test_no_lines_look_at_private_rows(page, url):
    code = code_of(open_page(page, DataRole.PRIVATE, **url))
    assert "load_schema(" in code
    called = {
        node.func.attr
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert not called & {"read_table", "encode", "fit", "sweep", "poisoning_curve", "release", "load_sample"}
    assert f"{in_use(DataRole.PRIVATE).data.n_rows}," not in code


@pytest.mark.slow
def test_data_and_tree():
    made = ran(code_of(open_page("data", rows=bundled_clinic())))
    assert made["data"].fingerprint == bundled_clinic().data.fingerprint
    test = open_page("tree", rows=bundled_clinic(), epsilon="0.7", draw="4", depth="3")
    made, on_page = ran(code_of(test)), tree_on_screen(test)
    measured = on_page.held_out.measures["accuracy"]
    assert made["result"].score(made["test"]) == measured
    assert made["result"].to_json() == on_page.result.to_json()
    assert str(measured) in made["said"]
    spent = made["result"].ledger.spent()
    assert spent
    assert all(number_text(epsilon) in tables(test) for epsilon in spent.values())


@pytest.mark.slow
def test_tree_of_a_number_with_a_parameter():
    table, schema = dpviz.load_sample("rents")
    rents = DataInUse(DataRole.SIMULATED, "Rents", "rents", table, schema, encode(table, schema))
    url = {"learner-of-numbers": get_learner("s-gbdt").title, "s-gbdt.rounds": "7"}
    test = open_page("tree", rows=rents, **url)
    made = ran(code_of(test))
    assert "rounds=7" in code_of(test)
    assert made["result"].score(made["test"]) == tree_on_screen(test).held_out.measures["r2"]


@pytest.mark.slow
def test_learn_and_epsilon():
    learn, epsilon = open_page("learn"), open_page("learn", lesson="What others use")
    right = float(ran(code_of(learn))["said"].split()[-1])
    (picture,) = learn.get("plotly_chart")
    assert f"at most {rounded_up(100 * right)} of 100 guesses" in picture.proto.alt
    assert rounded_up(100 * float(ran(code_of(epsilon))["said"])) in page_text(epsilon)


def test_lines_for_a_file_run_and_names_from_strangers_end_no_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bundled_clinic().schema.save("my-clinic.schema.json")
    columns = bundled_clinic().table.columns
    lines = [",".join(column.distinct_texts[column.codes[row]] for column in columns) for row in range(60)]
    Path("My clinic.csv").write_text("\n".join((",".join(bundled_clinic().table.names), *lines, "")), encoding="utf-8")
    assert ran(as_python.data(RowsRead(None, "My clinic.csv")))["table"].n_rows == 60
    name = "a'); import os\nos.remove('x') #\u202e.csv"
    code = as_python.tree(RowsRead(None, name, person='"\\', rows_per_person=3), FitRequest.of("pf-tree", epsilon=1.0), 1)
    assert "\u202e" not in code
    assert [alias.name for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import) for alias in node.names] == ["dpviz"]
    texts = {node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant)}
    assert {name, '"\\', 3} <= texts
