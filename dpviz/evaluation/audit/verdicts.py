"""What is known of each learner's claim, as three facts with their own evidence: proved, searched, attacked.

The stored run is the only source of what is said about learners: the Audit page, the command line and the README show it, and
tests compare them. Format "dpviz-verdicts/3": readers ignore keys they do not know and refuse versions they do not know.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.errors import DpvizError, place
from dpviz.evaluation.audit.attack import LowerBound
from dpviz.evaluation.audit.findings import AuditResult
from dpviz.installation import bundled
from dpviz.table.strict_json import PlainValue, parse_json, read, require_format, with_infinity, without_infinity

FORMAT = "dpviz-verdicts/3"
_STORED = "data/benchmarks/verdicts.json"


@dataclass(frozen=True)
class SearchedPlace:
    """A universe or pair that was searched: its name, its size, and the largest log ratio there."""

    where: str
    n_sets: int
    n_pairs: int
    log_ratio: float


@dataclass(frozen=True)
class Facts:
    """What is known of one plan: a learner with its parameters at one epsilon (add/remove one row)."""

    learner: str
    params: dict[str, PlainValue]  #: Those that are not the default
    epsilon: float
    #: version, date: of dpviz, and the day (ISO 8601) of this entry.
    version: str
    date: str
    #: *Proved*: the verdict on the plan for the typical table, the reason, and where the proof or the counterexample stands.
    claim: Claim
    composed: PrivacyLoss  #: What the steps of that plan compose to: an upper bound
    guesses: float  #: The most right guesses of 100 about one row that those steps allow
    #: *Searched*: the largest log ratio over all data sets of small universes and some pairs, with its pair and output. A lower
    #: bound without doubt.
    searched: AuditResult | None = None
    places: tuple[SearchedPlace, ...] = ()  #: Everywhere it was searched
    not_searched: str = ""  #: Why not; empty where it was
    attacked: LowerBound | None = None  #: *Attacked*: a lower bound with its confidence
    not_attacked: str = ""  #: Why not; empty where it was
    processor_seconds: float = 0.0  #: What searching and attacking cost

    @property
    def plan(self) -> str:
        """Equal for the same plan."""
        return json.dumps([self.learner, self.params, self.epsilon], sort_keys=True)


@dataclass(frozen=True)
class StoredRun:
    """All entries, renewed ones last."""

    facts: tuple[Facts, ...]

    @property
    def has_broken_ledger(self) -> bool:
        """True when a counterexample to one of our own ledgers was found: a bug in dpviz."""
        found = (item for fact in self.facts for item in (fact.searched, fact.attacked) if item is not None)
        return any(item.verdict == "ledger violated" for item in found)

    @property
    def processor_seconds(self) -> float:
        """What all entries cost."""
        return sum(fact.processor_seconds for fact in self.facts)

    @property
    def dates(self) -> tuple[str, ...]:
        """The days of the entries, each once, the first one first."""
        return tuple(sorted({fact.date for fact in self.facts}))

    def of(self, learner: str, epsilon: float) -> Facts | None:
        """The entry of a learner with its defaults; None where there is none."""
        return next((fact for fact in self.facts if (fact.learner, fact.params, fact.epsilon) == (learner, {}, epsilon)), None)

    def updated(self, newer: StoredRun) -> StoredRun:
        """The same run, with the entries of a newer one for the learners in that."""
        renewed = {fact.learner for fact in newer.facts}
        kept = [fact for fact in self.facts if fact.learner not in renewed]
        return StoredRun((*kept, *newer.facts))


def run_to_json(run: StoredRun) -> str:
    """JSON text, one entry per line."""
    head = {"format": FORMAT, "neighbours": NEIGHBOURS, "processor_seconds": round(run.processor_seconds)}
    parts = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    parts.append(f' "facts": [{_lines(run.facts)}]')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(items: Iterable[Any]) -> str:
    texts = [json.dumps(_short(asdict(item)), ensure_ascii=False, allow_nan=False) for item in items]
    return "\n  " + ",\n  ".join(texts) + "\n " if texts else ""


def _short(value: Any, name: str = "") -> Any:
    """Numbers to ten digits, seconds to three: a file of this size is read by people too."""
    match value:
        case dict():
            return {key: _short(item, key) for key, item in value.items()}
        case list() | tuple():
            return [_short(item, name) for item in value]
        case float():
            return round(value, 3) if "seconds" in name else without_infinity(float(f"{value:.10g}"))
        case _:
            return without_infinity(value)


def run_from_json(text: str | bytes) -> StoredRun:
    """The run in a JSON text; raises DocumentError naming the path of what is wrong."""
    document = with_infinity(parse_json(text), "log_ratio", "claimed", "composed", "bound", "epsilon", "perfect")
    require_format(document, FORMAT)
    return read(StoredRun, document)


def stored_run(path: Path | None = None) -> StoredRun:
    """The run at `path`, or the one that comes with dpviz. Raises DpvizError when the file is missing or damaged."""
    path = path or bundled(_STORED)
    if not path.is_file():
        raise DpvizError(
            "There is no stored run of verification.",
            where=place(path),
            remedy=f"Make one: dpviz verify --all --out {path.name}",
        )
    return run_from_json(path.read_bytes())


# --- scripts: each refutes a claim alone, reads nothing of dpviz, and needs NumPy at most

#: Learner -> the script that refutes its claim. Learners with one flaw share one.
SCRIPTS = {
    "bdpt": "exact_stopping",
    "dpgdf": "smooth_sensitivity",
    "privatree": "exact_stopping",
    "privatree-corrected": "noisy_sensitivity",
    "privatree-star": "exact_stopping",
    "rgv-forest": "trees_add_up",
    "smooth-forest": "smooth_sensitivity",
}


def script_of(learner: str) -> Path | None:
    """The file of the script that refutes a learner's claim; None where there is none."""
    if learner not in SCRIPTS:
        return None
    return bundled(f"data/counterexamples/{SCRIPTS[learner]}.py")
