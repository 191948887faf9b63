"""The page of all learners, from their own files: what each does, what its source claims, and what is known of that."""

from __future__ import annotations

from collections.abc import Iterable

from dpviz.cli.learners import claims_in_words, verdict_in_words
from dpviz.evaluation.audit.evidence import typical
from dpviz.evaluation.audit.verdicts import StoredRun
from dpviz.training.contract import LearnerSpec

HEADER = ["name", "title", "idea", "claims", "proved", "why"]


def learners_page(specs: Iterable[LearnerSpec], stored: StoredRun) -> str:
    """The page, as Markdown: a line for each."""
    rows = (HEADER, ["---"] * len(HEADER), *(learner_line(spec, stored) for spec in specs))
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"# Learners\n\n{_HEAD}\n\n{table}\n"


def learner_line(spec: LearnerSpec, stored: StoredRun) -> list[str]:
    """Its line."""
    claim = typical(spec).claim
    return [f"`{spec.name}`", spec.title, spec.idea, claims_in_words(claim), verdict_in_words(spec.name, stored), claim.because]


_HEAD = (
    "What a learner's source claims under add/remove one row, and what is known of that claim. *Holds*: a proof is in the "
    "code. *Violated*: a counterexample is known. *Unproven*: neither. Where that depends on epsilon, all are listed. This "
    "page is made from the learners' own files and the stored run of the audit, as `make check` checks. "
    "Rerun: `python -m benchmarks learners --out data/benchmarks/learners.md`."
)
