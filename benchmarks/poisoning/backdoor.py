"""The backdoor on digits 0 and 1 (Figure 4 of the PrivaTree paper), each attack with poison and noise of its own.

One trigger decides nearly all zeros or none, so a mean needs many attacks. The default learner is also attacked at an epsilon at
which it is about as accurate as PrivaTree at .1, and with other candidate splits, to tell what it falls to.
"""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from benchmarks.arguments import add_data, add_out
from benchmarks.data import manifest
from benchmarks.page import made_by, show_page
from benchmarks.poisoning.backdoor_page import ATTACKS, EPSILON, FEW_ATTACKS, Attacked, backdoor_page
from benchmarks.poisoning.measure import DEPTH, SAME_LEARNER, asked_of, rows_at
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands import console
from dpviz.commands.files import write_whole
from dpviz.evaluation.robustness.backdoor import Backdoor, corner_backdoor
from dpviz.evaluation.robustness.certificates import Certificate
from dpviz.evaluation.robustness.draws import draw, limits
from dpviz.io.csv import read_csv
from dpviz.learners import DEFAULT, FitRequest
from dpviz.learners.native import pf_tree
from dpviz.models.tree import Branch, Tree
from dpviz.randomness import child_seeds, generator
from dpviz.results.result import score
from dpviz.table.candidates import CandidateGrid, multiscale_grid
from dpviz.table.candidates import thresholds_candidates as cuts_at
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

if TYPE_CHECKING:
    import pandas as pd

MNIST = ("mnist01_train", "mnist01_test")
SHARES = (0.0, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01)
#: An epsilon at which the default learner is about as accurate as PrivaTree at EPSILON.
AS_ACCURATE = 0.03


@dataclass(frozen=True, slots=True)
class Curve:
    """A learner and epsilon, the poisoned shares, attacks per share, and draws on clean rows for what is proved."""

    learner: str
    epsilon: float
    shares: tuple[float, ...] = SHARES
    attacks: int = ATTACKS
    bound_draws: int = 500


CURVES = (
    *(Curve(DEFAULT, epsilon) for epsilon in (EPSILON, AS_ACCURATE, 0.01)),
    # Slow, and nothing is proved of it.
    Curve(SAME_LEARNER["PrivaTree"], EPSILON, bound_draws=FEW_ATTACKS),
    Curve(SAME_LEARNER["PrivaTree"], 0.01, attacks=3 * FEW_ATTACKS, bound_draws=3 * FEW_ATTACKS),
    Curve("cart", 1.0, attacks=FEW_ATTACKS, bound_draws=1),
)


def _grid(fractions: Sequence[float]) -> Callable[[Schema], CandidateGrid]:
    """Pixels cut at these fractions of their range."""

    def of(schema: Schema) -> CandidateGrid:
        cuts = [np.unique(np.floor(f.low + np.array(fractions) * (f.high - f.low))) + 0.5 for f in schema.features]  # type: ignore[union-attr]
        return CandidateGrid(schema, tuple(map(cuts_at, cuts)), f"fractions {len(fractions)}")

    return of


_SIXTEENTHS = [place / 16 for place in range(1, 16)]
#: What is tried instead of the default learner's candidates: title -> (grid, parameters).
VARIANTS: dict[str, tuple[Callable[[Schema], CandidateGrid], dict[str, str]]] = {
    "as it is": (multiscale_grid, {}),
    "fine near the low end only": (_grid([*_SIXTEENTHS, *(2.0**-k for k in range(5, 17))]), {}),
    "sixteenths of the range": (_grid(_SIXTEENTHS), {}),
    "quarters of the range": (_grid([0.25, 0.5, 0.75]), {}),
    "the middle only": (_grid([0.5]), {}),
    "as it is, honest leaves": (multiscale_grid, {"leaves": "honest"}),
}


@dataclass(frozen=True)
class Pictures:
    """Training and test pictures, and the trigger."""

    train: EncodedDataset
    test: EncodedDataset
    backdoor: Backdoor


def mnist(folder: Path) -> Pictures:
    """Pictures of the digits 0 and 1 with every pixel declared as a whole number from 0 to 255."""
    train, test = (_encoded(folder, name) for name in MNIST)
    return Pictures(train, test, corner_backdoor(train.schema))


def _encoded(folder: Path, name: str) -> EncodedDataset:
    (entry,) = manifest(folder, [name])
    table = read_csv(folder / entry.file)
    pixels = [column for column in table.names if column != entry.target]
    features = tuple(NumericFeature(pixel, 0, 255, whole=True) for pixel in pixels)
    return encode(table, Schema(features, ClassTarget(entry.target, ("0", "1")), n_public=table.n_rows))


def figure_4(pictures: Pictures, curves: Sequence[Curve]) -> Iterator[pd.DataFrame]:
    """Columns of `backdoor_curve`, for every curve as it is done; an attack is one fit, with poison and noise of its own."""
    import pandas as pd

    for curve in curves:
        yield pd.DataFrame(_points(pictures, curve)).round(4)


