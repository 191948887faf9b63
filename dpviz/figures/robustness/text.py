"""What the robustness curves say in words: a headline, one verdict per curve, and the sentence a screen reader gets."""

from collections.abc import Sequence

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.figures.robustness.certified import Certified, is_noisy
from dpviz.figures.wording import counted
from dpviz.results.wording import number_text

SOUND = ("proved", "votes")


def full_name(item: Certified) -> str:
    """Title and epsilon with the neighbouring relation."""
    return item.title if item.epsilon is None else f"{item.title} at ε = {number_text(item.epsilon)} ({NEIGHBOURS})"


def level_text(found: Sequence[Certified], wanted: float | None) -> str:
    """What accuracy is to stay above."""
    return f"the majority class, {found[0].table.majority:.1%}" if wanted is None else f"the {wanted:.1%} you asked for"


def best_of(found: Sequence[Certified], wanted: float | None) -> Certified | None:
    """The private learner proved to withstand the most poisoned rows, else the best by vote; None when none withstands any."""
    ranked = [(rows, item.kind == "proved", item) for item in found if (rows := item.table.protected_rows(wanted)) is not None]
    private = [entry for entry in ranked if entry[1]]
    return max(private or ranked, key=lambda entry: entry[0])[2] if ranked else None


def headline(found: Sequence[Certified], wanted: float | None) -> str:
    """The answer in one sentence."""
    best = best_of(found, wanted)
    if best is None:
        return f"No curve here is proved to stay above {level_text(found, wanted)}, even without poison."
    said = f"{full_name(best)} {protects_text(best, wanted)}: its mean accuracy stays above {level_text(found, wanted)}"
    sure = f", with {1 - best.table.beta:.0%} confidence" if is_noisy(best) else ""
    return f"{said}{sure}."


def protects_text(item: Certified, wanted: float | None) -> str:
    """As in "withstands up to 12 poisoned rows of 16,000 (0.07%)"."""
    rows = item.table.protected_rows(wanted) or 0
    return f"withstands up to {counted(rows, 'poisoned row')} of {item.table.n_train:,} ({100 * item.share(rows):.2g}%)"


def verdict_text(item: Certified, wanted: float | None) -> str:
    """What is proved about one curve, next to what was published; without the name."""
    table = item.table
    if table.reason:
        return f"no guarantee. {table.reason}"
    if table.protected_rows(wanted) is None:
        shown = f"{table.low(0):.1%}" if is_noisy(item) else f"{table.accuracy:.1%}"
        above = table.majority if wanted is None else wanted
        return f"no protection shown: without poison {shown} is certain, which is not above {above:.1%}"
    published = ""
    if is_noisy(item):
        rows = item.published_rows(table.majority if wanted is None else wanted)
        published = "; by the published bound none" if rows is None else f"; by the published bound {rows:,}"
    return f"{protects_text(item, wanted)}{published}"


def struck_text(item: Certified, wanted: float | None) -> str:
    """What a refused publication would have promised; empty where nothing was."""
    if item.kind != "refused":
        return ""
    rows = item.published_rows(item.table.majority if wanted is None else wanted)
    return "" if rows is None else f"published: up to {rows:,} poisoned rows"


def marks_text(found: Sequence[Certified], wanted: float | None, *, are_attacked: bool) -> str:
    """What each mark in the figure means, of those that are there."""
    kinds = {item.kind for item in found}
    sure = f"{1 - found[0].table.beta:.0%}"
    words = {
        "proved": f"Heavy line: proved with {sure} confidence. Thin line: an estimate that proves nothing. "
        "Dotted in colour: PrivaTree's Corollary 2, from the same draws.",
        "votes": "Steps: certified by vote, which needs no confidence level.",
        "refused": "Dotted grey with crosses: published, but refused.",
        "silent": "Open grey circle: accuracy without poison, nothing is guaranteed.",
    }
    said = [text for kind, text in words.items() if kind in kinds]
    has_ring = any(item.kind in SOUND and item.table.protected_rows(wanted) is not None for item in found)
    crossed = ["Ring with a number: with that many poisoned rows it is still above the grey dotted line."]
    grey = ["Grey area: no better than always answering the largest class."]
    dots = ["Dots: measured attacks with 95% limits."] if are_attacked else []
    return " ".join(said + (crossed if has_ring else []) + dots + grey)


def guarantee_sentence(found: Sequence[Certified], wanted: float | None) -> str:
    """Alt text of the figure."""
    each = ". ".join(f"{full_name(item)}: {verdict_text(item, wanted).split('. ')[0]}" for item in found)
    return f"Guaranteed mean accuracy against poisoned rows. {each}."
