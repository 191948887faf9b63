"""The JSON document `dpviz-tree/1` itself."""

from dpviz.io.exports.contract import Exportable, WrittenForm
from dpviz.models.document import model_from_json


def _write(given: Exportable) -> str:
    """Raises DocumentError where it is no model."""
    model_from_json(given.text)
    return given.text


JSON = WrittenForm(
    name="json",
    title="JSON",
    suffix=".json",
    media_type="application/json",
    about="Everything: rules, labels, schema, settings, ledger, claim and disclosures. dpviz reads it back.",
    write=_write,
    group="data",
    language="json",
    any_model=True,
    order=10,
)
