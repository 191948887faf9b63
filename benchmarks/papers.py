"""What the three papers print beside what was measured here, number by number, as one file for the dashboard's Papers page.

Nothing is measured: numbers come from the stored pages and from the CSV files beside them, items from `benchmarks/evidence.py`.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

from benchmarks.evidence import ITEMS
from benchmarks.evidence import Item as Listed
from dpviz.evaluation.papers.stored import Cell, Experiment, Found, Item, Paper
from dpviz.learners import declared

FOLDER = Path(__file__).parents[1] / "data" / "benchmarks"
_NUMBER = r"-?\d*\.?\d+"
#: As in ".794 ± .005 (.747 ± .004) †"; the paper's number and the mark may be missing.
_CELL = re.compile(rf"({_NUMBER})%? ± ({_NUMBER})%?(?: \(({_NUMBER}) ± ({_NUMBER})\))?( †)?")
_TREES = ("privatree", "privatree-corrected", "privatree-star", "bdpt", "dpgdf", "diffprivlib-tree", "pf-tree", "cart")
_FORESTS = ("smooth-forest", "pf-forest", "jpw-forest", "fs-tree", "rgv-forest", "random-forest")
_BOOSTED = ("s-gbdt-published", "s-gbdt", "dpboost", "dp-mean", "majority", "gbdt")
_CURVE = (0.01, 1.0)
ON_COMPARE = Experiment("compare", _TREES, _CURVE, "4")
ON_ROBUSTNESS = Experiment("robustness", ("privatree", "logistic", "pf-tree"), (0.01, 0.1), "4")
WITH_FORESTS = Experiment("compare", _FORESTS, (0.1, 2.0), "auto")
WITH_BOOSTING = Experiment("compare", _BOOSTED, (0.05, 10.0), "auto")


def papers_file() -> str:
    """The whole file, as JSON: a list of `Paper`."""
    found = [Paper(title, author, tuple(_item(title, one) for one in ITEMS[title])) for title, author in _AUTHORS.items()]
    return "[\n" + ",\n".join(_paper_text(paper) for paper in found) + "\n]\n"


def _paper_text(paper: Paper) -> str:
    """A line per item, so that a change of one shows as such; a cell is the list of its values."""
    items = [asdict(item) | {"cells": [list(asdict(cell).values()) for cell in item.cells]} for item in paper.items]
    lines = ",\n".join(json.dumps(item, ensure_ascii=False, allow_nan=False) for item in items)
    return f'{{"title": {json.dumps(paper.title)}, "author": {json.dumps(paper.author)}, "items": [\n{lines}\n]}}'


_AUTHORS = {
    "PrivaTree (Vos et al. 2023)": "Vos",
    "Smooth random forest (Fletcher & Islam 2017)": "Fletcher",
    "S-GBDT (Kirschte et al. 2023)": "Kirschte",
}


def _item(paper: str, listed: Listed) -> Item:
    source = _SOURCES.get((_AUTHORS[paper], listed.name))
    words = (listed.name, listed.shows, listed.page.partition("#")[0], listed.differs, listed.not_here)
    if source is None:
        return Item(*words, "", "", (), None)
    unit, across, cells, experiment = source
    return Item(*words, unit, across, tuple(map(_explained, cells())), experiment)


def _explained(cell: Cell) -> Cell:
    """With the reason that the learner's own file gives for this data set, where it differs and one is known."""
    if cell.found != "differs" or cell.why:
        return cell
    about = (item for spec in declared() if spec.title in cell.series for item in spec.departures)
    why = next((item.why for item in about if re.search(rf"\b{re.escape(cell.data)}\b", item.why)), "")
    return Cell(**asdict(cell) | {"why": why, "printed": cell.printed})


def rows_of(page: str, heading: str) -> Iterator[dict[str, str]]:
    """The first table below a heading of a stored page: column -> cell. Raises ValueError where there is none."""
    text = (FOLDER / page).read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(heading)}(?![\w.]).*?\n(\|.+?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"{page} has no table below {heading!r}.")
    head, _, *lines = ([cell.strip() for cell in line.strip("|").split(" | ")] for line in found[1].splitlines())
    head = [name or f"{before}: found" for before, name in pairwise(["", *head])]
    return (dict(zip(head, line, strict=True)) for line in lines)


