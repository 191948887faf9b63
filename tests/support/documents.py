"""The fits behind the golden documents and ledgers. To write them anew after an intended change, read the diff and run

python -m tests.support.documents
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import dpviz
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

FOLDER = Path(__file__).resolve().parents[1] / "golden"
LEARNERS = ("pf-tree", "privatree")

SCHEMA = Schema(
    (
        NumericFeature("age", 18, 90, unit="years", whole=True),
        NumericFeature("dose", 0, 2.5, unit="mg", missing_as=0),
        CategoricalFeature("ward", ("north", "south", "east & west"), unknown_as="north"),
    ),
    ClassTarget("outcome", ("well", "ill")),
    n_public=60,
)


def rows() -> EncodedDataset:
    """Sixty rows written as arithmetic, so that no generator's version matters."""
    place = np.arange(60)
    age = (18 + place * 7 % 73).astype(np.int16)
    dose = (place * 11 % 26) / 10.0
    ward = (place * 5 % 3).astype(np.uint8)
    ill = (age > 55) ^ (place % 9 == 0) | (ward == 2) & (dose > 1.8)
    return EncodedDataset(SCHEMA, (age, dose, ward), ill.astype(np.uint8))


def document_of(learner: str) -> dict[str, Any]:
    """The document of one fit, versions left out, floats to ten digits (logarithms differ in the last one by platform)."""
    document = json.loads(dpviz.fit(learner, rows(), epsilon=3.0, depth=2, max_depth=2, seed=2024).to_json())
    document["versions"] = dict.fromkeys(document["versions"], "*")
    return rounded(document)


def rounded(value: Any) -> Any:
    """Every float to ten significant digits."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def ledger_of(learner: str) -> str:
    """The ledger of the same fit, one line per step."""
    ledger = document_of(learner)["privacy"]["ledger"]
    columns = ("path", "kind", "mechanism", "part", "level", "epsilon", "note")
    lines = ["\t".join(columns), *("\t".join(str(row[column]) for column in columns) for row in ledger)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def text_of(learner: str) -> str:
    """The golden document as text."""
    return json.dumps(document_of(learner), indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write every golden file."""
    for learner in LEARNERS:
        (FOLDER / f"{learner}.json").write_text(text_of(learner), encoding="utf-8")
        (FOLDER / f"{learner}.ledger.tsv").write_text(ledger_of(learner), encoding="utf-8")


if __name__ == "__main__":
    main()
