"""The page of `curves`: every figure as a table, a row per curve."""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict

from benchmarks.arguments import add_data, add_out, count
from benchmarks.boosting.measure import DELTA
from benchmarks.curves.measure import FOREST_TREES, MAX_DEPTH, NO_NOISE, Point, points
from benchmarks.page import made_by, markdown_table, show_page
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands import console
from dpviz.commands.files import write_whole

#: Figure -> (heading, words, what runs along a row).
FIGURES = {
    "PrivaTree 1": ("PrivaTree, Figure 1: accuracy against epsilon", "Test accuracy over random splits.", "epsilon"),
    "PrivaTree 2": (
        "PrivaTree, Figure 2: how epsilon is divided",
        "Training accuracy with these parts of epsilon for quantiles, nodes and leaves. As in the paper, vote at epsilon .1 and "
        "depth 3, 50 runs; its second table, pol, is not at hand.",
        "parts",
    ),
    "forest 5b": (
        "Smooth forest, Figure 5b: smooth sensitivity",
        f"Mean of e^(-j eps) over the leaves with rows, {FOREST_TREES} trees at epsilon 1, at most 8 levels. Lower is better.",
        "trees",
    ),
    "forest 7": (
        "Smooth forest, Figure 7: number of trees",
        f"Test accuracy; the published depth, at most {MAX_DEPTH}. The paper says that many data sets reach 85 to 90% at epsilon "
        ".2 with 100 trees.",
        "trees",
    ),
    "forest 8": ("Smooth forest, Figure 8: flipped labels", "Share of the leaves with rows.", "trees"),
    "forest 9": (
        "Smooth forest, Figure 9: number of rows",
        "Test accuracy. As in the paper, up to 3,000,000 rows.",
        "rows",
    ),
    "forest 10": (
        "Smooth forest, Figure 10: Adult against epsilon",
        f"Test accuracy. Epsilon {NO_NOISE:g} stands for the same forest without noise.",
        "epsilon",
    ),
    "S-GBDT 3": (
        "S-GBDT, Figure 3: what each row loses",
        "The loss of a row by its own gradients, of rows sorted by it, at epsilon 1 (a twentieth of it for the first score) and "
        f"delta {DELTA:g}. All rows take part in every round. The stored numbers are those "
        "of the redesign, which had the filter until November 2026. It is computed from the rows: no guarantee.",
        "rows sorted by their loss",
    ),
}


def add_arguments(parser: ArgumentParser) -> None:
    """Where the data are, how often, and where to write."""
    add_data(parser, only="")
    parser.add_argument("--runs", type=count, default=20, metavar="N", help="runs per point, a fifth for forests (default: 20)")
    add_out(parser, run_curves, "its points as CSV")


def run_curves(args: Namespace) -> int:
    """Measure, print, and write where --out says; the points are written as they come."""
    import pandas as pd

    found: list[Point] = []
    for one in points(args.data, args.runs):
        console.doing(f"{one.figure}, {one.data}, {one.series}: {one.x}")
        found.append(one)
        if args.out is not None:
            table = pd.DataFrame(map(asdict, found)).to_csv(index=False, float_format="%.6g")
            write_whole(args.out.with_suffix(".csv"), table, force=True)
    page = curves_page(found, args.runs, made=made_by())
    return show_page(page, args.out)


def curves_page(found: Sequence[Point], runs: int, *, made: str) -> str:
    """The whole page, of the figures that were measured."""
    head = f"""# Curves of the papers

Figures of the PrivaTree paper (Vos et al. 2023, depth 4), of the smooth random forest paper (Fletcher & Islam 2017) and of the
S-GBDT paper (Kirschte et al. 2023) that stand on no other page. For most of them the papers print no numbers; a cell is a mean ±
standard error over runs, each with a split or noise of its own. Epsilon is what a learner claims ({NEIGHBOURS}); the claims of
PrivaTree, BDPT and the smooth forest are violated. Ranges are read from the data, as in the papers, those of abalone declared.

{made} Rerun: `python -m benchmarks curves --data DIR --runs {runs}`. The points stand beside this page."""
    return "\n\n".join([head, *(_figure(found, name) for name in FIGURES if any(one.figure == name for one in found))]) + "\n"


def _figure(found: Sequence[Point], name: str) -> str:
    heading, words, along = FIGURES[name]
    here = [one for one in found if one.figure == name]
    places = list(dict.fromkeys(one.x for one in here))
    by_place = {(one.data, one.series, one.x): one for one in here}
    rows = [
        [data, series, *(_cell(by_place.get((data, series, place))) for place in places)]
        for data, series in dict.fromkeys((one.data, one.series) for one in here)
    ]
    counts = sorted({one.n for one in here})
    table = markdown_table(["data", f"curve, by {along}", *map(_place, places)], rows)
    found_here = _many_trees(here) if name == "forest 7" else ""
    return f"## {heading}\n\n{words}{found_here} Runs: {', '.join(map(str, counts))}.\n\n{table}"


def _many_trees(here: Sequence[Point]) -> str:
    """How many data sets reach what the paper says of its Figure 7a."""
    means = [one.mean for one in here if (one.series, one.x) == ("epsilon 0.2", 100.0)]
    if not means:
        return ""
    reached, least, most = sum(mean >= 0.85 for mean in means), 100 * min(means), 100 * max(means)
    return f" Here {reached} of {len(means)} do, with {least:.1f} to {most:.1f}%."


def _place(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "any" if math.isinf(value) else f"{value:,.15g}"


def _cell(one: Point | None) -> str:
    if one is None:
        return "-"
    mean = f"{one.mean:.3f}".removeprefix("0")
    return mean if math.isnan(one.error) else f"{mean} ± {one.error:.3f}".replace("± 0.", "± .")
