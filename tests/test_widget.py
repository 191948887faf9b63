"""The widget of notebooks: a control of epsilon for simulated and public rows, one counted fit for private ones."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import dpviz
from dpviz.errors import DpvizError, ParameterError, RefusedRelease
from dpviz.widget import STEPS

SCHEMA = dpviz.Schema((dpviz.NumericFeature("age", 0, 100),), dpviz.ClassTarget("ill", ("no", "yes")), n_public=600)
ROWS = b"age,ill\n" + b"".join(f"{20 + i % 60},{'yes' if i % 60 > 30 else 'no'}\n".encode() for i in range(600))


@pytest.fixture(scope="module")
def widget() -> Any:
    return dpviz.tree_widget(ROWS, role="simulated", schema=SCHEMA, epsilon=1.3, max_depth=2, reruns=2)


@pytest.mark.slow
def test_simulated_rows_have_a_control_and_a_tree_at_every_step_of_it(widget: Any) -> None:
    values = widget.shown["slider"]["steps"]
    assert values == sorted({*STEPS, 1.3})
    steps = json.loads(gzip.decompress(base64.b64decode(widget.shown["views"]["steps"])))
    assert [step["value"] for step in steps] == values
    assert all(step["wide"].startswith("<svg") and f"ε = {step['value']:g} " in step["guarantee"]["words"] for step in steps)
    assert widget.epsilon == 1.3


def test_private_rows_without_a_register_are_refused_and_no_row_is_read() -> None:
    with pytest.raises(RefusedRelease, match="fitted once"):
        dpviz.tree_widget(Path("there is no such file"), role="private", schema=SCHEMA)


@pytest.mark.slow
def test_private_rows_are_fitted_once_counted_and_have_no_control(tmp_path: Path) -> None:
    with dpviz.open_register(tmp_path / "register.db") as register:
        register.declare("patients", epsilon_cap=2, unit="one patient")
        rows = dpviz.encode(ROWS, SCHEMA)
        register.release("patients", "pf-tree", rows, epsilon=0.5, add_rows=True)
        shown = dpviz.tree_widget(rows, role="private", epsilon=1, max_depth=2, register=register, data_set="patients").shown
        assert register.balance("patients").left.epsilon == pytest.approx(0.5)
    assert shown["slider"] is None
    assert shown["views"]["steps"] == ""
    assert shown["line"]["words"].startswith("Guaranteed: ε = 1 ")


def test_what_it_cannot_show_is_a_typed_error() -> None:
    with pytest.raises(ParameterError, match="simulated, public or private"):
        dpviz.tree_widget(ROWS, role="secret", schema=SCHEMA)
    forest = dpviz.fit("s-gbdt", ROWS, schema=SCHEMA, epsilon=1, seed=0)
    with pytest.raises(DpvizError, match="no single tree"):
        dpviz.widget_of(forest)
