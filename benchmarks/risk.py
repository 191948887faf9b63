"""What one row risks, for every learner: right guesses of 100 by e^epsilon and by what was really run.

Every learner is trained once on a small seeded table, so that its ledger is that of its own mechanisms; the numbers follow from
the ledger alone. Persons: three rows of one person, and three persons with one row each.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

from benchmarks.page import made_today, markdown_table
from dpviz.accounting.plan import BudgetPlan
from dpviz.accounting.profile import profile
from dpviz.accounting.risk import Risk
from dpviz.errors import DpvizError
from dpviz.learners import fit, registry, risk_on_any_rows
from dpviz.randomness import generator
from dpviz.results.wording import rounded_up
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema, Target
from dpviz.training.contract import LearnerSpec

EPSILONS = (0.1, 1.0, 3.0)
#: Rows that are declared public, as many as usual tables have; the ledger depends on them, not on the rows.
N_PUBLIC = 30_000
_TARGETS: dict[str, Target] = {"classes": ClassTarget("y", ("a", "b")), "number": NumericTarget("y", 0, 1)}


def table_of(task: str, n_rows: int = 300) -> EncodedDataset:
    """Seeded rows with two numbers and a category, three of each person."""
    rng = generator(7)
    features = (NumericFeature("x", 0, 1), NumericFeature("z", 0, 1), CategoricalFeature("c", ("p", "q", "r")))
    schema = Schema(features, _TARGETS[task], n_public=N_PUBLIC)
    x, z = rng.random((2, n_rows))
    target = (x > 0.5).astype(np.uint8) if task == "classes" else x
    columns = (x, z, rng.integers(3, size=n_rows).astype(np.uint8))
    return EncodedDataset(schema, columns, target, rows_per_person=3, persons=np.arange(n_rows) // 3)


def listed_settings() -> Iterator[tuple[str, LearnerSpec, str, dict[str, object]]]:
    """(title, learner, task, settings) of every line: each private learner as it comes, pf-tree in its forms too."""
    for spec in registry().values():
        if spec.spends_epsilon:
            for task in spec.tasks:
                yield f"`{spec.name}`" + (", a number" if task == "number" else ""), spec, task, {}
    tree = registry()["pf-tree"]
    yield "`pf-tree`, labels alone", tree, "classes", {"leaves": "labels"}
    yield "`s-gbdt-published`, no filter", registry()["s-gbdt-published"], "classes", {"filter": False}


def risk_page() -> str:
    """The page, as Markdown."""
    rows, seconds, stages = [], [], dict[str, None]()
    for title, spec, task, settings in listed_settings():
        data = table_of(task)
        for epsilon in EPSILONS:
            try:
                result = fit(spec.name, data, epsilon=epsilon, seed=1, **settings)  # type: ignore[arg-type]
                risk = risk_on_any_rows(result.ledger.event, result.claim)
            except DpvizError as problem:
                rows.append([title, f"{epsilon:g}", "-", "-", "-", "-", "-", "-", str(problem)])
                continue
            if title == "`pf-tree`":
                stages[stages_of(result.plan)] = None
            began = perf_counter()
            risk.guesses()
            seconds.append(perf_counter() - began)
            rows.append([title, f"{epsilon:g}", f"{result.plan.depth}", *numbers(risk)])
    profile.cache_clear()
    head = ["learner", "epsilon", "levels", "delta", "e^epsilon", "what was run", "3 rows of one person", "3 persons"]
    head.append("e^(3 epsilon)")
    half, most = 1000 * np.median(seconds), max(seconds)
    timed = f"{made_today()}. Half of these risks took less than {half:.0f} ms, the longest {most:.1f} s."
    divided = f"Shares of epsilon of the stages of `pf-tree`: {'; '.join(stages)}."
    return f"# What one row risks\n\n{_HEAD}\n\n{markdown_table(head, rows)}\n\n{_FOOT}\n\n{divided}\n\n{timed}\n"


def stages_of(plan: BudgetPlan) -> str:
    """How PF-tree divides epsilon: "4 levels: 0.338, 0.662"."""
    return f"{plan.depth} levels: {', '.join(f'{share.epsilon / plan.epsilon:.3f}' for share in plan.shares)}"


def numbers(risk: Risk) -> list[str]:
    """The cells of a line after its levels: delta, and right guesses of 100."""
    if not risk.plain.is_finite:
        return ["", "100", "100", "100", "100", "100"]
    person, persons = risk.for_rows(3), risk.for_persons(3)
    found = (risk.plain.guesses_right, risk.guesses(), person.guesses(), persons.guesses(), person.plain.guesses_right)
    return [f"{risk.plain.delta:.3g}" if risk.plain.delta else "0", *(rounded_up(100 * share, 1) for share in found)]


_HEAD = (
    "Right guesses of 100 whether a row was used, rounded up, at even odds before; a coin reaches 50. *e^epsilon* is what "
    "epsilon and delta say of any mechanism that has them; *what was run* follows from the trade-off curve of the very "
    "steps in the ledger (`result.risk`). Three rows of one person and three persons are composed, not multiplied; the last"
    " column is the plain bound for three rows. The rows are 300 seeded ones, n = 30,000 is declared; the number of "
    "*levels* is what each learner's rule answers to that. A ledger depends on its settings, not on rows (`fs-tree` may end"
    " early: then the bound of any algorithm counts). 100 where nothing bounds the loss. Rerun: `python -m benchmarks risk "
    "--out data/benchmarks/risk.md`."
)
_FOOT = (
    "From which theorem: pure steps are randomised responses, of k rows discrete Laplace noise at distance k. Exponential "
    "mechanisms have the largest profile of a bounded range (Dong, Durfee & Rogers 2020), which stays above the adaptive "
    "optimum; permute-and-flip has no bounded range. Gaussian rounds are one Gaussian (Balle & Wang 2018), of k rows k "
    "times as far. Where rows are sampled they are binomial mixtures; with an individual filter, all that a Renyi divergence "
    "of its order leaves possible, chained for k rows. Steps are composed as privacy loss distributions by `dp_accounting`, "
    "connecting the dots (Doroshenko et al. 2022): never too little. On disjoint rows the largest profile counts, of "
    "randomly assigned parts the mean ([theorem and proof](../../docs/explanation/risk.md)). Checked in "
    "`tests/accounting/test_profile.py` and `test_risk.py` against enumerated outcomes, integrals, every tree of "
    "small universes and searches over all laws that a theorem leaves possible."
)
