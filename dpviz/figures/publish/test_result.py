"""The private test result in words with numbers, each with its interval."""

from __future__ import annotations

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.evaluation.measures import RARE
from dpviz.figures.guarantee_text import epsilon_text
from dpviz.training.honest.report import CONFIDENCE, Estimate, TestReport

_COST = f"from noisy counts at no further epsilon ({NEIGHBOURS})"


def result_sentences(report: TestReport) -> list[str]:
    """What the model is worth on rows it never saw: accuracy, per class, ranking, log loss, calibration, and how it is known.

    Where one class has nearly all rows, accuracy comes last, beside what always saying this class reaches.
    """
    classes = report.schema.classes
    accuracy = f"Right for {percent(report.accuracy)} of the rows."
    is_rare = has_rare_classes(report)
    return [
        f"Balanced accuracy {percent(report.balanced_accuracy)}: every class counts alike." if is_rare else accuracy,
        *(
            f"Of those that are {name!r}, it says so for {percent(recall)}."
            for name, recall in zip(classes, report.recalls, strict=True)
        ),
        *_ranking(report),
        *([f"{accuracy} Always saying the most frequent class: {percent(report.largest_share)}."] if is_rare else []),
        f"Known from about {max(report.n_rows, 0):,} rows that coins kept away from the model, by noisy counts at "
        f"{epsilon_text(PrivacyLoss(report.epsilon))}. Such a row pays for nothing else, so the total is not larger for it. "
        f"In brackets: {CONFIDENCE:.0%} intervals.",
    ]


def has_rare_classes(report: TestReport) -> bool:
    """True where one class has so many of the rows that accuracy says next to nothing."""
    return report.largest_share.value >= RARE


def _ranking(report: TestReport) -> list[str]:
    lines = []
    if report.auc is not None:
        second, first = report.schema.classes[1], report.schema.classes[0]
        lines.append(f"Ranks a {second!r} above a {first!r} in {percent(report.auc)} of such pairs (AUC).")
    if report.log_loss is not None:
        loss = report.log_loss
        lines.append(f"Log loss {loss.value:.3f} ({loss.low:.3f} to {loss.high:.3f}).")
    if report.calibration:
        held = [band.observed.low <= band.predicted <= band.observed.high for band in report.calibration]
        lines.append(f"Its probabilities hold in {sum(held)} of {len(held)} bands, within the precision of the test.")
    return lines


def percent(estimate: Estimate) -> str:
    """As in "84.1 % (83.0 to 85.1)"."""
    return f"{100 * estimate.value:.1f} % ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})"


def accuracy_sentence(report: TestReport) -> str:
    """One line for a summary."""
    if has_rare_classes(report):
        return f"balanced accuracy {percent(report.balanced_accuracy)} on rows it never saw, {_COST}"
    return f"right for {percent(report.accuracy)} of rows it never saw, {_COST}"
