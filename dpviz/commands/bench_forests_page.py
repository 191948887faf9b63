"""The page of `bench forests`: the paper's tables with ours beside them, and what its text states."""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands import console
from dpviz.commands.bench_forests import DEPTHS, EMPTY, EPSILON, LEARNERS, Measured, Spread, forest_data, measure, table_6
from dpviz.commands.bench_page import markdown_table
from dpviz.commands.files import write_whole
from dpviz.learners import get_learner
from dpviz.version import VERSION

#: Percent points within which a share of empty leaves counts as published, whatever its deviation.
CLOSE = 3.0
SMOOTH, SOUND = "smooth forest", "PF-forest"


def add_arguments(parser: ArgumentParser) -> None:
    """Where the data are, how often, and where to write."""
    parser.add_argument("--data", type=Path, metavar="DIR", required=True, help="folder with a MANIFEST.csv")
    parser.add_argument("--only", action="append", metavar="NAME", help="this data set, by the paper's name; may be repeated")
    parser.add_argument("--folds", type=int, default=5, choices=range(2, 11), metavar="N", help="2 to 10 folds (default: 5)")
    parser.add_argument("--draws", type=int, default=10, choices=range(1, 101), metavar="N", help="forests per share of leaves")
    parser.add_argument("--out", type=Path, metavar="MD", help="also write the page as Markdown")
    parser.set_defaults(topic=run_forests)


def run_forests(args: Namespace) -> int:
    """Measure and print."""
    found = []
    for name, data in forest_data(args.data, args.only):
        console.doing(f"Measuring on {name}")
        found.append(measure(name, data, folds=args.folds, draws=args.draws))
    page = forests_page(found, folds=args.folds, made=f"Made on {date.today():%Y-%m-%d} with dpviz {VERSION}.")
    print(page)
    if args.out is not None:
        write_whole(args.out, page, force=True)
    return 0


def forests_page(found: Sequence[Measured], *, folds: int, made: str) -> str:
    """The whole page."""
    parts = [
        _head(folds, made),
        _stated(found),
        _scores("Accuracy", found, "accuracy"),
        _sound(found),
        _scores("Area under the ROC curve", [item for item in found if _is_binary(item)], "auc"),
        _scores("F1 of the rarer class", [item for item in found if _is_binary(item)], "f1"),
        _ablations(found),
        _leaves(found),
        _laws(),
        _times(found),
    ]
    return "\n\n".join(parts) + "\n"


def _head(folds: int, made: str) -> str:
    return (
        "# Random forests beside their paper\n\n"
        f"Fletcher & Islam 2017 and its addendum of 2021, at epsilon {EPSILON:g} ({NEIGHBOURS}). Percent, mean ± standard "
        f"deviation over {folds} folds. Ranges are read from the data, as in the paper. The smooth forest has 100 trees of the "
        f"published depth; **its claim is {_verdict('smooth-forest')}**, it is here to be compared. PF-forest has its defaults "
        f"and holds. RGV claims a weaker privacy ({_verdict('rgv-forest')} against {NEIGHBOURS}). No tree is deeper than 12 "
        f"levels, RGV's not deeper than 5.\n\n{made} Rerun: `python -m dpviz bench forests --data DIR`."
    )


def _verdict(name: str) -> str:
    from dpviz.commands.learners import typical_claim

    return typical_claim(get_learner(name)).verdict


def _is_binary(item: Measured) -> bool:
    return not math.isnan(item.auc[SMOOTH].mean)


def _percent(spread: Spread) -> str:
    return f"{100 * spread.mean:.1f} ± {100 * spread.deviation:.1f}"


def _scores(title: str, found: Sequence[Measured], what: str) -> str:
    if not found:
        return f"## {title}\n\nNo data set of two classes was measured."
    rows = []
    for item in found:
        scores: dict[str, Spread] = getattr(item, what)
        best = max(scores[name].mean for name in scores if get_learner(LEARNERS[name][0]).spends_epsilon)
        cells = [f"**{_percent(scores[name])}**" if scores[name].mean == best else _percent(scores[name]) for name in LEARNERS]
        rows.append([item.name, f"{100 * item.majority:.1f}", *cells])
    table = markdown_table(["data", "largest class", *LEARNERS], rows)
    return f"## {title}\n\nBold: the best of those that spend epsilon.\n\n{table}"


def _sound(found: Sequence[Measured]) -> str:
    behind = [item.name for item in found if item.accuracy[SOUND].mean < item.accuracy[SMOOTH].mean]
    rest = f" Behind on: {', '.join(behind)}." if behind else ""
    return (
        f"PF-forest is at least as accurate as the smooth forest on {len(found) - len(behind)} of {len(found)} data sets.{rest}"
    )


def _stated(found: Sequence[Measured]) -> str:
    """What the text and tables state, and whether it is found here."""
    rows = [[what, stated, ours, "yes" if agrees else "**no**"] for what, stated, ours, agrees in _statements(found)]
    agreed = sum(row[3] == "yes" for row in rows)
    head = f"## What the paper states\n\n{agreed} of {len(rows)} statements are found here.\n\n"
    return head + markdown_table(["what", "stated", "here", "as stated"], rows)


