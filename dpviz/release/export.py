"""The register as lines of a table or as JSON, for people who keep records elsewhere.

Fingerprints are left out: whoever knows all rows but one could check a guess at the last one against them. So are the folders
of files, and warnings that follow from the rows.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dpviz.release.check import compose_releases
from dpviz.release.records import Balance, visible_to_others
from dpviz.release.register import Register

FORMAT = "dpviz-releases/2"
#: Of `register_lines`.
COLUMNS = (
    *("kind", "number", "data_set", "unit", "status", "started", "finished", "learner", "settings"),
    *("unit_rows", "epsilon", "delta", "neighbours", "assumptions", "times", "file", "sha256"),
)


def register_lines(register: Register) -> list[list[Any]]:
    """One line per release, then one per exploration, in the order of COLUMNS. Texts are not escaped."""
    record = register_record(register)
    units = {data_set["name"]: data_set["unit"] for data_set in record["data_sets"]}
    lines = [release | {"kind": "release", "unit": units[release["data_set"]]} for release in record["releases"]]
    lines += [use | {"kind": "exploration"} for use in record["explorations"]]
    return [[_flat(line.get(column, "")) for column in COLUMNS] for line in lines]


def register_json(register: Register) -> str:
    """Everything but fingerprints and folders, indented."""
    return json.dumps(register_record(register), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def register_record(register: Register) -> dict[str, Any]:
    """The same as values."""
    units = {data_set.name: data_set.protects for data_set in register.data_sets()}
    fields = ("number", "data_set", "status", "started", "finished", "learner", "settings")
    return {
        "format": FORMAT,
        "neighbours": "add/remove one unit, with all its rows",
        "data_sets": [_account(register, register.balance(name)) for name in units],
        "releases": [
            {field: getattr(release, field) for field in fields}
            | {"unit_rows": units[release.data_set].rows}
            | asdict(release.loss)
            | {"neighbours": units[release.data_set].neighbours, "assumptions": list(release.disclosures)}
            | {"file": Path(release.file).name, "sha256": release.sha256}
            for release in register.releases()
        ],
        "explorations": [
            {"data_set": use.data_set, "status": use.status, "started": use.at, "learner": f"{use.learner} ({use.what})"}
            | {"settings": use.settings, "times": use.times}
            for use in visible_to_others(register.uncovered_uses())
        ],
    }


def _account(register: Register, balance: Balance) -> dict[str, Any]:
    data_set, composed = balance.data_set, None
    total = compose_releases(balance.releases, data_set.rows_per_unit)
    if total is not None and total.loss.is_finite:  # by the steps that were run; null for fewer than two releases
        guesses = {"unit_right_guesses": total.risk.guesses(), "releases_without_file": total.n_unread}
        composed = asdict(total.loss) | guesses
    caps = [
        {"at": change.at, **asdict(change.cap), "reason": change.reason, "made_by": change.made_by}
        for change in register.cap_changes(data_set.name)
    ]
    spent, left = asdict(balance.spent), asdict(balance.left)
    return {**asdict(data_set), "caps": caps, "spent": spent, "left": left, "composed": composed}


def _flat(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if isinstance(value, (dict, list)) else value
