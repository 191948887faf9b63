"""dpviz: differentially private decision trees whose guarantees are true, checked and shown.

>>> import dpviz
>>> table = dpviz.read_csv("adult.csv.gz")
>>> schema = dpviz.propose_schema(table, target="income")
>>> data = dpviz.encode(table, schema)
>>> result = dpviz.fit("pf-tree", data, epsilon=0.1, seed=0)
"""

from dpviz import interrupts as _interrupts  # noqa: F401  (first: all below takes a second, in which somebody may press Ctrl-C)
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.engines.opening import open_table
from dpviz.errors import DpvizError
from dpviz.evaluation.audit.by_attack import audit
from dpviz.evaluation.audit.verify import verify
from dpviz.evaluation.compare.sweep import sweep
from dpviz.evaluation.robustness.poisoning import poisoning_curve
from dpviz.io.codebook import codebook_template, import_codebook
from dpviz.io.csv import read_csv
from dpviz.io.large.encode import encode_large
from dpviz.io.results import load_result
from dpviz.io.schemas import load_schema, save_schema
from dpviz.io.tables.read import read_table
from dpviz.learners import fit, learner_names
from dpviz.models.document import model_from_json
from dpviz.owners.federated import train_federated
from dpviz.owners.streams import Stream, stream_of, train_on_stream
from dpviz.table.dates import DateFeature
from dpviz.table.encode import encode
from dpviz.table.proposal import propose_schema
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.contract import FitResult
from dpviz.training.exact_trace import ExactTrace, exact_trace
from dpviz.version import VERSION as __version__  # noqa: N811

__all__ = [
    "CategoricalFeature",
    "ClassTarget",
    "DateFeature",
    "DpvizError",
    "ExactTrace",
    "FitResult",
    "NumericFeature",
    "NumericTarget",
    "PrivacyLoss",
    "Schema",
    "Stream",
    "__version__",
    "audit",
    "codebook_template",
    "encode",
    "encode_large",
    "exact_trace",
    "fit",
    "import_codebook",
    "learner_names",
    "load_result",
    "load_schema",
    "model_from_json",
    "open_table",
    "poisoning_curve",
    "propose_schema",
    "read_csv",
    "read_table",
    "save_schema",
    "stream_of",
    "sweep",
    "train_federated",
    "train_on_stream",
    "verify",
]
