"""The private test result in words with numbers, each with its interval, groups of rows too; a model in a few lines of text."""

from collections.abc import Callable

import numpy as np

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.charts.chart import Rows
from dpviz.charts.wording import minus
from dpviz.evaluation.metrics import RARE
from dpviz.learners import get_learner
from dpviz.models.tree import Tree, format_value
from dpviz.results.document import Estimate
from dpviz.results.result import FitResult, TestReport
from dpviz.results.verdict import Unit, loss_text
from dpviz.results.wording import signs_spelled
from dpviz.training.estimate.number_report import MIN_R2, NumberReport
from dpviz.training.estimate.report import CONFIDENCE, ClassReport

_MAX_CLASSES = 3
#: Of the largest error: an upper end beyond says nothing.
_ALL = 0.95
_COST = "from noisy counts at no further ε"


def result_sentences(report: TestReport, unit: Unit) -> list[str]:
    """What the model is worth on rows it never saw: accuracy, per class, ranking, log loss, calibration, and how it is known.

    Where one class has nearly all rows, accuracy comes last, beside what always saying this class reaches. Of a number: R2 and
    errors.
    """
    if isinstance(report, NumberReport):
        return [*_errors(report), _known_from(report, unit, "sums")]
    assert isinstance(report, ClassReport)
    classes = report.schema.classes
    accuracy = f"Right for {percent_with_interval(report.accuracy)} of the rows."
    is_rare = has_rare_classes(report)
    return [
        f"Balanced accuracy {percent_with_interval(report.balanced_accuracy)}: every class counts alike."
        if is_rare
        else accuracy,
        *(
            f"Of the rows with {name!r}, it finds {percent_with_interval(recall)}."
            for name, recall in zip(classes, report.recalls, strict=True)
        ),
        *_ranking(report),
        *(
            [f"{accuracy} Always saying the most frequent class: {percent_with_interval(report.largest_share)}."]
            if is_rare
            else []
        ),
        _known_from(report, unit, "counts"),
    ]


def _known_from(report: TestReport, unit: Unit, counts: str) -> str:
    of_labels = report.n_rows_of_labels if isinstance(report, ClassReport) else report.n_rows
    of_both = f" Accuracy and found shares also use the rows behind the probabilities, about {of_labels:,} in all."
    more = of_both if of_labels > report.n_rows else ""
    cost = unit.loss_of(PrivacyLoss(report.epsilon))
    return (
        f"Measured on about {max(report.n_rows, 0):,} rows held out at random, by noisy {counts} at "
        f"{loss_text(cost, unit)}.{more} The parts are disjoint, so the total ε does not grow. "
        f"In brackets: {CONFIDENCE:.0%} intervals."
    )


def is_better_than_always(report: TestReport) -> bool:
    """Whether the test shows that the model is right more often than always saying the most frequent class, or the mean."""
    if isinstance(report, NumberReport):
        return report.r_squared.low > 0
    assert isinstance(report, ClassReport)
    return report.gain.low > 0


def majority_comparison(report: TestReport) -> str:
    """What accuracy stands beside: what always saying one class reaches, and how many rows of each class are found."""
    if isinstance(report, NumberReport):
        return "" if is_better_than_always(report) else "No better than always the mean, as far as the test can tell."
    assert isinstance(report, ClassReport)
    always = f"Always {report.most_frequent!r} is right for {report.largest_share.value:.1%}"
    verdict = "" if is_better_than_always(report) else ": as far as the test can tell, the model is no better"
    numbers = [
        "an unknown number" if _is_any_share(recall) else _interval_text(recall, lambda share: f"{100 * share:.0f}")
        for recall in report.recalls
    ]
    recalls = [f"{number} of 100 {name!r}" for number, name in zip(numbers, report.schema.classes, strict=True)]
    if len(recalls) > _MAX_CLASSES:
        least = min(range(len(recalls)), key=lambda place: report.recalls[place].value)
        return f"{always}{verdict}. Of the class found least it finds {recalls[least]}."
    return f"{always}{verdict}. It finds {' and '.join(recalls)}."


def _errors(report: NumberReport) -> list[str]:
    low, high = (report.window.number(place) for place in (-1.0, 1.0))
    return [
        f"R² {_r_squared(report)}: 1 is perfect, 0 is what the mean of all rows reaches.",
        f"Typical error (RMSE) {_known(report, 'rmse', format_value)}.",
        f"Mean absolute error {_known(report, 'mae', format_value)}.",
        f"Measured within {format_value(low)} to {format_value(high)}: numbers beyond count as its ends, and an error as at most "
        f"{format_value(report.window.width)}. The brackets allow for what may lie beyond.",
    ]


def _interval_text(estimate: Estimate, text: Callable[[float], str]) -> str:
    """As in "2.13 (1.9 to 2.4)"."""
    return f"{text(estimate.value)} ({text(estimate.low)} to {text(estimate.high)})"


def _r_squared(report: NumberReport) -> str:
    """As in "0.31"; in words where it is far worse than the mean, or has no lower end."""
    return minus(_known(report, "r2", lambda value: f"{value:.2f}" if value >= MIN_R2 else f"below {MIN_R2:.0f}"))


