"""Samples to begin with: three simulated tables of this project and three public ones that come with scikit-learn.

The simulated ones come with dpviz in `data/`; their schemas were declared before the rows were drawn
(`data/make_samples.py`). For the public ones only what their documentation states is declared; everything else is read from
the data and marked so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpviz.errors import UnknownName
from dpviz.installation import bundled
from dpviz.io.csv import read_csv
from dpviz.io.schemas import load_schema
from dpviz.table.proposal import propose_schema, rounded_count
from dpviz.table.raw import RawTable
from dpviz.table.role import DataRole
from dpviz.table.schema import ClassTarget, NumericFeature, Schema


@dataclass(frozen=True, slots=True)
class Sample:
    """A table that comes with dpviz.

    Attributes
    ----------
    name, title, description : str
        For code, for a list, and one sentence for people.
    role : DataRole
        Simulated rows describe nobody; public ones are published already.
    """

    name: str
    title: str
    role: DataRole
    description: str


def samples() -> tuple[Sample, ...]:
    """Every sample, the one to begin with first."""
    return tuple(sample for sample, _ in _SAMPLES)


def load_sample(name: str) -> tuple[RawTable, Schema]:
    """The table and its schema.

    Raises
    ------
    UnknownName
        There is no such sample.
    DpvizError
        Its files are missing.
    """
    for sample, load in _SAMPLES:
        if sample.name == name:
            return load()
    raise UnknownName("sample", name, (sample.name for sample in samples()))


def _simulated(name: str) -> tuple[RawTable, Schema]:
    return read_csv(bundled(f"data/{name}.csv.gz"), name=name), load_schema(bundled(f"data/{name}.schema.json"))


def _bundled(name: str, target: str) -> tuple[RawTable, Schema]:
    """Ranges are read from the data; the classes and the row count are documented."""
    table, bunch = _from_scikit_learn(name, target)
    schema = propose_schema(table, target).declare(n_public=rounded_count(table.n_rows))
    return table, schema.declare(target, classes=tuple(map(str, bunch.target_names)))


def _digits() -> tuple[RawTable, Schema]:
    """Everything is documented: 64 pixels, each a whole number from 0 to 16, of the ten digits."""
    table, bunch = _from_scikit_learn("digits", "digit")
    pixels = tuple(NumericFeature(str(name), 0, 16, whole=True) for name in bunch.feature_names)
    target = ClassTarget("digit", tuple(map(str, bunch.target_names)))
    return table, Schema(pixels, target, n_public=rounded_count(table.n_rows))


def _from_scikit_learn(name: str, target: str) -> tuple[RawTable, Any]:
    """The table, through CSV text so that it is read by the same rules as an upload, and scikit-learn's description."""
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name.replace('-', '_')}")(as_frame=True)
    frame = bunch.data.assign(**{target: [str(bunch.target_names[code]) for code in bunch.target]})
    return read_csv(frame.to_csv(index=False).encode(), name=name), bunch


_SIMULATED, _PUBLIC = DataRole.SIMULATED, DataRole.PUBLIC
_SAMPLES: tuple[tuple[Sample, Callable[[], tuple[RawTable, Schema]]], ...] = (
    (
        Sample("loans", "Loan applications", _SIMULATED, "20,000 simulated loan applications: who will default?"),
        lambda: _simulated("loans"),
    ),
    (
        Sample("clinic", "Clinic", _SIMULATED, "800 simulated hospital stays, a small set: who will be readmitted?"),
        lambda: _simulated("clinic"),
    ),
    (
        Sample("rents", "Rents", _SIMULATED, "3,000 simulated flats on offer: what is the rent? A number, not a class."),
        lambda: _simulated("rents"),
    ),
    (
        Sample("breast-cancer", "Breast cancer", _PUBLIC, "569 tumours, 30 measurements of cell nuclei: malignant or benign?"),
        lambda: _bundled("breast-cancer", "diagnosis"),
    ),
    (
        Sample("wine", "Wine", _PUBLIC, "178 wines, 13 chemical measurements: which of three cultivars?"),
        lambda: _bundled("wine", "cultivar"),
    ),
    (Sample("digits", "Digits", _PUBLIC, "1,797 handwritten digits as 8 by 8 pixels: which of ten digits?"), _digits),
)
