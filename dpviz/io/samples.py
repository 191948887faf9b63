"""Samples to begin with: three simulated tables of this project and three public ones that come with scikit-learn.

The simulated ones come with dpviz in `data/`; their schemas were declared before the rows were drawn
(`data/make_samples.py`). For the public ones only what their documentation states is declared; everything else is read from
the data and marked so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from dpviz.errors import UnknownName
from dpviz.installation import bundled
from dpviz.io.csv import read_csv
from dpviz.io.schemas import load_schema
from dpviz.table.proposal import propose_schema
from dpviz.table.raw import RawTable
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

Role = Literal["simulated", "public"]


@dataclass(frozen=True, slots=True)
class Sample:
    """A table that is always at hand.

    Attributes
    ----------
    name, title, description : str
        For code, for a list, and one sentence for people.
    role : "simulated" or "public"
        Simulated rows describe nobody; public ones are published already.
    """

    name: str
    title: str
    role: Role
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


def _breast_cancer() -> tuple[RawTable, Schema]:
    from sklearn.datasets import load_breast_cancer

    return _bundled("breast-cancer", load_breast_cancer(as_frame=True), "diagnosis")


def _wine() -> tuple[RawTable, Schema]:
    from sklearn.datasets import load_wine

    return _bundled("wine", load_wine(as_frame=True), "cultivar")


def _bundled(name: str, bunch: Any, target: str) -> tuple[RawTable, Schema]:
    """Ranges are read from the data; the classes and the row count are documented."""
    table = _table(name, bunch, target)
    classes = tuple(str(label) for label in bunch.target_names)
    return table, propose_schema(table, target).declare(target, classes=classes).declare(n_public=_two_digits(len(bunch.frame)))


def _digits() -> tuple[RawTable, Schema]:
    """Everything is documented: 64 pixels, each a whole number from 0 to 16, of the ten digits."""
    from sklearn.datasets import load_digits

    bunch = load_digits(as_frame=True)
    pixels = tuple(NumericFeature(str(name), 0, 16, whole=True) for name in bunch.feature_names)
    target = ClassTarget("digit", tuple(str(label) for label in bunch.target_names))
    return _table("digits", bunch, "digit"), Schema(pixels, target, n_public=_two_digits(len(bunch.frame)))


def _table(name: str, bunch: Any, target: str) -> RawTable:
    """Through CSV text, so that a bundled table is read by the same rules as an uploaded one."""
    labels = [str(bunch.target_names[code]) for code in bunch.target]
    frame = bunch.data.assign(**{target: labels})
    return read_csv(frame.to_csv(index=False).encode(), name=name)


def _two_digits(count: int) -> int:
    """Rounded to two digits, the form in which a schema keeps a row count."""
    return int(float(f"{count:.1e}"))


_SAMPLES: tuple[tuple[Sample, Callable[[], tuple[RawTable, Schema]]], ...] = (
    (
        Sample("loans", "Loan applications", "simulated", "20,000 simulated loan applications: who will default?"),
        lambda: _simulated("loans"),
    ),
    (
        Sample("clinic", "Clinic", "simulated", "800 simulated hospital stays, a small set: who will be readmitted?"),
        lambda: _simulated("clinic"),
    ),
    (
        Sample("rents", "Rents", "simulated", "3,000 simulated flats on offer: what is the rent? A number, not a class."),
        lambda: _simulated("rents"),
    ),
    (
        Sample("breast-cancer", "Breast cancer", "public", "569 tumours, 30 measurements of cell nuclei: malignant or benign?"),
        _breast_cancer,
    ),
    (Sample("wine", "Wine", "public", "178 wines, 13 chemical measurements: which of three cultivars?"), _wine),
    (Sample("digits", "Digits", "public", "1,797 handwritten digits as 8 by 8 pixels: which of ten digits?"), _digits),
)
