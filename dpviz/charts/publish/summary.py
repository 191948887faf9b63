"""A trained model in a few lines of text: what is guaranteed, what its source claims, what was disclosed."""

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.charts.publish.test_result import accuracy_sentence, beside_always, group_sentences
from dpviz.learners import get_learner, result_verdict
from dpviz.models.tree import Tree
from dpviz.results.result import FitResult
from dpviz.results.verdict import loss_text
from dpviz.results.wording import signs_spelled


def summary(result: FitResult) -> list[tuple[str, str]]:
    """(name, value) lines."""
    found, reasons = result_verdict(result), ""
    if not result.ledger.guarantee.is_finite:
        reasons = f": {'; '.join(dict.fromkeys(row.note for row in result.ledger.rows() if row.note))}"
    model = result.model
    shape = [("Model", model.kind)]
    if isinstance(model, Tree):
        shape = [("Depth", str(model.depth)), ("Leaves", str(model.n_leaves))]
    return [
        ("Learner", f"{get_learner(result.learner).title} ({result.learner})"),
        ("Guarantee", signs_spelled(f"{found.headline}{reasons}")),
        ("Odds", signs_spelled(f"{found.odds} {found.plain_bound}".strip())),
        ("Claim", _claim(result)),
        ("Noise", _noise(result)),
        *shape,
        *_tested(result),
        *(("Group", words) for words in group_sentences(result.test_report)),
        ("Disclosures", str(len(result.disclosures))),
    ]


def _tested(result: FitResult) -> list[tuple[str, str]]:
    """What the private test says. Classes that were read from the rows are cells: a terminal or its log may not name them."""
    report = result.test_report
    if report is None:
        return []
    names_cells = "classes" in result.schema.target.read_from_data
    beside = "" if names_cells else beside_always(report)
    return [("Test", accuracy_sentence(report)), *([("Compared", beside)] if beside else [])]


def _claim(result: FitResult) -> str:
    claim = result.claim
    if not claim.is_private:
        return f"none. {claim.because}"
    asked = signs_spelled(loss_text(PrivacyLoss(claim.epsilon, claim.delta), result.unit))
    return f"{asked}, {claim.source}: {claim.verdict}. {claim.because}"


def _noise(result: FitResult) -> str:
    if all(row.kind in ("non-private", "no cost") for row in result.ledger.rows()):
        return "none"
    if result.noise == "release":
        return f"exact samplers, no seed. {result.not_released_because or 'A release.'}"
    return f"simulation with seed {result.seed}, not a release: anyone who knows the seed can undo the noise"
