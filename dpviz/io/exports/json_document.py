"""The JSON document `dpviz-tree/1` itself, checked by reading it back."""

from dpviz.io.exports.contract import CheckedForm
from dpviz.io.exports.golden import said
from dpviz.models.document import model_from_json
from dpviz.version import VERSION

JSON = CheckedForm(
    name="json",
    title="JSON",
    suffix=".json",
    media_type="application/json",
    about="Everything: rules, labels, schema, settings, ledger, claim and disclosures. dpviz reads it back.",
    write=lambda given: given.text,
    run=lambda content, _schema, rows: said(model_from_json(content), rows),
    gives_chances=lambda given: given.golden.chances is not None,
    ran_in=lambda: f"dpviz {VERSION}, read back",
    group="data",
    language="json",
    any_model=True,
    order=10,
)
