"""What releases cost together: a bar against the cap, and tables of the register."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.charts.chart import LEGEND_ABOVE, Chart, Rows, chart, hatched_bar, level_line, line
from dpviz.charts.theme import ASKED, INTERRUPTED, LIGHT, OVER_CAP, RELEASED
from dpviz.charts.wording import capital, count_text
from dpviz.io.results import result_from_json, with_our_verdict
from dpviz.learners import get_learner, registry
from dpviz.release.check import Match, Place, compose_releases, match_file
from dpviz.release.records import Balance, CapChange, State, UncoveredUse, total
from dpviz.release.register import Register
from dpviz.results.document import NO_REGISTER_ENTRY
from dpviz.results.result import FitResult
from dpviz.results.verdict import Unit, Verdict, bare_text, loss_text, odds_text, right_guesses, times_text
from dpviz.results.wording import number_text
from dpviz.training.params import controls_of

#: What adds up under every cap.
ACCOUNT = "Epsilons and deltas add up under the cap, however the next release is chosen."
_STYLES = {
    "released": hatched_bar(RELEASED),
    "interrupted": hatched_bar(INTERRUPTED, "/"),
    "this release": hatched_bar(ASKED, "x"),
    "over the cap": hatched_bar(OVER_CAP, "-"),
}


def spent_segments(balance: Balance, request: PrivacyLoss | None) -> list[tuple[str, float]]:
    """(what, epsilon) along the bar: released, interrupted, the release in question, and what of it lies over the cap."""
    by_state = {state: total(e.loss for e in balance.releases if e.state is state).epsilon for state in State}
    segments = [("released", by_state[State.RELEASED]), ("interrupted", by_state[State.STARTED])]
    if request is not None and request.is_finite:
        within = min(request.epsilon, balance.left.epsilon)
        segments += [("this release", within), ("over the cap", request.epsilon - within)]
    return [(name, size) for name, size in segments if size > 0]


def spent_chart(balance: Balance, request: PrivacyLoss | None) -> Chart:
    """One bar from 0 to the cap, which is a line, in epsilons of the unit."""
    unit, segments = balance.data_set.protects, spent_segments(balance, request)
    cap, title = balance.data_set.epsilon_cap, f"ε ({escape(unit.neighbours)})"
    end = 1.02 * max(cap, sum(size for _, size in segments))
    across = {"range": [0, end], "title": title, "zeroline": False}
    down, legend = {"visible": False, "fixedrange": True}, LEGEND_ABOVE | {"y": 1.4, "traceorder": "normal"}
    figure = chart(190, top=64, barmode="stack", legend=legend, showlegend=True, xaxis=across, yaxis=down)
    for name, size in segments:
        bar = {"orientation": "h", "width": 0.5, "marker": _STYLES[name]}
        hover = f"{name}: ε = {number_text(size)}<extra></extra>"
        figure.add_bar(x=[size], y=[""], name=name, hovertemplate=hover, **bar)
    label_place = {"xanchor": "right", "yanchor": "bottom", "y": 1.0, "xshift": 4}
    level_line(figure, x=cap, words=f"cap {number_text(cap)}", look=line(LIGHT.edge, 3), annotation=label_place)
    return Chart(figure, spent_sentence(balance))


def spent_sentence(balance: Balance) -> str:
    """What was spent for good and what is left, in a sentence or two; the relation is said beside it."""
    spent, count, cap = balance.spent, len(balance.releases), balance.data_set.epsilon_cap
    if not count:
        return f"Nothing was released yet: all of {bare_text(PrivacyLoss(cap))} is left."
    warning = " It is above the cap." if spent.epsilon > cap else ""
    total = f"Permanently spent by {count_text(count, 'release')}: {bare_text(spent)}"
    return f"{total}. Left: ε = {number_text(balance.left.epsilon)} of {number_text(cap)}.{warning}"


def composed_sentence(balance: Balance) -> str:
    """What all releases tell by what was run, and when that account holds; empty for fewer than two."""
    unit = balance.data_set.protects
    composition = compose_releases(balance.releases, unit.rows)
    if composition is None:
        return ""
    loss = f"{loss_text(composition.loss, unit)}. " if composition.loss.is_finite else ""
    files_gone = (
        f" Files of {count_text(composition.n_unread, 'release')} are gone; they count as any algorithm."
        if composition.n_unread
        else ""
    )
    return (
        f"Composed from the steps that were run: {loss}{odds_text(balance.spent, unit, composition.risk)} This holds if no "
        f"release was chosen by the results of earlier ones. The cap counts the sum, which always holds.{files_gone}"
    )


def odds_rows(balance: Balance, this: PrivacyLoss | None, risk: Risk | None = None, *, is_booked: bool = False) -> Rows:
    """How many guesses about one unit can be right, by this release alone and by all releases of these rows together.

    `risk` is that of this release. Several releases have the bound for any algorithms: whoever makes one has seen those before,
    and their epsilons add up even so. `is_booked`: this release is one of those of the balance.
    """
    requests = [this] if this and not is_booked else []
    together, n_releases = balance.with_one_more(requests), len([*balance.releases, *requests])
    in_all = "by all releases together" + ", however the later ones were chosen" * (n_releases > 1)
    losses = {"by this release alone": (this or PrivacyLoss(0.0), risk), in_all: (together, risk if n_releases == 1 else None)}
    unit = balance.data_set.protects
    times = {name: times_text(right_guesses(loss, unit, of)) for name, (loss, of) in losses.items()}
    cells = {name: f"at most {number}" if number.isdigit() else number for name, number in times.items()}
    return [{"what is promised": f"{capital(unit.text)}: right guesses of 100, in or out"} | cells]


def moment(at: str) -> str:
    """A time of the register (ISO 8601, UTC) as people read it."""
    return at[:19].replace("T", " ")


def algorithms(names: str) -> str:
    """What learners, named as in the register with commas between them, are called on screen."""
    return ", ".join(registry()[name].title if name in registry() else name for name in names.split(", "))


def settings_in_words(learner: str, settings: Mapping[str, Any]) -> str:
    """As in "automatic depth, at most 8" or "depth 4, never stop early"; epsilon stands beside it."""
    controls = controls_of(registry()[learner].Params) if learner in registry() else {}
    depth, most = settings.get("depth"), settings.get("max_depth")
    words = [f"automatic depth, at most {most}"] if depth == "auto" else [f"depth {depth}"] if depth else []
    parameters = {name: value for name, value in settings.items() if name not in ("epsilon", "depth", "max_depth")}
    for name, value in parameters.items():
        label = controls[name].label.lower() if name in controls else name
        words.append(label if value is True else f"{label} {number_text(value) if isinstance(value, float) else value}")
    return ", ".join(words)


def history_rows(balance: Balance) -> list[dict[str, Any]]:
    """Every release of a data set with the running total, interrupted ones too."""
    entries, words = balance.releases, balance.data_set.protects.words
    return [
        {
            "no": entry.number,
            "status": entry.status,
            "started (UTC)": moment(entry.started),
            "algorithm": algorithms(entry.learner),
            "settings": settings_in_words(entry.learner, entry.settings),
            f"ε, {words}": number_text(entry.loss.epsilon),
            f"running total, {words}": number_text(total(e.loss for e in entries[: place + 1]).epsilon),
            "assumptions": len(entry.disclosures),
            "SHA-256": entry.sha256[:16] or "no file",
        }
        for place, entry in enumerate(entries)
    ]


def cap_rows(changes: Sequence[CapChange], unit: Unit) -> Rows:
    """Every cap a data set has had, oldest first, with who set it and why."""
    return [
        {
            "since (UTC)": moment(change.at),
            f"cap on ε, {unit.words}": number_text(change.epsilon_cap),
            f"cap on δ, {unit.words}": number_text(change.delta_cap),
            "set by": change.made_by or ("not said" if place else "declared"),
            "reason": change.reason,
        }
        for place, change in enumerate(changes)
    ]


def look_rows(looks: Sequence[UncoveredUse]) -> Rows:
    """What was looked at without a release, the latest first."""
    return [
        {"last (UTC)": moment(look.at), "what": look.what, "algorithm": algorithms(look.learner), "fits": f"{look.times:,}"}
        for look in looks
    ]


# --- a file that is checked without rows: did a register write it, what do its steps add up to, what does it cost a person?


@dataclass(frozen=True)
class CheckedFile:
    """A file, where it stands in a register, and its result read back: its steps were composed again."""

    name: str
    match: Match
    result: FitResult
    verdict: Verdict  #: Of its steps, by what is known here of its learner's claim
    balance: Balance | None  #: Of the data set of the release that it is, or names
    register: Path

    @property
    def is_as_released(self) -> bool:
        """Whether the register wrote this very file: only then its steps are not just the word of whoever wrote it."""
        return self.match.place is Place.AS_RELEASED


def checked_file(content: bytes, name: str, register: Register) -> CheckedFile:
    """Read a file, add its ledger up again, and look it up.

    Raises DocumentError where it is no document of dpviz, or its steps do not add up to what it states; DpvizError where its
    learner is not known; RegisterError where the register cannot be used.
    """
    result, match = with_our_verdict(result_from_json(content)), match_file(register, content)
    balance = None if match.record is None else register.balance(match.record.data_set)
    return CheckedFile(name, match, result, result.verdict(), balance, register.path)


def title(file: CheckedFile) -> str:
    """What the file is, in a few words."""
    return f"{get_learner(file.result.learner).title} · predicts {file.result.schema.target.name}"


def place_sentence(file: CheckedFile) -> str:
    """Whether the register wrote this very file."""
    entry = file.match.record
    release_name = "" if entry is None else f"release number {entry.number} of {entry.data_set!r}"
    match file.match.place:
        case Place.AS_RELEASED:
            return f"In the register, as it was released: {release_name}, begun {moment(entry.started)} UTC." if entry else ""
        case Place.CHANGED:
            return f"Changed: it names {release_name}, but that release wrote another file. Rely on nothing it says."
        case Place.LOST:
            return "It names this register, which has no such release: somebody made it up, or the register is an old copy."
        case Place.FOREIGN:
            return "It is of another register. Whether it is as it was released, only that one can tell."
        case Place.NO_REGISTER:
            return f"There is no register at {file.register}. Whether it was released as it is, only a register can tell."
        case Place.NO_ENTRY:
            return NO_REGISTER_ENTRY if file.result.released else str(file.result.not_released_because)


def cost_sentences(file: CheckedFile) -> tuple[str, str]:
    """(what is guaranteed, what it costs one person). Of a file that was changed nothing is."""
    verdict, entry, balance = file.verdict, file.match.record, file.balance
    if file.match.place is Place.CHANGED and entry and balance:
        booked = loss_text(entry.loss, balance.data_set.protects)
        return "Not guaranteed, because the file was changed.", f"The release it names cost {booked}."
    word = "" if file.is_as_released else "If its steps were taken as it says: "
    return f"{word}{verdict.headline}.", verdict.odds


def sentences(file: CheckedFile) -> list[tuple[str, str]]:
    """(name, sentence), the most important first."""
    guaranteed, costs = cost_sentences(file)
    ledger = file.result.ledger
    steps = (
        f"{capital(count_text(len(ledger.rows()), 'step'))}, added up again: {loss_text(file.result.spent, file.result.unit)}."
    )
    rows = [("Register", place_sentence(file)), ("Guarantee", guaranteed), ("Costs", costs), ("Steps", steps)]
    return rows if file.balance is None else [*rows, ("In all", spent_sentence(file.balance))]


def values(file: CheckedFile) -> dict[str, Any]:
    """The same as numbers, for JSON."""
    row, unit, entry = file.result.ledger.guarantee, file.result.unit, file.match.record
    person = file.result.spent
    return {
        "place": str(file.match.place),
        "as_released": file.is_as_released,
        "release": None if entry is None else {"number": entry.number, "data_set": entry.data_set, "epsilon": entry.loss.epsilon},
        "guaranteed": file.is_as_released and file.verdict.holds,
        "row": {"epsilon": row.epsilon, "delta": row.delta} if row.is_finite else None,
        "person": {"unit": unit.words, "rows": unit.rows, "epsilon": person.epsilon, "delta": person.delta}
        if row.is_finite
        else None,
        "right_guesses": file.verdict.right_guesses,
        "steps": len(file.result.ledger.rows()),
    }
