"""Where learners differ from their sources, as tables and as a page; all of it stands in the learners' own files."""

from collections.abc import Iterable

from dpviz.training.contract import LearnerSpec

#: Columns of the tables.
PAPER, HERE, WHY = "the paper", "here", "why"


def departure_rows(spec: LearnerSpec) -> list[dict[str, str]]:
    """One row per difference, with the columns above; empty for none."""
    return [{PAPER: item.paper, HERE: item.here, WHY: item.why} for item in spec.departures]


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
    """The section of one learner: its source, and a table, or that no difference is known."""
    head = f"## {spec.title} (`{spec.name}`)\n\nSource: {spec.citation}."
    rows = departure_rows(spec)
    if not rows:
        return f"{head} No difference is known."
    lines = [[PAPER, HERE, WHY], ["---"] * 3, *(list(row.values()) for row in rows)]
    table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    return f"{head}\n\n{table}"
