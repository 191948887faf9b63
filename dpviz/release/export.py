"""The register as lines of a table or as JSON, for people who keep records elsewhere.

Fingerprints are left out: whoever knows all rows but one could check a guess at the last one against them. So are the folders
of files, and warnings that follow from the rows.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.release.check import composed
from dpviz.release.records import Balance, ReleaseRecord, UncoveredUse, visible_to_others
from dpviz.release.register import Register
from dpviz.results.verdict import Unit

FORMAT = "dpviz-releases/1"
_WHAT = ("kind", "number", "data_set", "unit", "status", "started", "finished", "learner", "settings")
_OF_UNIT = ("unit_rows", "unit_epsilon", "unit_delta")
_COST = (*_OF_UNIT, "epsilon", "delta", "neighbours", "assumptions", "times", "file", "sha256")
#: Of `register_lines`.
COLUMNS = (*_WHAT, *_COST)


def register_lines(register: Register) -> list[list[Any]]:
    """One line per release, then one per exploration, in the order of COLUMNS. Texts are not escaped."""
    units = {found.name: found.protects for found in register.data_sets()}
    lines = [
        _of_entry(it, units[it.data_set]) | {"kind": "release", "unit": units[it.data_set].name} for it in register.releases()
    ]
    lines += [_of_exploration(item) | {"kind": "exploration"} for item in visible_to_others(register.uncovered_uses())]
    return [[_flat(line.get(column, "")) for column in COLUMNS] for line in lines]


def register_json(register: Register) -> str:
    """Everything but fingerprints and folders, indented."""
    units = {found.name: found.protects for found in register.data_sets()}
    document = {
        "format": FORMAT,
        "neighbours": NEIGHBOURS,
        "data_sets": [_of_balance(register, register.balance(found.name)) for found in register.data_sets()],
        "releases": [_of_entry(entry, units[entry.data_set]) for entry in register.releases()],
        "explorations": [_of_exploration(item) for item in visible_to_others(register.uncovered_uses())],
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _of_balance(register: Register, balance: Balance) -> dict[str, Any]:
    changes = register.cap_changes(balance.data_set.name)
    return {
        **asdict(balance.data_set),
        "caps": [
            {"at": it.at, "epsilon": it.epsilon_cap, "delta": it.delta_cap, "reason": it.reason, "made_by": it.made_by}
            for it in changes
        ],
        **_of_unit(balance.data_set.protects, balance.spent, "spent_by_unit_"),
        "spent": asdict(balance.spent),
        "left": asdict(balance.left),
        "composed": _composed(balance),
    }


def _composed(balance: Balance) -> dict[str, Any] | None:
    """The total by the steps that were run, where no release was chosen by what came of those before; null for fewer than two."""
    found = composed(balance.releases)
    if found is None or not found.loss.is_finite:
        return None
    guesses = found.risk.for_rows(balance.data_set.protects.rows).guesses()
    return {**asdict(found.loss), "unit_right_guesses": guesses, "releases_without_file": found.n_unread}


def _of_unit(unit: Unit, row: PrivacyLoss, prefix: str = "unit_") -> dict[str, Any]:
    """What it costs one unit, all rows of which come or go together, where one row costs `row`."""
    loss = unit.loss_of(row)
    return {f"{prefix}rows": unit.rows, f"{prefix}epsilon": loss.epsilon, f"{prefix}delta": loss.delta}


def _of_entry(entry: ReleaseRecord, unit: Unit) -> dict[str, Any]:
    named = ("number", "data_set", "status", "started", "finished", "learner", "settings")
    return {name: getattr(entry, name) for name in named} | {
        **_of_unit(unit, entry.loss),
        **asdict(entry.loss),
        "neighbours": NEIGHBOURS,
        "assumptions": list(entry.disclosures),
        "file": Path(entry.file).name,
        "sha256": entry.sha256,
    }


def _of_exploration(item: UncoveredUse) -> dict[str, Any]:
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