def _trees(epsilon: str) -> list[Cell]:
    """One of the three tables of accuracies; columns that no paper has are left out."""
    cells = []
    for row in rows_of("tables.md", f"Epsilon {epsilon}"):
        data = row.pop("data")
        for column, text in row.items():
            cells += _compared(data, column.partition(":")[0].replace(", any epsilon", ""), epsilon, text)
    return [cell for cell in cells if cell.printed]


def _compared(data: str, series: str, x: str, text: str) -> list[Cell]:
    """A cell as `_CELL` reads it; none where nothing was measured."""
    found = _CELL.fullmatch(text)
    if found is None:
        return []
    ours, error, theirs, their_error, mark = found.groups()
    printed = (float(theirs), float(theirs)) if theirs else None
    verdict: Found = "" if printed is None else "differs" if mark else "same"
    return [Cell(data, series, x, float(ours), float(error), printed, float(their_error) if theirs else None, verdict)]


def _corrected() -> list[Cell]:
    rows = rows_of("tables.md", "Corrected columns of the comparators")
    return [
        cell
        for row in rows
        for column, text in list(row.items())[2:]
        for cell in _compared(row["data"], column, row["epsilon"], text)
    ]


def _corrected_guarantees() -> Iterator[Cell]:
    for row in rows_of("tables.md", "Corrected Table VIII"):
        [cell] = _compared(row["data"], "PrivaTree (corrected)", row["epsilon"], row["measured"])
        printed = float(row["printed"])
        yield Cell(**asdict(cell) | {"printed": (printed, printed), "found": "differs" if "†" in row["differs"] else "same"})


def _guarantees(digits: int) -> Iterator[Cell]:
    """Table III prints three digits, Table VIII two; PrivaTree alone, the guarantees follow from clean accuracies."""
    for epsilon in ("0.01", "0.1"):
        for row in rows_of("poisoning.md", f"Epsilon {epsilon}"):
            text = row["PrivaTree published"]
            if len(text.partition(".")[2]) != digits or row["again"] == "-":
                continue
            ours, error, printed = *map(float, row["again"].split(" ± ")), float(text)
            off = abs(ours - printed) > 2 * math.sqrt(2) * error + 10**-digits  # both are rounded
            name = f"PrivaTree, {row['poisoned']} poisoned"
            yield Cell(row["data"], name, epsilon, ours, error, (printed, printed), None, "differs" if off else "same")


def _curve(figure: str) -> Iterator[Cell]:
    for row in _csv("curves.csv"):
        if row["figure"] == figure:
            yield Cell(
                row["data"], row["series"], row["x"].replace("inf", ""), float(row["mean"]), float(row["error"]), None, None, ""
            )


def _poisoned() -> Iterator[Cell]:
    for row in _csv("poisoning_figure_3.csv"):
        series = f"{_title(row['learner'])}, ε = {row['epsilon']}"
        yield Cell(row["data"], series, row["poisoned_share"], float(row["published"]), None, None, None, "")


def _backdoor() -> Iterator[Cell]:
    for row in _csv("backdoor.csv"):
        series = f"{_title(row['learner'])}, ε = {row['epsilon']}".removesuffix(", ε = ").removesuffix(", ε = inf")
        yield Cell("MNIST", series, row["poisoned_share"], float(row["success"]), float(row["success_error"]), None, None, "")


def _stated_of_backdoor() -> Iterator[Cell]:
    for row in rows_of("backdoor.md", "What Section VI-C states"):
        ours, error = map(float, row["here"].split(" ± "))
        found: Found = "same" if row["found"] == "yes" else "differs"
        yield Cell("MNIST", row["what"], "", ours, error, _ends(row["stated"])[0], None, found)


def _title(learner: str) -> str:
    return next(spec.title for spec in declared() if spec.name == learner)