def _known(report: NumberReport, name: str, text: Callable[[float], str]) -> str:
    estimate = report.estimates[name]
    least, most = (MIN_R2, 1.0) if name == "r2" else (0.0, report.largest_error * _ALL)
    if estimate is None or (estimate.low <= least and estimate.high >= most):  # too much noise for too few rows
        return "unknown"
    return _interval_text(estimate, text)


def has_rare_classes(report: TestReport) -> bool:
    """True where one class has so many of the rows that accuracy says next to nothing."""
    return isinstance(report, ClassReport) and report.largest_share.value >= RARE


def _ranking(report: ClassReport) -> list[str]:
    lines = []
    if report.auc is not None:
        second, first = report.schema.classes[1], report.schema.classes[0]
        lines.append(
            f"Ranks a row with {second!r} above one with {first!r} in {percent_with_interval(report.auc)} of such pairs (AUC)."
        )
    if report.log_loss is not None:
        losses = -np.log(np.maximum([answer.shares or () for answer in report.table], 1e-9))  # of answers, per class
        leaves_all = report.log_loss.low <= losses.min() and report.log_loss.high >= losses.max()
        lines.append(f"Log loss {'unknown' if leaves_all else _interval_text(report.log_loss, '{:.3f}'.format)}.")
    if report.calibration:
        is_covered = [band.observed.low <= band.predicted <= band.observed.high for band in report.calibration]
        lines.append(
            f"Its probabilities agree with the test in {sum(is_covered)} of {len(is_covered)} bands, within its precision."
        )
    return lines


def percent_with_interval(estimate: Estimate) -> str:
    """As in "84.1% (83.0% to 85.1%)"; no number where every share is possible."""
    return "an unknown share (0% to 100%)" if _is_any_share(estimate) else _interval_text(estimate, "{:.1%}".format)


def _is_any_share(share: Estimate) -> bool:
    return share.low <= 0 and share.high >= 1


def accuracy_sentence(report: TestReport) -> str:
    """One line for a summary."""
    if isinstance(report, NumberReport):
        return f"R² {_r_squared(report)} on rows it never saw, from noisy sums at no further ε"
    assert isinstance(report, ClassReport)
    if has_rare_classes(report):
        return f"balanced accuracy {percent_with_interval(report.balanced_accuracy)} on rows it never saw, {_COST}"
    return f"right for {percent_with_interval(report.accuracy)} of rows it never saw, {_COST}"


# --- groups: who pays for the noise


WIDE = "From the same noisy counts, divided at no further ε: intervals are wide where a group has few rows."


def group_rows(report: TestReport | None) -> Rows:
    """One line per group: how often the model is wrong there, and of each class how much it finds; none without groups."""
    if not isinstance(report, ClassReport):
        return []
    names = report.schema.classes if len(report.schema.classes) <= _MAX_CLASSES else ()
    measures = ["wrong", *(f"finds {name!r}" for name in names)]
    return [
        {report.groups: entry.name}
        | {words: percent_with_interval(share) for words, share in zip(measures, (entry.error, *entry.found), strict=False)}
        for entry in report.by_group
    ]


def group_sentences(report: TestReport | None) -> list[str]:
    """The same, a sentence each."""
    sentences = []
    for row in group_rows(report):
        (name, group), *cells = row.items()
        sentences.append(f"Where {name} is {group!r}: {', '.join(' '.join(words) for words in cells)}.")
    return sentences


def summary(result: FitResult) -> list[tuple[str, str]]:
    """(name, value) lines."""
    verdict, reasons = result.verdict(), ""
    if not result.ledger.guarantee.is_finite:
        reasons = f": {'; '.join(dict.fromkeys(row.note for row in result.ledger.rows() if row.note))}"
    model = result.model
    shape = [("Model", model.kind)]
    if type(model) is Tree:
        shape = [("Depth", str(model.depth)), ("Leaves", str(model.n_leaves))]
    return [
        ("Learner", f"{get_learner(result.learner).title} ({result.learner})"),
        ("Guarantee", signs_spelled(f"{verdict.headline}{reasons}")),
        ("Odds", signs_spelled(f"{verdict.odds} {verdict.plain_bound}".strip())),
        ("Claim", _claim(result)),
        ("Noise", _noise(result)),
        *shape,
        *_test_rows(result),
        *(("Group", words) for words in group_sentences(result.test_report)),
        ("Disclosures", str(len(result.disclosures))),
    ]


def _test_rows(result: FitResult) -> list[tuple[str, str]]:
    """What the private test says. Classes that were read from the rows are cells: a terminal or its log may not name them."""
    report = result.test_report
    if report is None:
        return []
    names_cells = "classes" in result.schema.target.read_from_data
    comparison = "" if names_cells else majority_comparison(report)
    return [("Test", signs_spelled(accuracy_sentence(report))), *([("Compared", comparison)] if comparison else [])]


def _claim(result: FitResult) -> str:
    claim = result.claim
    if not claim.is_private:
        return f"none. {claim.because}"
    loss = signs_spelled(loss_text(result.claim_of_person.loss, result.unit))
    return f"{loss}, {claim.source}: {claim.verdict}. {claim.because}"


def _noise(result: FitResult) -> str:
    if all(row.kind in ("non-private", "no cost") for row in result.ledger.rows()):
        return "none"
    if result.noise == "release":
        return f"exact samplers, no seed. {result.not_released_because or 'A release.'}"
    return f"simulation with seed {result.seed}, not a release: anyone who knows the seed can undo the noise"
