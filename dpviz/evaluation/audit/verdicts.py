"""A run of verification over all learners, kept with version and date, so that nothing shown about a claim is typed in.

Format "dpviz-verdicts/1": readers ignore keys they do not know and refuse versions they do not know.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.errors import DpvizError
from dpviz.evaluation.audit.by_attack import AuditedBound
from dpviz.evaluation.audit.findings import AuditResult, worst_of
from dpviz.installation import bundled
from dpviz.table.strict_json import PlainValue, parse_json, read, require_format, with_infinity, without_infinity

FORMAT = "dpviz-verdicts/1"


@dataclass(frozen=True)
class Refusal:
    """Why a learner was not verified at an epsilon."""

    learner: str
    epsilon: float
    params: dict[str, PlainValue]
    reason: str


@dataclass(frozen=True)
class StoredRun:
    """What one run found.

    Attributes
    ----------
    version, date : str
        Of dpviz, and the day (ISO 8601).
    results : tuple of AuditResult
        Learner by learner, epsilon by epsilon, one per universe or named pair.
    refusals : tuple of Refusal
        Learners whose outputs cannot be listed, with the reason.
    mechanisms : tuple of AuditResult
        Rules inside learners, verified as bare mechanisms.
    audits : tuple of AuditedBound
        Attacked by sampling.
    """

    version: str
    date: str
    results: tuple[AuditResult, ...]
    refusals: tuple[Refusal, ...] = ()
    mechanisms: tuple[AuditResult, ...] = ()
    audits: tuple[AuditedBound, ...] = ()

    def worst(self) -> tuple[AuditResult, ...]:
        """The most severe result per learner, epsilon and parameters, in the order of the run."""
        groups: dict[str, list[AuditResult]] = {}
        for result in self.results:
            groups.setdefault(json.dumps([result.learner, result.epsilon, result.params], sort_keys=True), []).append(result)
        return tuple(map(worst_of, groups.values()))

    @property
    def has_broken_ledger(self) -> bool:
        """True when a counterexample to one of our own ledgers was found: a bug in dpviz."""
        verdicts = (*(found.verdict for found in (*self.results, *self.mechanisms)), *(found.verdict for found in self.audits))
        return "ledger violated" in verdicts


def run_to_json(run: StoredRun) -> str:
    """JSON text, one result per line."""
    lists = {name: getattr(run, name) for name in ("results", "refusals", "mechanisms", "audits")}
    head = {"format": FORMAT, "version": run.version, "date": run.date, "neighbours": NEIGHBOURS}
    parts = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    parts += [f" {json.dumps(name)}: [{_lines(items)}]" for name, items in lists.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(items: Iterable[Any]) -> str:
    texts = [json.dumps(_plain(item), ensure_ascii=False, allow_nan=False) for item in items]
    return "\n  " + ",\n  ".join(texts) + "\n " if texts else ""


def _plain(item: Any) -> dict[str, Any]:
    """Seconds, which differ from run to run, to three digits."""
    return {key: round(value, 3) if key == "seconds" else without_infinity(value) for key, value in asdict(item).items()}


def run_from_json(text: str | bytes) -> StoredRun:
    """The run in a JSON text; raises DocumentError naming the path of what is wrong."""
    document = with_infinity(parse_json(text), "log_ratio", "claimed", "composed", "bound")
    require_format(document, FORMAT)
    return read(StoredRun, document)


def stored_run(path: Path | None = None) -> StoredRun:
    """The run at `path`, or the one that comes with dpviz. Raises DpvizError when the file is missing or damaged."""
    path = path or bundled("data/benchmarks/verdicts.json")
    if not path.is_file():
        raise DpvizError(
            "There is no stored run of verification.",
            where=str(path),
            remedy=f"Make one: dpviz verify --all --out {path.name}",
        )
    return run_from_json(path.read_bytes())