def _csv(name: str) -> Iterator[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _stated_of_forests(*marks: str) -> Iterator[Cell]:
    """Statements of the forest paper with one of these marks in brackets."""
    for row in rows_of("forests.md", "What the paper states"):
        if any(f"({mark})" in row["what"] for mark in marks):
            ours, _, error = row["here"].partition(" ± ")
            printed, their_error = _ends(row["stated"])
            data = next((name for name in re.findall(r"[A-Z][A-Za-z]+", row["what"]) if name in _FOREST_DATA), "all")
            found: Found = {"yes": "same", "near": "near"}.get(row["found"], "differs")  # type: ignore[assignment]
            yield Cell(data, row["what"], "", float(ours), float(error) if error else None, printed, their_error, found)


_FOREST_DATA = {*(f"Synth{letter}" for letter in "ABCDEFG"), "Adult", "Mushroom", "Nursery", "PenWritten", "GammaTele"}
_FOREST_DATA |= {"WallSensor", "Claves"}


def _ends(text: str) -> tuple[tuple[float | None, float | None], float | None]:
    """As in "49.8 ± 12.8", "over 35", "2 to 30" or "5"."""
    exact, _, error = text.partition(" ± ")
    if exact.startswith("over "):
        return (float(exact[5:]), None), None
    low, _, high = exact.partition(" to ")
    return (float(low), float(high or low)), float(error) if error else None


def _forests(heading: str) -> Iterator[Cell]:
    for row in rows_of("forests.md", heading):
        for column, text in list(row.items())[1:]:
            yield from _compared(row["data"], column.partition(":")[0], "", text.strip("*"))


def _stated_of_boosting(*figures: str) -> Iterator[Cell]:
    """Numbers in one of these figures, or released later ("sbdt"), beside the learner as published."""
    for row in rows_of("boosting.md", "What is stated"):
        if set(row["figure"].split(", ")) & set(figures):
            data, _, rest = row["what"].partition(", ")
            ours, error = (float(part.strip("%")) for part in row["here"].split(" ± "))
            stated, x = float(row["stated"].strip("%")), row["epsilon"].partition(" ")[0].replace("-", "")
            found: Found = "same" if row["here: found"] == "as stated" else "differs"
            why = _THEOREM_18 if rest.startswith("S-GBDT") and row["here: found"] == "**worse**" else ""
            yield Cell(data, rest, x, ours, error, (stated, stated), None, found, why if row["source"] == "paper" else "")


#: Our reading: the paper names neither delta nor settings.
_THEOREM_18 = "Likely the noise, which is three to five times too small as printed (Theorem 18)."


def _boosting_curve(*figures: str) -> Iterator[Cell]:
    for row in _csv("boosting_figures.csv"):
        if row["figure"] in figures:
            x = "" if row["epsilon"] == "inf" else row["epsilon"]
            yield Cell(row["data"], row["series"], x, float(row["mean"]), float(row["error"]), None, None, "")


#: (author, item) -> what its numbers are, what its axis is, its numbers, and the page that can show the experiment.
_SOURCES: dict[tuple[str, str], tuple[str, str, Callable[[], Sequence[Cell] | Iterator[Cell]], Experiment | None]] = {
    ("Vos", "Table II"): ("accuracy", "epsilon", lambda: _trees("0.1"), ON_COMPARE),
    ("Vos", "Table III"): ("guaranteed accuracy", "epsilon", lambda: _guarantees(3), ON_ROBUSTNESS),
    ("Vos", "Table VI"): ("accuracy", "epsilon", lambda: _trees("0.01"), ON_COMPARE),
    ("Vos", "Table VII"): ("accuracy", "epsilon", lambda: _trees("1"), ON_COMPARE),
    ("Vos", "Table VIII"): ("guaranteed accuracy", "epsilon", lambda: _guarantees(2), ON_ROBUSTNESS),
    ("Vos", "Tables VI and VII, corrected"): ("accuracy", "epsilon", _corrected, ON_COMPARE),
    ("Vos", "Table VIII, corrected"): ("accuracy", "epsilon", _corrected_guarantees, ON_ROBUSTNESS),
    ("Vos", "Figure 1"): ("test accuracy", "epsilon", lambda: _curve("PrivaTree 1"), ON_COMPARE),
    ("Vos", "Figure 2"): (
        "training accuracy",
        "parts for quantiles, nodes, leaves",
        lambda: _curve("PrivaTree 2"),
        Experiment("budget", ("privatree",), (0.1,), "3"),
    ),
    ("Vos", "Figure 3"): ("Corollary 2: guaranteed accuracy", "poisoned share", _poisoned, ON_ROBUSTNESS),
    ("Vos", "Figure 4"): ("attack success", "poisoned share", _backdoor, ON_ROBUSTNESS),
    ("Vos", "Section VI-C"): ("percent", "", _stated_of_backdoor, ON_ROBUSTNESS),
    ("Fletcher", "Table 3"): ("percent of leaves without rows", "", lambda: _stated_of_forests("Table 3"), None),
    ("Fletcher", "Table 4"): ("depth", "", lambda: _stated_of_forests("Table 4"), None),
    ("Fletcher", "Figure 4"): ("points of accuracy", "", lambda: _stated_of_forests("4.1"), WITH_FORESTS),
    ("Fletcher", "Figure 5a"): ("accuracy, percent", "", lambda: (*_forests(_CHANGED), *_stated_of_forests("4.2")), WITH_FORESTS),
    ("Fletcher", "Figure 5b"): ("mean of e^(-j ε)", "", lambda: _curve("forest 5b"), None),
    ("Fletcher", "Figure 6"): ("points of accuracy", "", lambda: _stated_of_forests("4.3"), WITH_FORESTS),
    ("Fletcher", "Figure 7"): ("test accuracy", "trees", lambda: _curve("forest 7"), WITH_FORESTS),
    ("Fletcher", "Figure 8"): (
        "flipped labels, percent",
        "",
        lambda: _stated_of_forests("4.4"),
        WITH_FORESTS,
    ),
    ("Fletcher", "Figure 9"): ("test accuracy", "rows", lambda: _curve("forest 9"), WITH_FORESTS),
    ("Fletcher", "Figure 10"): ("test accuracy", "epsilon", lambda: _curve("forest 10"), WITH_FORESTS),
    ("Fletcher", "Figure 11"): ("points of accuracy", "", lambda: _stated_of_forests("5.2", "6"), WITH_FORESTS),
    ("Fletcher", "Figure 12"): ("AUC, percent", "", lambda: _forests("Area under the ROC curve"), WITH_FORESTS),
    ("Fletcher", "Figure 13"): ("F1, percent", "", lambda: _forests("F1 of the rarer class"), WITH_FORESTS),
    ("Fletcher", "Figure 14"): ("accuracy, percent", "", lambda: _forests("Accuracy"), WITH_FORESTS),
    ("Kirschte", "Figure 1"): ("R²", "epsilon", lambda: _stated_of_boosting("1"), WITH_BOOSTING),
    ("Kirschte", "Figure 3"): (
        "epsilon of a row",
        "rows",
        lambda: _curve("S-GBDT 3"),
        Experiment("budget", ("s-gbdt",), (1.0,), "auto"),
    ),
    ("Kirschte", "Figure 4a"): ("R²", "epsilon", lambda: _stated_of_boosting("4a"), WITH_BOOSTING),
    ("Kirschte", "Figure 4b"): ("error, percent", "epsilon", lambda: _stated_of_boosting("4b"), WITH_BOOSTING),
    ("Kirschte", "Released later"): ("R²; AUC", "epsilon", lambda: _stated_of_boosting("sbdt"), WITH_BOOSTING),
    ("Kirschte", "Figure 5"): ("R²; error, percent", "epsilon", lambda: _stated_of_boosting("5a", "5b"), WITH_BOOSTING),
    ("Kirschte", "Figure 6"): ("R²", "epsilon", lambda: _stated_of_boosting("6"), WITH_BOOSTING),
    ("Kirschte", "Figure 7"): ("R²; error, percent", "epsilon", lambda: _stated_of_boosting("7a", "7b"), WITH_BOOSTING),
    ("Kirschte", "Figure 8"): ("R²", "epsilon", lambda: _boosting_curve("8"), WITH_BOOSTING),
}
_CHANGED = "The smooth forest with one thing changed"
