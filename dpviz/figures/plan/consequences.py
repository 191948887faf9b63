"""Three consequences of one epsilon on one axis: accuracy, right guesses about one row, poisoned rows; in words too."""

import math
from collections.abc import Iterator

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.plan.consequences import FAIR, TAIL, Consequence, Consequences
from dpviz.figures.charts import Figure, Rows, band, cursor_line, line, panels
from dpviz.figures.plan.search import axis_title, grid_axis, of_unit, places
from dpviz.figures.theme import BLUE, GREEN, NEUTRAL, ORANGE, PINK
from dpviz.figures.wording import capital, counted, percent
from dpviz.results.verdict import ROW, Unit, right_guesses
from dpviz.results.wording import number_text, rounded_up


def consequences_figure(found: Consequences, *, cursor: float, candidates: int, above: float, unit: Unit = ROW) -> Figure:
    """Accuracy, guesses right and poisoned rows over one epsilon axis, with one cursor through all three."""
    right = f"Right guesses of 100, {attack_title(candidates, unit)}"
    titles = ("Test accuracy (held-out rows), %", right, "Poisoned rows it withstands")
    figure = panels(3, 620, top=32, spacing=0.09, subplot_titles=titles, layout={"hovermode": "closest", "showlegend": False})
    x = [of_unit("epsilon", item.epsilon, unit) for item in found.found]
    low, middle, high = ([100 * item.accuracy(q) for item in found.found] for q in (TAIL, 0.5, 1 - TAIL))
    figure.add_scatter(**band(x, low, high, BLUE), row=1, col=1)
    guesses = [100 * item.right_guesses(candidates, unit.rows) for item in found.found]
    withstands = [item.protected(above) for item in found.found]
    for row, y, colour, words in (
        (1, middle, BLUE, "median %{y:.1f}%"),
        (2, guesses, PINK, "%{y:.3g} of 100"),
        (3, withstands, GREEN, "%{y} rows"),
    ):
        style = {"mode": "lines+markers", "line": line(colour), "marker": {"size": 6, "color": colour}}
        figure.add_scatter(x=x, y=y, **style | {"hovertemplate": f"ε = %{{x:.3g}}: {words}<extra></extra>"}, row=row, col=1)
    for row, level in ((1, 100 * found.majority), (2, 100 / candidates)):
        figure.add_hline(level, line={"color": NEUTRAL, "dash": "dot"}, row=row, col=1)
    figure.add_shape(**cursor_line(of_unit("epsilon", cursor, unit), line(ORANGE)))
    figure.update_xaxes(**grid_axis("epsilon", x)).update_xaxes(title=axis_title("epsilon", unit), row=3, col=1)
    figure.update_yaxes(zeroline=False).update_yaxes(rangemode="tozero", row=3, col=1)
    return figure.update_annotations(x=0, xanchor="left", font={"size": 14}, selector={"yanchor": "bottom"})


def attack_title(candidates: int, unit: Unit = ROW) -> str:
    """What the attacker guesses, for a heading."""
    return f"{unit.words} used or not" if candidates == FAIR else f"who of {candidates:,} people"


def consequence_sentences(
    item: Consequence, found: Consequences, *, candidates: int, above: float, unit: Unit = ROW
) -> tuple[str, str, str]:
    """Accuracy, risk and protection at one epsilon, a sentence each."""
    low, middle, high = (percent(round(item.accuracy(q), 3)) for q in (TAIL, 0.5, 1 - TAIL))
    right = f"The middle tree is right on {middle} of the held-out rows, nine of ten on {low} to {high}."
    guess = f" Always guessing the most frequent class: {percent(round(found.majority, 3))}."
    return right + guess, risk_sentence(item, candidates, unit), _poison_sentence(item, found, above)


