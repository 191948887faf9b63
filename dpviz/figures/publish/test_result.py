"""The private test result in words with numbers, each with its interval."""

from collections.abc import Callable

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.evaluation.measures import RARE
from dpviz.figures.guarantee_text import epsilon_text
from dpviz.models.tree import format_value
from dpviz.training.honest.number_report import NumberReport
from dpviz.training.honest.report import CONFIDENCE, Estimate, TestReport

_COST = f"from noisy counts at no further epsilon ({NEIGHBOURS})"


def result_sentences(report: TestReport | NumberReport) -> list[str]:
    """What the model is worth on rows it never saw: accuracy, per class, ranking, log loss, calibration, and how it is known.

    Where one class has nearly all rows, accuracy comes last, beside what always saying this class reaches. Of a number: R2 and
    errors.
    """
    if isinstance(report, NumberReport):
        return [*_errors(report), _known_from(report, "sums")]
    classes = report.schema.classes
    accuracy = f"Right for {percent(report.accuracy)} of the rows."
    is_rare = has_rare_classes(report)
    return [
        f"Balanced accuracy {percent(report.balanced_accuracy)}: every class counts alike." if is_rare else accuracy,
        *(
            f"Of the rows with {name!r}, it finds {percent(recall)}."
            for name, recall in zip(classes, report.recalls, strict=True)
        ),
        *_ranking(report),
        *([f"{accuracy} Always saying the most frequent class: {percent(report.largest_share)}."] if is_rare else []),
        _known_from(report, "counts"),
    ]


def _known_from(report: TestReport | NumberReport, what: str) -> str:
    return (
        f"Measured on about {max(report.n_rows, 0):,} rows that random coins kept out of the model, by noisy {what} at "
        f"{epsilon_text(PrivacyLoss(report.epsilon))}. These rows are used for nothing else, so the total ε does not grow. "
        f"In brackets: {CONFIDENCE:.0%} intervals."
    )


def _errors(report: NumberReport) -> list[str]:
    low, high = (report.window.number(place) for place in (-1.0, 1.0))
    return [
        f"R² {_r_squared(report)}: 1 is perfect, 0 is what the mean of all rows reaches.",
        f"Typical error (RMSE) {_within(report.rmse, format_value)}.",
        f"Mean absolute error {_within(report.absolute_error, format_value)}.",
        f"Measured within {format_value(low)} to {format_value(high)}: numbers beyond count as its ends, and an error as at most "
        f"{format_value(report.window.width)}.",
    ]


def _within(estimate: Estimate, text: Callable[[float], str]) -> str:
    """As in "2.13 (1.9 to 2.4)"."""
    return f"{text(estimate.value)} ({text(estimate.low)} to {text(estimate.high)})"


def _r_squared(report: NumberReport) -> str:
    return _within(report.r_squared, "{:.2f}".format)


def has_rare_classes(report: TestReport) -> bool:
    """True where one class has so many of the rows that accuracy says next to nothing."""
    return report.largest_share.value >= RARE


def _ranking(report: TestReport) -> list[str]:
    lines = []
    if report.auc is not None:
        second, first = report.schema.classes[1], report.schema.classes[0]
        lines.append(f"Ranks a row with {second!r} above one with {first!r} in {percent(report.auc)} of such pairs (AUC).")
    if report.log_loss is not None:
        lines.append(f"Log loss {_within(report.log_loss, '{:.3f}'.format)}.")
    if report.calibration:
        held = [band.observed.low <= band.predicted <= band.observed.high for band in report.calibration]
        lines.append(f"Its probabilities agree with the test in {sum(held)} of {len(held)} bands, within its precision.")
    return lines


def percent(estimate: Estimate) -> str:
    """As in "84.1% (83.0% to 85.1%)"."""
    return _within(estimate, "{:.1%}".format)


def accuracy_sentence(report: TestReport | NumberReport) -> str:
    """One line for a summary."""
    if isinstance(report, NumberReport):
        return f"R² {_r_squared(report)} on rows it never saw, from noisy sums at no further epsilon ({NEIGHBOURS})"
    if has_rare_classes(report):
        return f"balanced accuracy {percent(report.balanced_accuracy)} on rows it never saw, {_COST}"
    return f"right for {percent(report.accuracy)} of rows it never saw, {_COST}"
