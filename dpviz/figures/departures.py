"""Where learners differ from their sources, and what their sources state; all of it stands in the learners' own files."""

from collections.abc import Iterable, Sequence

from dpviz.training.contract import LearnerSpec, Status

#: Columns of the tables.
PAPER, HERE, WHY = "the paper", "here", "why"
STATEMENT, SAYS, STATUS, EVIDENCE = "statement", "what it says", "status", "evidence"
#: Status -> its words.
STATUSES: dict[Status, str] = {
    "holds": "holds",
    "corrected": "corrected here",
    "refuted": "refuted",
    "withdrawn": "withdrawn",
}


def departure_rows(spec: LearnerSpec) -> list[dict[str, str]]:
    """One row per difference, with the columns above; empty for none."""
    return [{PAPER: item.paper, HERE: item.here, WHY: item.why} for item in spec.departures]


def statement_rows(spec: LearnerSpec) -> list[dict[str, str]]:
    """One row per numbered statement of its paper, with the columns above; empty for none."""
    return [
        {STATEMENT: one.name, SAYS: one.says, STATUS: STATUSES[one.status], WHY: one.because, EVIDENCE: one.evidence}
        for one in spec.statements
    ]


def departures_page(specs: Iterable[LearnerSpec]) -> str:
    """The page of all learners that spend epsilon, as Markdown: a section each."""
    return "\n\n".join([_HEAD, *(departures_section(spec) for spec in specs if spec.spends_epsilon)]) + "\n"


_HEAD = (
    "# Differences from the papers\n\n"
    "Every known difference between a learner and its source, as the learner's own file declares it. This page is made from "
    "those declarations; `make check` fails where it is not. Rerun: `python -m benchmarks differences --out "
    "data/benchmarks/differences.md`.\n\n"
    "For all: epsilon is for adding or removing one row, whatever relation a paper takes. Noise of a release comes from exact "
    "samplers, or there is no release."
)


def departures_section(spec: LearnerSpec) -> str:
    """The section of one learner: its source, a table or that no difference is known, and the statements of its paper."""
    head = f"## {spec.title} (`{spec.name}`)\n\nSource: {spec.citation}."
    rows = departure_rows(spec)
    tables = [_table(rows)] if rows else []
    if spec.statements:
        tables += ["Its theorems, lemmas and corollaries as printed:", _table(statement_rows(spec))]
    return "\n\n".join([head if rows else f"{head} No difference is known.", *tables])


def _table(rows: Sequence[dict[str, str]]) -> str:
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