def risk_sentence(item: Consequence, candidates: int, unit: Unit = ROW) -> str:
    """The attack model's bound by what the algorithm does, as guesses out of 100; of one row second."""
    if not item.is_proved:
        return f"No ε is proved for this algorithm, so nothing limits what may be learned about {unit.words}."
    right, row = (_bound_text(100 * item.right_guesses(candidates, rows)) for rows in (unit.rows, 1))
    aside = f" (one row: {row})" if unit.rows > 1 else ""
    return (
        f"Of 100 guesses {_guess(candidates, unit)}, what this algorithm does allows at most {right} to be right{aside}; without "
        f"the tree, {number_text(100 / candidates)}."
    )


def _guess(candidates: int, unit: Unit) -> str:
    if candidates == FAIR:
        return f"whether {unit.words} was used"
    return f"which of {candidates:,} people was left out"


def _poison_sentence(item: Consequence, found: Consequences, above: float) -> str:
    if item.certificate.reason:
        return f"No protection is proved. {item.certificate.reason}"
    rows = item.protected(above)
    if rows is None:
        return f"No protection is shown: even without poison its mean accuracy is not shown to exceed {percent(round(above, 3))}."
    share = rows / max(1, found.n_train)
    return (
        f"{counted(rows, 'poisoned row')} ({share:.2%} of {found.n_train:,}) cannot bring its mean accuracy down to "
        f"{percent(round(above, 3))}. Added or removed rows count one, changed rows two."
    )


def protecting_sentence(found: Consequences, rows: int, above: float) -> tuple[str, str]:
    """(headline, explanation) of which epsilons withstand this many poisoned rows."""
    if found.reason:
        return "No guarantee", found.reason
    good, what = found.protecting(rows, above), counted(rows, "poisoned row")
    sure = f"All certificates together hold with {percent(1 - found.beta)} confidence, for {found.n_train:,} rows like these."
    first, last = (number_text(item.epsilon) for item in (found.found[0], found.found[-1]))
    if not good:
        most = max((item.protected(above) or 0 for item in found.found), default=0)
        help_text = f"The most that any of them withstands is {most:,}. More rows or a lower bar would help."
        return f"Not reachable: no ε between {first} and {last} ({NEIGHBOURS}) withstands {what}", f"{help_text} {sure}"
    low, high = (number_text(item.epsilon) for item in (good[0], good[-1]))
    best = max(good, key=lambda item: item.accuracy(0.5))
    which = f"ε = {low}" if len(good) == 1 else f"ε from {low} to {high}"
    return f"{capital(which)} ({NEIGHBOURS}) withstands {what}", (
        f"The mean accuracy stays above {percent(round(above, 3))} whatever they are. Most accurate of these: ε = "
        f"{number_text(best.epsilon)} (middle tree {percent(round(best.accuracy(0.5), 3))}). A smaller ε is too inaccurate to "
        f"begin with, a larger one proves too little. {sure}"
    )


def consequence_rows(found: Consequences, *, candidates: int, above: float, unit: Unit = ROW) -> Rows:
    """The three curves as a table."""
    return [
        {
            **places("epsilon", item.epsilon, unit),
            "accuracy, 5%": f"{item.accuracy(TAIL):.1%}",
            "median": f"{item.accuracy(0.5):.1%}",
            "95%": f"{item.accuracy(1 - TAIL):.1%}",
            **{f"right guesses of 100{who}": text for who, text in _guess_cells(item, candidates, unit)},
            "poisoned rows withstood": "none shown" if (rows := item.protected(above)) is None else f"{rows:,}",
        }
        for item in found.found
    ]


def _guess_cells(item: Consequence, candidates: int, unit: Unit) -> Iterator[tuple[str, str]]:
    """(about whom, how many), of the unit first; last what any algorithm with this epsilon allows it."""
    whose = ((f", {unit.words}", unit.rows), (", one row", 1)) if unit.rows > 1 else (("", 1),)
    for who, rows in whose:
        yield who, _bound_text(100 * item.right_guesses(candidates, rows))
    if candidates == FAIR and item.is_proved:
        yield ", any algorithm", _bound_text(right_guesses(item.risk.plain, unit))


def _bound_text(hundredths: float) -> str:
    """To a tenth; of small numbers three digits."""
    return rounded_up(hundredths, max(1, 2 - math.floor(math.log10(hundredths))))
