"""Measure a model on rows whose target is known: accuracy, AUC, log loss, the confusion matrix, or the errors of a number.

The figures are computed from the rows themselves, without noise. On private rows they are for whoever may see the rows:
no epsilon covers them, so do not publish them. Rows that the model was trained on make it look better than it is.

With ENGINE://PLACE?table=NAME rows of a database come here, in batches that are not kept. A cluster counts how many rows of each
class reach each leaf of a tree, and no row leaves it.

Example: dpviz evaluate tree.json held_out.csv
"""

import math
from argparse import Namespace

import numpy as np

from dpviz.charts.compare import interval_text, measure_text
from dpviz.charts.wording import capital, percent
from dpviz.cli import console
from dpviz.cli.options import READING, shared, table_or_address
from dpviz.cli.rows import open_rows
from dpviz.errors import DpvizError, EngineError, place
from dpviz.evaluation.comparison import METRICS, metrics_for
from dpviz.evaluation.metrics import Answered, answered_by_leaf, classifier_answers, metric_intervals, metrics, recalls
from dpviz.io.results import read_model_file
from dpviz.models.base import Model
from dpviz.models.constant import as_tree
from dpviz.models.document import model_from_json
from dpviz.rows.address import parse_address
from dpviz.rows.sources import LocalRows, SourceRows
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget

OPTIONS = {
    **shared("model"),
    **table_or_address(
        "rows with their target, in a file or folder of any kind that `train` reads; or ENGINE://PLACE?table=NAME"
    ),
    **shared(*READING, "--json"),
}


def run(args: Namespace) -> int:
    """Read, encode, predict, print. On a cluster a tree of classes is measured by the classes of the rows in each leaf."""
    model = model_from_json(read_model_file(args.model))
    tree, is_number = as_tree(model), isinstance(model.schema.target, NumericTarget)
    if isinstance(args.data, str) and parse_address(args.data).engine == "spark" and (tree is None or is_number):
        what = "On a cluster only a tree of classes can be measured: for another model its rows would have to leave the cluster."
        raise EngineError("uncounted", what, remedy="Export the rows as Parquet and evaluate on the file.")
    with open_rows(args, model.schema) as found:
        rows = found.rows.data if isinstance(found.rows, LocalRows) else found.rows
        if not isinstance(rows, EncodedDataset):
            assert tree is not None
            assert isinstance(rows, SourceRows)
            counted = answered_by_leaf(tree, rows)
            _start(args, found.n_read, rows.report.rows_kept)
            _show_classes(model, counted, int(counted.confusion.sum(axis=1).argmax()))
            return 0
        _start(args, found.n_read, rows.n_rows)
        if is_number:
            _show_metrics(model, rows.n_rows, metrics(model, rows, rows), metric_intervals(model, rows))
        else:
            _show_classes(model, classifier_answers(model, rows), int(rows.class_counts().argmax()))
    return 0


def _start(args: Namespace, n_read: int, n_rows: int) -> None:
    """Say what the figures are computed from. Raises DpvizError where that is nothing."""
    if not n_rows:
        raise DpvizError("No row can be used.", where=place(args.data), remedy="Give rows that the model's schema describes.")
    console.done("Computed from the rows themselves: on private rows for their owner only, not covered by any epsilon.")
    if n_rows < n_read:
        console.warn(f"{n_read - n_rows:,} rows are left out: missing or undeclared values.")


def _show_classes(model: Model, found: Answered, most_frequent: int) -> None:
    confused = found.confusion
    _show_metrics(model, int(confused.sum()), found.metrics(most_frequent), found.intervals())
    _show_confusion(model.schema.classes, confused)


def _show_metrics(model: Model, n_rows: int, found: dict[str, float], between: dict[str, tuple[float, float]]) -> None:
    order = metrics_for(model.schema, found.get("majority", 0.0))
    named = [(capital(METRICS[name]), _text(found[name], name, between.get(name))) for name in order]
    constant = [("Most frequent class", f"{found['majority']:.1%}")] if "majority" in found else []  # what accuracy is worth
    console.show_pairs([("Rows", f"{n_rows:,}"), *constant, *named])
    known = [name for name in order if not math.isnan(found[name])]
    console.show_values({"rows": n_rows, "measures": {name: found[name] for name in known}})
    console.show_values({"intervals": {name: list(between[name]) for name in known if between.get(name) is not None}})


def _text(value: float, name: str, between: tuple[float, float] | None) -> str:
    if math.isnan(value) or between is None:
        return "-"
    return f"{measure_text(value, name)} (95%: {interval_text(between, name)})"


def _show_confusion(classes: tuple[str, ...], confused: np.ndarray) -> None:
    """One line per class: how its rows are predicted, and its error."""
    console.show_title("Rows of each class, and as what they are predicted")
    lines = zip(classes, confused.tolist(), recalls(confused).tolist(), strict=True)
    rows = [[name, *map(str, row), "-" if np.isnan(right) else percent(1 - right)] for name, row, right in lines]
    console.show_table("confusion", ["class", *classes, "error"], rows)
