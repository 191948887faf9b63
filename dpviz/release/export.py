"""The register as lines of a table or as JSON, for people who keep records elsewhere.

Fingerprints are left out: whoever knows all rows but one could check a guess at the last one against them. So are the folders
of files, and warnings that follow from the rows.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.release.records import Balance, Entry, Exploration
from dpviz.release.register import ReleaseRegister
from dpviz.release.rows_used import for_others

FORMAT = "dpviz-releases/1"
_WHAT = ("kind", "number", "data_set", "unit", "status", "started", "finished", "learner", "settings")
_COST = ("epsilon", "delta", "neighbours", "assumptions", "times", "file", "sha256")
#: Of `register_lines`.
COLUMNS = (*_WHAT, *_COST)


def register_lines(register: ReleaseRegister) -> list[list[Any]]:
    """One line per release, then one per exploration, in the order of COLUMNS. Texts are not escaped."""
    units = {found.name: found.unit for found in register.data_sets()}
    lines = [_of_entry(entry) | {"kind": "release", "unit": units[entry.data_set]} for entry in register.releases()]
    lines += [_of_exploration(item) | {"kind": "exploration"} for item in for_others(register.explorations())]
    return [[_flat(line.get(column, "")) for column in COLUMNS] for line in lines]


def register_json(register: ReleaseRegister) -> str:
    """Everything but fingerprints and folders, indented."""
    document = {
        "format": FORMAT,
        "neighbours": NEIGHBOURS,
        "data_sets": [_of_balance(register, register.balance(found.name)) for found in register.data_sets()],
        "releases": [_of_entry(entry) for entry in register.releases()],
        "explorations": [_of_exploration(item) for item in for_others(register.explorations())],
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _of_balance(register: ReleaseRegister, balance: Balance) -> dict[str, Any]:
    changes = register.cap_changes(balance.data_set.name)
    return {
        **asdict(balance.data_set),
        "caps": [
            {"at": it.at, "epsilon": it.epsilon_cap, "delta": it.delta_cap, "reason": it.reason, "made_by": it.made_by}
            for it in changes
        ],
        "spent": asdict(balance.spent),
        "left": asdict(balance.left),
    }


def _of_entry(entry: Entry) -> dict[str, Any]:
    named = ("number", "data_set", "status", "started", "finished", "learner", "settings")
    return {name: getattr(entry, name) for name in named} | {
        **asdict(entry.loss),
        "neighbours": NEIGHBOURS,
        "assumptions": list(entry.disclosures),
        "file": Path(entry.file).name,
        "sha256": entry.sha256,
    }


def _of_exploration(item: Exploration) -> dict[str, Any]:
    return {
        "data_set": item.data_set,
        "status": item.status,
        "started": item.at,
        "learner": f"{item.learner} ({item.what})",
        "settings": item.settings,
        "times": item.times,
    }


def _flat(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if isinstance(value, (dict, list)) else value
