"""A trained model in a few lines of text: what is guaranteed, what its source claims, what was disclosed."""

from dpviz.accounting.claim import why_uncovered
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.figures.publish.test_result import accuracy_sentence
from dpviz.learners import get_learner
from dpviz.models.tree import Tree
from dpviz.training.contract import FitResult


def summary(result: FitResult) -> list[tuple[str, str]]:
    """(name, value) lines."""
    return [
        ("Learner", f"{get_learner(result.learner).title} ({result.learner})"),
        ("Guarantee", _guarantee(result)),
        *_of_a_person(result),
        ("Claim", _claim(result)),
        ("Noise", _noise(result)),
        *_shape(result),
        *([] if result.test_report is None else [("Test", accuracy_sentence(result.test_report))]),
        ("Disclosures", str(len(result.disclosures))),
    ]


def loss_text(loss: PrivacyLoss) -> str:
    """Epsilon with its neighbouring relation, and delta where there is one."""
    delta = f", delta = {loss.delta:.6g}" if loss.delta else ""
    return f"epsilon = {loss.epsilon:.6g}{delta} ({NEIGHBOURS})"


def _guarantee(result: FitResult) -> str:
    loss = result.ledger.guarantee
    if not loss.is_finite:
        reasons = dict.fromkeys(row.note for row in result.ledger.rows() if row.note)
        return f"none, epsilon is infinite ({NEIGHBOURS}): {'; '.join(reasons)}"
    why_not = why_uncovered(result.disclosures, is_exact=get_learner(result.learner).exact)
    if why_not:
        return f"none, because {why_not}; the steps add up to {loss_text(loss)}"
    return loss_text(loss) if result.released else f"would be {loss_text(loss)} if released"


def _of_a_person(result: FitResult) -> list[tuple[str, str]]:
    if result.per_person is None:
        return []
    delta = f", delta = {result.per_person.delta:.6g}" if result.per_person.delta else ""
    rows = f"{result.rows_per_person:,} row{'s'[: result.rows_per_person != 1]}"
    return [("Per person", f"epsilon = {result.per_person.epsilon:.6g}{delta}, at most {rows} of each")]


def _claim(result: FitResult) -> str:
    claim = result.claim
    if not claim.is_private:
        return f"none. {claim.because}"
    return f"{loss_text(PrivacyLoss(claim.epsilon, claim.delta))}, {claim.source}: {claim.verdict}. {claim.because}"


def _noise(result: FitResult) -> str:
    if all(row.kind in ("non-private", "no cost") for row in result.ledger.rows()):
        return "none"
    if result.noise == "release":
        return f"exact samplers, no seed. {result.not_released_because or 'A release.'}"
    return f"simulation with seed {result.seed}, not a release: whoever knows the seed can undo the noise"


def _shape(result: FitResult) -> list[tuple[str, str]]:
    model = result.model
    if not isinstance(model, Tree):
        return [("Model", model.kind)]
    return [("Depth", str(model.depth)), ("Leaves", str(model.n_leaves))]
