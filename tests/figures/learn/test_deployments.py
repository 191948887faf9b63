from __future__ import annotations

import csv
from statistics import median

import pytest

from dpviz.evaluation.learn.deployments import FILE, deployments
from dpviz.figures.learn.deployments import (
    UNITS,
    deployment_rows,
    deployments_figure,
    deployments_sentence,
    with_epsilon,
)
from dpviz.installation import bundled


def test_every_entry_is_there_and_every_epsilon_is_a_dot_in_the_line_of_its_unit() -> None:
    with bundled(FILE).open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    found = deployments()
    assert sorted(item.name for item in found) == sorted(line["name"] for line in lines)
    figure = deployments_figure(found, mine=1.0)
    drawn = {(x, y) for trace in figure.data for x, y in zip(trace.x, trace.y, strict=True)}
    assert drawn == {(float(line["epsilon"]), UNITS[_of(line["name"]).protects]) for line in lines if line["epsilon"]}
    assert len(deployment_rows(found)) == len(lines)


def _of(name: str):
    return next(item for item in deployments() if item.name == name)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Community Mobility Place Visits", "day"),
        ("Audience Engagement API", "month"),
        ("LinkedIn Hiring Reports", "month"),
        ("Popular Emojis", "day"),
        ("AutoPlay Intent", "person"),
        ("FLEX", "other"),
    ],
)
def test_a_part_of_a_persons_data_is_not_the_person_and_nothing_is_called_reviewed(name: str, kind: str) -> None:
    assert _of(name).protects == kind
    assert _of(name).status in ("Pending", "Draft")


@pytest.mark.parametrize("mine", [0.001, 1.0, 100.0])
def test_the_sentence_counts_what_is_drawn(mine: float) -> None:
    shown = with_epsilon(deployments())
    said = deployments_sentence(deployments(), mine=mine)
    assert said.startswith(f"{len(shown)} entries give an ε")
    assert f"; {sum(item.epsilon < mine for item in shown)} of them are below" in said
    persons = [item.epsilon for item in shown if item.protects == "person"]
    assert f"the median of {len(persons)} is {median(persons):.3g}" in said
    figure = deployments_figure(deployments(), mine=mine)
    assert [shape.x0 for shape in figure.layout.shapes] == [mine]
