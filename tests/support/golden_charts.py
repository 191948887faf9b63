"""Charts, sentences and tables as text, against files that people have reviewed.

After a wanted change: run the test with DPVIZ_WRITE_GOLDEN=1, read the difference of the golden file, and commit it.
"""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.charts.chart import Chart
from tests.support.paths import ROOT

FOLDER = ROOT / "tests" / "golden" / "charts"
#: How a chart looks where nothing depends on it.
_LOOKS = {"template", "margin", "cliponaxis", "insidetextanchor", "textangle", "thickness", "solidity", "fgcolor", "automargin"}


def assert_golden(name: str, value: Any) -> None:
    """That `value` (a chart, a sentence, or a table) is what `tests/golden/charts/NAME.txt` says."""
    assert_text(FOLDER / f"{name}.txt", "\n".join(_lines(value)) + "\n")


def assert_text(file: Path, text: str) -> None:
    """That the file says so."""
    if os.environ.get("DPVIZ_WRITE_GOLDEN") == "1":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), f"if {file.name} is intended: DPVIZ_WRITE_GOLDEN=1"


def _lines(value: Any) -> Iterator[str]:
    if not isinstance(value, Chart):
        yield from _table(value) if isinstance(value, list | tuple) else str(value).splitlines()
        return
    yield value.summary
    rows = value.rows() if callable(value.rows) else value.rows
    yield from _table(rows or [])
    figure = value.figure.to_plotly_json()
    for place, trace in enumerate(figure["data"]):
        yield from _leaves(f"trace {place}", trace)
    yield from _leaves("layout", figure["layout"])


def _table(rows: Any) -> Iterator[str]:
    for row in rows:
        yield " | ".join(f"{name}: {cell}" for name, cell in row.items()) if isinstance(row, dict) else str(row)


def _leaves(place: str, value: Any) -> Iterator[str]:
    """Every value with its place, a list of numbers or words on one line."""
    if isinstance(value, dict) and "bdata" in value:  # an array as plotly packs it
        numbers = np.frombuffer(b64decode(value["bdata"]), value["dtype"])
        value = numbers.reshape([int(size) for size in str(value.get("shape", len(numbers))).split(",")])
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, dict):
        for name in sorted(value.keys() - _LOOKS):
            yield from _leaves(f"{place}.{name}", value[name])
    elif isinstance(value, list | tuple) and any(isinstance(part, dict) for part in value):
        for at, part in enumerate(value):
            yield from _leaves(f"{place}[{at}]", part)
    else:
        yield f"{place}: {_scalars(value)}"


def _scalars(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_scalars, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
