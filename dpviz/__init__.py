"""dpviz: differentially private decision trees whose guarantees are true, checked and shown.

>>> import dpviz
>>> frame = pandas.read_csv("loans.csv.gz")
>>> schema = dpviz.load_schema("loans.schema.json")  # what is public about its columns
>>> result = dpviz.fit("pf-tree", frame, schema=schema, epsilon=0.5, seed=0)  # without a seed: a release
>>> result  # in a notebook: the tree and its guarantee
"""

from dpviz import interrupts as _interrupts  # noqa: F401  (first: somebody may press Ctrl-C while the rest is imported)

# isort: split
import lazy_loader as _lazy

from dpviz.installation import offer as _offer
from dpviz.version import VERSION as __version__  # noqa: F401, N811

#: The names of `__init__.pyi`, each imported when it is first used.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
__all__ = sorted({*__all__, "__version__"} - {"errors", "learners"})  # these two are packages, not names

_offer("forms", "dpviz.io.exports", "dpviz.charts.publish.exports")  # whose FORMS `dpviz.results.exports` has
_offer("readers", "dpviz.io.tables.read", "dpviz.rows.opening")  # which register with `dpviz.table.raw` for files
