"""The dashboard with tables that no sample is, by `?data=`.

"wide" has 100 columns, "private" stands on its schema, "few" has 60 rows, "skewed" 100 columns and a number with a long tail.
"""

import runpy

import numpy as np
import streamlit as st

from dpviz.app import state
from dpviz.io.tables.read import read_table
from dpviz.table.proposal import propose_schema
from dpviz.table.role import DataRole
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.paths import ROOT

WARD = Schema(
    (
        NumericFeature("age", 18, 99, whole=True),
        NumericFeature("stays", 0, 20, whole=True),
        CategoricalFeature("ward", ("north", "south")),
    ),
    ClassTarget("outcome", ("home", "readmitted")),
    n_public=3000,
)


def wide(target: str) -> bytes:
    """Two columns of 100 tell the class, or a cost that is small for most and large for a few."""
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(5000, 100)).round(2)
    score = cells[:, 0] + cells[:, 1] / 2 + rng.normal(size=5000)
    told = np.where(score > 0, "ill", "well") if target == "state" else np.exp(4 + score).round(2)
    lines = (f"{','.join(map(str, row))},{cell}" for row, cell in zip(cells, told.tolist(), strict=True))
    return "\n".join([",".join([*(f"m{place}" for place in range(100)), target]), *lines]).encode()


def few() -> bytes:
    """Sixty patients."""
    rng = np.random.default_rng(0)
    ages = rng.integers(18, 99, 60)
    lines = [f"{age},{age % 21},{'south' if age % 3 else 'north'},{'readmitted' if age > 70 else 'home'}" for age in ages]
    return "\n".join(["age,stays,ward,outcome", *lines]).encode()


def use(name: str) -> None:
    """Put the table of this name into use."""
    if name == "wide":
        table = read_table(wide("state"), name="wide")
        state.use(DataRole.SIMULATED, "Wide", table, propose_schema(table, "state").declare(n_public=5000))
    elif name == "few":
        state.use(DataRole.SIMULATED, "Few", read_table(few(), name="few"), WARD.declare(n_public=60))
    elif name == "skewed":
        table = read_table(wide("cost"), name="skewed")
        schema = propose_schema(table, "cost").declare(n_public=5000).declare("cost", low=0, high=5000)
        state.use(DataRole.SIMULATED, "Skewed", table, schema)
    else:
        rows = "\n".join(["age,stays,ward,outcome", *("40,2,north,home", "70,6,south,readmitted") * 20]).encode()
        state.use(DataRole.PRIVATE, "Ward", read_table(rows, name="ward"), WARD)


if "loaded" not in st.session_state and st.query_params.get("data") in ("wide", "private", "few", "skewed"):
    use(st.query_params.pop("data"))
runpy.run_path(str(ROOT / "app.py"), run_name="__main__")
