"""Where learners differ from their papers, and what these state, as a page of Markdown (`dpviz/learners/papers.py`)."""

from collections.abc import Iterable

from dpviz.learners.papers import DIFFERENCES, statement_rows
from dpviz.training.contract import LearnerSpec


def departures_page(specs: Iterable[LearnerSpec]) -> str:
    """The page of all learners that spend epsilon, as Markdown: a section each."""
    return "\n\n".join([_HEAD, *(departures_section(spec) for spec in specs if spec.spends_epsilon)]) + "\n"


_HEAD = (
    "# Differences from the papers\n\n"
    "Every known difference between a learner and its source, from `dpviz/learners/papers.py`; `make check` fails where this "
    "page is another. Rerun: `python -m benchmarks differences --out data/benchmarks/differences.md`.\n\n"
    "For all: epsilon is for adding or removing one row, whatever relation a paper takes. Noise of a release comes from exact "
    "samplers, or there is no release."
)


def departures_section(spec: LearnerSpec) -> str:
    """The section of one learner: its source, its differences or that none is known, and the statements of its paper."""
    head = f"## {spec.title} (`{spec.name}`)\n\nSource: {spec.citation}."
    differences = DIFFERENCES.get(spec.name, ())
    parts = ["\n".join(f"- {one}" for one in differences)] if differences else []
    if rows := statement_rows(spec.name):
        lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
        table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        parts += ["Its theorems, lemmas and corollaries as printed:", table]
    return "\n\n".join([head if differences else f"{head} No difference is known.", *parts])
