"""The JSON document `dpviz-tree/1` itself, checked by reading it back."""

from collections.abc import Sequence

from dpviz.io.exports.conditions import Row
from dpviz.io.exports.contract import Target
from dpviz.io.exports.golden import chances, predictions
from dpviz.models.document import model_from_json
from dpviz.table.schema import Schema
from dpviz.version import VERSION


def _chances(content: str, _schema: Schema, rows: Sequence[Row]) -> list[list[float]]:
    found = chances(model_from_json(content), rows)
    return [] if found is None else found.tolist()


_JSON = Target(
    name="json",
    title="JSON",
    suffix=".json",
    mime="application/json",
    about="Everything: rules, labels, schema, settings, ledger, claim and disclosures. dpviz reads it back.",
    write=lambda given: given.text,
    run=lambda content, _schema, rows: list(predictions(model_from_json(content), rows)),
    run_chances=_chances,
    gives_chances=lambda given: given.golden.chances is not None,
    ran_in=lambda: f"dpviz {VERSION}, read back",
    group="data",
    language="json",
    any_model=True,
    order=10,
)
TARGETS = (_JSON,)
