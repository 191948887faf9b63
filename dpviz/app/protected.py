"""Whom the rows in use protect: as the register declares them, else as they were bound to persons while they were encoded."""

from dpviz.app.state import loaded
from dpviz.errors import DpvizError
from dpviz.release.records import DataSet, protected
from dpviz.release.register import Register
from dpviz.results.verdict import Unit


def unit_in_use() -> Unit:
    """The unit of the table in use, also while a page shows rows simulated from its schema."""
    return protected(_known(), loaded().data)


def _known() -> DataSet | None:
    now, book = loaded(), Register()
    try:
        return book.data_set_of(now.data.identity, now.data.table_sums, now.table.names)
    except DpvizError:  # the Publish page says what is wrong with it, and nothing is released meanwhile
        return None