def _statements(found: Sequence[Measured]) -> Iterator[tuple[str, str, str, bool]]:
    for item in found:
        yield f"Depth of {item.name} (Table 4)", str(DEPTHS[item.name]), str(item.depth), item.depth == DEPTHS[item.name]
    for item in found:
        for trees, ours, (mean, deviation) in zip((1, 30), item.empty, EMPTY[item.name], strict=True):
            agrees = abs(ours.mean - mean) <= max(CLOSE, 2 * math.hypot(ours.deviation, deviation))
            here = f"{ours.mean:.1f} ± {ours.deviation:.1f}"
            yield f"Empty leaves of {item.name}, trees: {trees} (Table 3)", f"{mean:.1f} ± {deviation:.1f}", here, agrees
    by_name = {item.name: item for item in found}
    yield from _text_statements(by_name)


def _text_statements(found: dict[str, Measured]) -> Iterator[tuple[str, str, str, bool]]:
    for name, item in found.items():
        if name.startswith("Synth"):
            yield (
                f"Flipped labels of {name}, 100 trees (5.2)",
                "5 to 20",
                f"{item.flipped.mean:.1f}",
                4.5 <= item.flipped.mean <= 20.5,
            )
    if "Adult" in found:
        yield _gain("Adult over JPW", found["Adult"], "JPW", 3.5, exactly=True)
        yield _gain("Adult over RGV: a tie", found["Adult"], "RGV (weaker)", 0.0, exactly=True)
    if "SynthA" in found:
        yield _gain("SynthA over JPW", found["SynthA"], "JPW", 35.0)
        yield _gain("SynthA over FS", found["SynthA"], "FS", 35.0)
    if "SynthF" in found:
        accuracy = found["SynthF"].accuracy[SMOOTH]
        yield "Accuracy on SynthF (Figure 9)", "over 85", _percent(accuracy), accuracy.mean + 2 * accuracy.deviation > 0.85
    for name, item in found.items():
        for rival in ("JPW", "FS"):
            yield _gain(f"{name} over {rival}", item, rival, 0.0)
    for name, item in found.items():
        gain = 100 * (item.ablations["as published"].mean - item.ablations["global sensitivity"].mean)
        yield f"Smooth over global, {name} (4.1)", "0 to 26", f"{gain:+.1f}", -1 <= gain <= 27
        gain = 100 * (item.ablations["as published"].mean - item.ablations["depth m/2"].mean)
        if name.startswith("Synth") or name in ("PenWritten", "GammaTele"):
            yield f"Published depth over m/2, {name} (4.3)", "2 to 30", f"{gain:+.1f}", 1 <= gain <= 31


def _gain(what: str, item: Measured, rival: str, stated: float, *, exactly: bool = False) -> tuple[str, str, str, bool]:
    """Points by which the smooth forest is ahead: about `stated` within two deviations, or at least that."""
    ours, theirs = item.accuracy[SMOOTH], item.accuracy[rival]
    gain, slack = 100 * (ours.mean - theirs.mean), 200 * math.hypot(ours.deviation, theirs.deviation)
    agrees = abs(gain - stated) <= slack if exactly else gain >= stated - slack
    words = f"{stated:+.1f}" if exactly else f"over {stated:g}"
    return f"{what}, points", words, f"{gain:+.1f} (two deviations: {slack:.1f})", agrees


def _ablations(found: Sequence[Measured]) -> str:
    names = list(found[0].ablations)
    rows = [[item.name, *(_percent(item.ablations[name]) for name in names)] for item in found]
    return "## The smooth forest with one thing changed\n\nAccuracy.\n\n" + markdown_table(["data", *names], rows)


def _leaves(found: Sequence[Measured]) -> str:
    rows = []
    for item in found:
        ours = [f"{spread.mean:.1f} ± {spread.deviation:.1f}" for spread in item.empty]
        stated = [f"{mean:.1f} ± {deviation:.1f}" for mean, deviation in EMPTY[item.name]]
        rows.append(
            [item.name, f"{item.n_rows:,}", str(item.depth), ours[0], stated[0], ours[1], stated[1], f"{item.flipped.mean:.1f}"]
        )
    head = ["data", "rows", "depth", "1 tree", "stated", "30 trees", "stated", "flipped, 100 trees"]
    words = (
        "Percent of leaves without rows, and of the others percent whose label noise has flipped. Exact: for public data only."
    )
    return f"## Leaves without rows, labels flipped\n\n{words}\n\n{markdown_table(head, rows)}"


def _laws() -> str:
    rows = [[f"{small} and {large}", *(f"{value:.1f}" for value in values)] for small, large, *values in table_6()]
    head = [
        "counts",
        "original, stated",
        "new, stated",
        "original",
        "exponential mechanism on counts",
        "permute-and-flip on counts",
    ]
    words = (
        f"Percent of draws in which the larger class is published, epsilon .1 ({NEIGHBOURS}). The addendum's new column is the "
        "exponential mechanism on counts; the one-sided noise it asks for is permute-and-flip, which does better."
    )
    return f"## Two laws for a label (Table 6)\n\n{words}\n\n{markdown_table(head, rows)}"


def _times(found: Sequence[Measured]) -> str:
    rows = [[item.name, *(f"{item.seconds[name]:.2f}" for name in LEARNERS)] for item in found]
    words = "Seconds of processor time, one fit on all rows."
    return f"## Time\n\n{words}\n\n{markdown_table(['data', *LEARNERS], rows)}"
