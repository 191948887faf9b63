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
    found = register_record(register)
    units = {known["name"]: known["unit"] for known in found["data_sets"]}
    lines = [one | {"kind": "release", "unit": units[one["data_set"]]} for one in found["releases"]]
    lines += [one | {"kind": "exploration"} for one in found["explorations"]]
    return [[_flat(line.get(column, "")) for column in COLUMNS] for line in lines]


def register_json(register: Register) -> str:
    """Everything but fingerprints and folders, indented."""
    return json.dumps(register_record(register), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def register_record(register: Register) -> dict[str, Any]:
    """The same as values."""
    units = {found.name: found.protects for found in register.data_sets()}
    named = ("number", "data_set", "status", "started", "finished", "learner", "settings")
    return {
        "format": FORMAT,
        "neighbours": "add/remove one unit, with all its rows",
        "data_sets": [_of_balance(register, register.balance(name)) for name in units],
        "releases": [
            {name: getattr(one, name) for name in named}
            | {"unit_rows": units[one.data_set].rows}
            | asdict(one.loss)
            | {"neighbours": units[one.data_set].neighbours, "assumptions": list(one.disclosures)}
            | {"file": Path(one.file).name, "sha256": one.sha256}
            for one in register.releases()
        ],
        "explorations": [
            {"data_set": use.data_set, "status": use.status, "started": use.at, "learner": f"{use.learner} ({use.what})"}
            | {"settings": use.settings, "times": use.times}
            for use in visible_to_others(register.uncovered_uses())
        ],
    }


def _of_balance(register: Register, balance: Balance) -> dict[str, Any]:
    known = balance.data_set
    total = compose_releases(balance.releases, known.rows_per_unit)
    caps = [
        {"at": it.at, "epsilon": it.epsilon_cap, "delta": it.delta_cap, "reason": it.reason, "made_by": it.made_by}
        for it in register.cap_changes(known.name)
    ]
    account = {"spent": asdict(balance.spent), "left": asdict(balance.left), "composed": None}
    if total is not None and total.loss.is_finite:  # by the steps that were run; null for fewer than two releases
        account["composed"] = asdict(total.loss) | {
            "unit_right_guesses": total.risk.guesses(),
            "releases_without_file": total.n_unread,
        }
    return {**asdict(known), "caps": caps, **account}


def _flat(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if isinstance(value, (dict, list)) else value
