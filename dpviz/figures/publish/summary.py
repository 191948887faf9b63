"""A trained model in a few lines of text: what is guaranteed, what its source claims, what was disclosed."""

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.figures.publish.groups import group_sentences
from dpviz.figures.publish.test_result import accuracy_sentence, beside_always
from dpviz.learners import get_learner, result_verdict
from dpviz.models.tree import Tree
from dpviz.results.result import FitResult
from dpviz.results.verdict import Verdict, loss_text
from dpviz.results.wording import signs_spelled


def summary(result: FitResult) -> list[tuple[str, str]]:
    """(name, value) lines."""
    found = result_verdict(result)
    return [
        ("Learner", f"{get_learner(result.learner).title} ({result.learner})"),
        ("Guarantee", _guarantee(result, found)),
        ("Odds", signs_spelled(f"{found.odds} {found.plain_bound}".strip())),
        ("Claim", _claim(result)),
        ("Noise", _noise(result)),
        *_shape(result),
        *_tested(result),
        *(("Group", words) for words in group_sentences(result.test_report)),
        ("Disclosures", str(len(result.disclosures))),
    ]


def _tested(result: FitResult) -> list[tuple[str, str]]:
    report = result.test_report
    beside = "" if report is None else beside_always(report)
    return [] if report is None else [("Test", accuracy_sentence(report)), *([("Compared", beside)] if beside else [])]


def _guarantee(result: FitResult, found: Verdict) -> str:
    if result.ledger.guarantee.is_finite:
        return signs_spelled(found.headline)
    reasons = dict.fromkeys(row.note for row in result.ledger.rows() if row.note)
    return signs_spelled(f"{found.headline}: {'; '.join(reasons)}")


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


def _shape(result: FitResult) -> list[tuple[str, str]]:
    model = result.model
    if not isinstance(model, Tree):
        return [("Model", model.kind)]
    return [("Depth", str(model.depth)), ("Leaves", str(model.n_leaves))]