def _points(pictures: Pictures, curve: Curve) -> Iterator[dict[str, object]]:
    request = FitRequest.of(curve.learner, epsilon=curve.epsilon, max_depth=DEPTH, **asked_of(curve.learner))
    triggered, beta = pictures.backdoor.triggered(pictures.test), 0.05
    clean = draw(request, pictures.train, [triggered], draws=curve.bound_draws, seed=0)
    proved, clean_error = Certificate.of(clean, beta), _mean(clean.of(0))[1]
    for rows in (rows_at(share, pictures.train.n_rows) for share in curve.shares):
        success, accuracies, _ = _attacks(pictures, rows, curve.attacks, request)
        low, high = limits(success, curve.learner, beta / len(curve.shares))
        (mean, error), (accuracy_mean, accuracy_error) = _mean(success), _mean(accuracies)
        yield {
            "learner": curve.learner,
            "epsilon": curve.epsilon,
            "poisoned_rows": rows,
            "poisoned_share": rows / pictures.train.n_rows,
            "success": mean,
            "success_error": error,
            "success_low": low,
            "success_high": high,
            "accuracy": accuracy_mean,
            "accuracy_error": accuracy_error,
            "n_draws": curve.attacks,
            "published": 1 - proved.published(rows),
            "published_error": clean_error * proved.published(rows) / proved.accuracy,
            "tight": 1 - proved.tight(rows),
            "tight_high": 1 - proved.low(rows),
        }


def _attacks(pictures: Pictures, rows: int, attacks: int, request: FitRequest) -> tuple[np.ndarray, np.ndarray, int]:
    """(success, clean accuracy) of every attack, float64 of shape (attacks,), and how many trees ask for the trigger."""
    tests, found, asking = (pictures.backdoor.triggered(pictures.test), pictures.test), [], 0
    for seed in child_seeds(0, attacks):
        poisoned = pictures.backdoor.poison(pictures.train, rows, generator(seed))
        model = request.at(seed=seed).fit(poisoned).model
        found.append([score(model, test) for test in tests])
        asking += isinstance(model, Tree) and _asks(model, pictures.backdoor)
    kept, clean = np.array(found).T
    return 1 - kept, clean, asking


def attack(pictures: Pictures, title: str, attacks: int) -> Attacked:
    """The default learner with one of VARIANTS at EPSILON, with the largest share of poisoned rows."""
    grid, given = VARIANTS[title]
    request = FitRequest.of(DEFAULT, epsilon=EPSILON, max_depth=DEPTH, **{**asked_of(DEFAULT), **given})
    with patch.object(pf_tree, "multiscale_grid", _once(grid)):
        success, clean, asking = _attacks(pictures, rows_at(SHARES[-1], pictures.train.n_rows), attacks, request)
    return Attacked(title, _mean(success), _mean(clean), asking, attacks)


def _once(grid: Callable[[Schema], CandidateGrid]) -> Callable[[Schema], CandidateGrid]:
    """The same grid for equal schemas: it is slow to make."""
    made: list[CandidateGrid] = []

    def of(schema: Schema) -> CandidateGrid:
        if not made or made[0].schema != schema:
            made[:] = [grid(schema)]
        return made[0]

    return of


def _asks(model: Tree, backdoor: Backdoor) -> bool:
    """Whether a node asks for a pixel of the trigger."""
    nodes = (placed.node for placed in model.nodes())
    return any(isinstance(node, Branch) and node.rule.feature in backdoor.features for node in nodes)


def _mean(values: np.ndarray) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def add_arguments(parser: ArgumentParser) -> None:
    """Where the data are, how much to measure, and where to write."""
    add_data(parser, only="")
    parser.add_argument("--quick", action="store_true", help="two attacks each, on the default learner: to see that it runs")
    add_out(parser, run_backdoor, "its figure's data as CSV")


def run_backdoor(args: Namespace) -> int:
    """`backdoor`: measure, print, and write where --out says. The figure's data are written as they come."""
    import pandas as pd

    attacks = 2 if args.quick else ATTACKS
    curves = [replace(curve, attacks=2, bound_draws=20) for curve in CURVES if curve.learner == DEFAULT] if args.quick else CURVES
    pictures, frames, variants = mnist(args.data), list[pd.DataFrame](), list[Attacked]()
    for title in VARIANTS:
        console.doing(f"Attacking candidates: {title}")
        variants.append(attack(pictures, title, attacks))
    for curve, frame in zip(curves, figure_4(pictures, curves), strict=True):
        console.doing(f"Attacked {curve.learner} at epsilon {curve.epsilon:g} ({NEIGHBOURS})")
        frames.append(frame)
        if args.out is not None:
            write_whole(args.out.with_suffix(".csv"), pd.concat(frames, ignore_index=True).to_csv(index=False), force=True)
    page = backdoor_page(pd.concat(frames, ignore_index=True), variants, made=made_by())
    return show_page(page, args.out)
