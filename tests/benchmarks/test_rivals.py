"""`rivals`: the stored page says what its own tables say."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.rivals import LEARNERS, SPLITS, Measured, rivals_page

PAGE = (Path(__file__).parents[2] / "data" / "benchmarks" / "rivals.md").read_text(encoding="utf-8")


def rows() -> list[list[str]]:
    """Data, rows, epsilon and a cell per learner, of AUC."""
    table = PAGE.partition("## AUC")[2].partition("## Accuracy")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return [line for line in lines if line[2][0].isdigit()]


def means(line: list[str]) -> dict[str, float]:
    return {title: float(cell.strip("*").split(" ± ")[0]) for title, cell in zip(LEARNERS, line[3:], strict=True)}


def measured(**aucs: float) -> list[Measured]:
    of = {title: aucs.get(title.split()[0].replace("-", "_"), 0.5) for title in LEARNERS}
    noise = np.linspace(-0.001, 0.001, SPLITS)
    return [
        Measured("loans", 100, 0.1, split, title, auc + noise[split] * (title == "PF-tree"), 0.5, 0.1)
        for split in range(SPLITS)
        for title, auc in of.items()
    ]


def test_the_first_line_counts_the_cells_where_a_rival_is_ahead() -> None:
    def is_behind(found: dict[str, float]) -> bool:
        ours = max(found.pop("S-GBDT"), found.pop("PF-tree"))
        return max(found.values()) > ours

    behind = sum(is_behind(means(line)) for line in rows())
    assert f"in {behind} of {len(rows())} cells" in PAGE


def test_the_best_is_bold() -> None:
    for line in rows():
        found = means(line)
        best = max(found.values())
        assert {title for title, cell in zip(LEARNERS, line[3:], strict=True) if cell.startswith("**")} <= {
            title for title, value in found.items() if value == best
        }


@pytest.mark.parametrize("part", ["AUC", "Accuracy", "Time"])
def test_the_page_has_every_part(part: str) -> None:
    assert f"## {part}\n" in rivals_page(measured(S_GBDT=0.8), "Made now.")
