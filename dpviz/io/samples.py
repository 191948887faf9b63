"""Samples to begin with: five simulated tables of this project and three public ones that come with scikit-learn.

The simulated ones come with dpviz in `data/`; their schemas were declared before the rows were drawn
(`data/make_samples.py`). For the public ones only what their documentation states is declared; everything else is read from
the data and marked so.
"""

from dataclasses import dataclass, replace

from dpviz.errors import UnknownName
from dpviz.installation import bundled
from dpviz.io.schemas import load_schema
from dpviz.io.tables.read import read_table
from dpviz.table.proposal import propose_schema, rounded_count
from dpviz.table.raw import RawTable
from dpviz.table.role import DataRole
from dpviz.table.schema import NumericFeature, Schema


@dataclass(frozen=True, slots=True)
class Sample:
    """A table that comes with dpviz."""

    name: str  #: For code
    title: str  #: For a list
    role: DataRole  #: Simulated rows describe nobody; public ones are published already
    description: str  #: One sentence for people
    depth: int | None = None  #: Levels of its tree at first; None: by rule
    rows_per_person: int | None = None  #: Where its schema names persons: how many rows of each are used


_SIMULATED, _PUBLIC = DataRole.SIMULATED, DataRole.PUBLIC
_SAMPLES = (
    Sample("health", "Health check", _SIMULATED, "2,500 simulated people, one row each: who is diabetic?", depth=4),
    Sample("loans", "Loan applications", _SIMULATED, "20,000 simulated loan applications: who will default?"),
    Sample("clinic", "Clinic", _SIMULATED, "800 simulated hospital stays, a small set: who will be readmitted?"),
    Sample("stays", "Hospital stays", _SIMULATED, "Simulated stays of 800 patients, up to two of each used.", rows_per_person=2),
    Sample("rents", "Rents", _SIMULATED, "3,000 simulated flats on offer: what is the rent? A number, not a class."),
    Sample("breast-cancer", "Breast cancer", _PUBLIC, "569 tumours, 30 measurements of cell nuclei: malignant or benign?"),
    Sample("wine", "Wine", _PUBLIC, "178 wines, 13 chemical measurements: which of three cultivars?"),
    Sample("digits", "Digits", _PUBLIC, "1,797 handwritten digits as 8 by 8 pixels: which of ten digits?"),
)
#: What scikit-learn's tables predict.
_TARGETS = {"breast-cancer": "diagnosis", "wine": "cultivar", "digits": "digit"}


def samples() -> tuple[Sample, ...]:
    """Every sample, the one to begin with first."""
    return _SAMPLES


def load_sample(name: str) -> tuple[RawTable, Schema]:
    """A table that comes with dpviz: simulated rows, or public ones.

    Parameters
    ----------
    name : str
        "health", "loans", "clinic", "stays", "rents", "breast-cancer", "wine" or "digits".

    Returns
    -------
    (RawTable, Schema)
        The rows, and what is public about them; of the last three ranges are read from the rows, and marked so. The schema of
        "stays" names persons, of whom `encode` uses two rows each.

    Raises
    ------
    UnknownName, DpvizError
        There is no such sample; its files are missing.
    """
    names = [sample.name for sample in _SAMPLES]
    if name not in names:
        raise UnknownName("sample", name, names)
    if name in _TARGETS:
        return _from_scikit_learn(name, _TARGETS[name])
    return read_table(bundled(f"data/{name}.csv.gz"), name=name), load_schema(bundled(f"data/{name}.schema.json"))


def _from_scikit_learn(name: str, target: str) -> tuple[RawTable, Schema]:
    """Through CSV text, so that the table is read by the same rules as an upload."""
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name.replace('-', '_')}")(as_frame=True)
    classes = tuple(map(str, bunch.target_names))
    frame = bunch.data.assign(**{target: [classes[code] for code in bunch.target]})
    table = read_table(frame.to_csv(index=False).encode(), name=name)
    schema = propose_schema(table, target)
    if name == "digits":  # ranges are documented: 64 pixels, each a whole number from 0 to 16
        schema = replace(
            schema, features=tuple(NumericFeature(name, 0, 16, whole=True) for name in table.names if name != target)
        )
    return table, schema.declare(target, classes=classes, n_public=rounded_count(table.n_rows))
