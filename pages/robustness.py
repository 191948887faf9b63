"""Page "Robustness": how many poisoned rows a tree provably withstands, and what attacks really do."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpviz.app import background, explorations, frame, parts
from dpviz.app.controls import DEPTHS, EPSILONS, FIRST_LEARNERS, auto_in_words, depth_of, settings_row
from dpviz.app.parts import escape_markdown
from dpviz.app.prose import prose
from dpviz.app.state import hidden_seed, rows_read, unit_in_use
from dpviz.app.widgets import link_options, show_chart, table
from dpviz.charts import as_python
from dpviz.charts import robustness as charts
from dpviz.charts.robustness import CertifiedCurve
from dpviz.errors import SchemaError
from dpviz.evaluation.attacks import ATTACKS, attack_curve
from dpviz.evaluation.poisoning import certify
from dpviz.learners import FitRequest, get_learner
from dpviz.learners.variants import variant_title
from dpviz.results.wording import number_text
from dpviz.table.role import DataRole

if TYPE_CHECKING:
    import pandas as pd

    from dpviz.table.dataset import EncodedDataset

CURVES, ATTACK = "robustness", "robustness-attack"
#: Shown at first, where offered, beside learners that spend epsilon: its votes certify predictions.
VOTERS = "dpa"
#: Other curves, or attacks, that can be shown again without computing: of this session, and of all about the bundled samples.
KEPT = 400
TEST_SHARE = 0.2
#: Shares of the training rows at which attacks are measured, and how often each.
ATTACKED, RUNS = (0.005, 0.01), 2
#: Fits of rows anyone may see that are begun without being asked for.
MAX_AUTOSTART_FITS = 3000
#: The axis shows so many poisoned rows, of however few rows.
MIN_AXIS_ROWS = 5
MAJORITY, OWN = "the majority class", "an accuracy of my own"
#: A curve: a learner with its ε, None where it spends none.
Cell = tuple[str, float | None]


parts.page("Robustness", "How many poisoned rows can this tree provably withstand?")
in_use = explorations.display_data()
is_private = in_use.role is DataRole.PRIVATE
if parts.needs_classes(in_use, "A poisoning guarantee"):
    st.stop()

# --- settings

spending = [name for name in FIRST_LEARNERS if name in in_use.learners and get_learner(name).spends_epsilon][:2]
first = (spending or list(in_use.learners[:1])) + [name for name in in_use.learners if name == VOTERS]
more_draws = "More draws prove more. They prove something up to about as many rows k as e^(kε) is well below the draws."
more_splits = "Rows are split so many times into a part to train on and a part held out; each is certified, then averaged."
threshold = None
with settings_row():
    learners = st.multiselect(
        "Algorithms", in_use.learners, default=first, format_func=variant_title, wrap=True, **link_options("robust-learners")
    )
    options: dict[str, Any] = {"format_func": number_text, "max_selections": 3, **link_options("robust-epsilons")}
    epsilons = st.multiselect(f"ε ({unit_in_use().neighbours})", EPSILONS, default=[0.01, 0.1], width=220, **options)
    if st.selectbox("Stay above", (MAJORITY, OWN), width=210, **link_options("robust-goal")) == OWN:
        options = {"format": "%g", "width": 110, **link_options("robust-wanted")}
        threshold = st.number_input("Accuracy, %", 0.0, 100.0, 80.0, 1.0, **options) / 100
    with st.popover("More", icon=":material/tune:"):
        depth = st.select_slider("Depth", DEPTHS, value="auto", help=auto_in_words(), **link_options("robust-depth"))
        options = {"format_func": "{:,}".format, "help": more_draws, **link_options("robust-draws")}
        draws = int(st.select_slider("Draws", (100, 300, 1000, 3000, 10_000), value=300, **options))
        n_splits = int(st.select_slider("Splits", (1, 3, 5), value=1, help=more_splits, **link_options("robust-splits")))
        options = {"format_func": lambda share: f"{100 * share:g}%", **link_options("robust-up-to")}
        up_to = float(st.select_slider("Up to", (0.0005, 0.001, 0.002, 0.005, 0.01), value=0.01, **options))
if not learners or not epsilons:
    st.info("Choose at least one algorithm and one ε.", icon=":material/info:")
    st.stop()

seed = hidden_seed(in_use.role, "_robustness_secret")
cells: list[Cell] = list(
    dict.fromkeys(
        (name, epsilon if get_learner(name).spends_epsilon else None) for name in learners for epsilon in sorted(epsilons)
    )
)


def fit_of(cell: Cell) -> FitRequest:
    """The learner of a curve with its settings; ε changes nothing where none is spent."""
    learner, epsilon = cell
    return FitRequest.of(learner, epsilon=epsilon or 1.0, **depth_of(depth))


# --- what is computed: a part per curve, and per attack on each

data, schema = in_use.data, in_use.schema


def split_rows() -> list[tuple[EncodedDataset, EncodedDataset]]:
    """The splits, of which each is trained and tested on."""
    both = (data.split(TEST_SHARE, seed=seed + number) for number in range(n_splits))
    return [(train.with_cached_counts(), test) for train, test in both]


def public_count(train: EncodedDataset) -> int:
    """Training rows as they may be told: of private rows the public count. Raises SchemaError where there is none."""
    if not is_private:
        return train.n_rows
    if train.schema.n_public is None:
        what = "Poisoned rows are counted against all rows, and of private rows no count is public."
        remedy = "Declare a public row count on the Data page; rounded is fine."
        raise SchemaError(what, field="n_public", remedy=remedy)
    return train.schema.n_public


def certify_curve(cell: Cell, **how: Any) -> CertifiedCurve:
    """What is proved of one learner."""
    request, splits = fit_of(cell), split_rows()
    n_train = public_count(splits[0][0])
    certificates = certify(request, splits, draws=draws, seed=seed, workers=background.WORKERS, **how)
    return CertifiedCurve(cell[1], replace(certificates, n_train=n_train // certificates.rows_per_person))


def measure_attack(attack: str, cell: Cell, **how: Any) -> pd.DataFrame:
    """What an attack really does to one learner."""
    train, test = split_rows()[0]
    n_train = public_count(train)
    n_poisoned = sorted({max(2, round(share * n_train)) for share in ATTACKED})
    runs = RUNS if cell[1] is not None else 1  # without noise a run says all there is to say
    how |= {"draws": draws // runs, "runs": runs, "seed": seed, "workers": background.WORKERS}
    return attack_curve(attack, fit_of(cell), train, test, poisoned_rows=n_poisoned, **how)


def key_of(kind: str, cell: Cell) -> Hashable:
    """One per curve, or attack on one."""
    return (kind, data.key, str(in_use.role), *cell, depth, draws, n_splits, seed)


def attacks_task(attacks: list[str]) -> background.Task:
    """The attacks on every curve."""
    makes = {key_of(attack, cell): partial(measure_attack, attack, cell) for attack in attacks for cell in cells}
    return background.in_parts(ATTACK, makes, keep=KEPT, shared=in_use.is_as_bundled)


def measured_attacks() -> pd.DataFrame | None:
    """Every attack that was measured with these settings; None when none was."""
    import pandas as pd

    frames = background.values_of(attacks_task(list(ATTACKS)))
    return pd.concat(frames, ignore_index=True) if frames else None


def begin(task: background.Task) -> None:
    """Begin; on private rows that is an exploration no guarantee covers, and it is noted."""
    times = max(1, background.state(task).n_missing * draws * n_splits)
    named = ", ".join(learners)
    explorations.keep_unnoted(explorations.note(in_use, "curves on the Robustness page", named, {}, times=times))
    background.start(task)


# --- the curves

verdict = st.container()
task = background.in_parts(
    CURVES,
    {key_of("curve", cell): partial(certify_curve, cell) for cell in cells},
    fallback_key=(data.key, str(in_use.role)),
    keep=KEPT,
    shared=in_use.is_as_bundled,
)
status = background.state(task)
if not is_private and status.n_missing * draws * n_splits <= MAX_AUTOSTART_FITS:
    status = background.autostart(task, 1.0)
background.show(task, "Drawing the curves", stale="")
if status.job is None and status.n_missing:
    label = f"Compute {status.n_missing:,} of {len(cells):,} curves (up to {status.n_missing * draws * n_splits:,} fits)"
    st.button(label, icon=":material/play_arrow:", on_click=begin, args=(task,))
    if not status.shown:
        st.caption(":material/show_chart: No curves of these rows yet.")
curves: tuple[CertifiedCurve, ...] = status.shown
measured = measured_attacks()
if curves:
    up_to = charts.end_of_axis(curves, max(up_to, MIN_AXIS_ROWS / max(1, curves[0].table.n_train)), threshold)
    with verdict:
        st.markdown(f"**{escape_markdown(charts.headline(curves, threshold))}**")
        if not status.is_current:
            st.info("The curves below are stale: they are for the settings before.", icon=":material/history:")
    attacks = measured if status.is_current else None
    chart = charts.guarantee_chart(curves, up_to=up_to, threshold=threshold, attacks=attacks)
    show_chart(chart, "robust-curves")
    st.caption(prose("robustness", "counted"))
    marks: list[str] = list(dict.fromkeys(item.kind for item in curves))
    marks += ["published"] if any(item.kind == "proved" and not isnan(item.table.published(0)) for item in curves) else []
    marks += ["ring"] if any(item.table.protected_rows(threshold) is not None for item in curves) else []
    marks += ["area"] if attacks is None else ["measured", "area"]
    st.caption(" ".join(prose("robustness", mark) for mark in marks))
    icons = {"proved": ":material/verified_user:", "votes": ":material/how_to_vote:"}
    lines = []
    for item in curves:
        stands = item.kind not in icons or item.table.protected_rows(threshold) is not None
        icon = icons.get(item.kind, ":material/gpp_bad:") if stands else ":material/help:"
        struck = charts.struck_text(item, threshold)
        crossed = f"~~{escape_markdown(struck)}~~ " if struck else ""
        name, verdict = escape_markdown(charts.full_name(item)), escape_markdown(charts.verdict_text(item, threshold))
        lines.append(f"- {icon} **{name}**: {crossed}{verdict}")
    st.markdown("\n".join(lines))
    if any(item.table.n_done < item.table.n_asked for item in curves):
        st.caption("Some curves were stopped early: fewer draws, and less is proved.")
    if is_private:
        st.caption("Computed on private rows without noise, not to be published.")

# --- attacks, which then stand as dots beside the curves

st.divider()
st.header("Try to break it", anchor=False)
shares = " and ".join(f"{number_text(100 * share)}%" for share in ATTACKED)
st.markdown(prose("robustness", "attacks", shares=shares))
names = tuple(ATTACKS)
options = {"format_func": lambda name: ATTACKS[name].title, **link_options("robust-attacks")}
chosen = st.multiselect("Attacks", names, default=list(names[1:2]), **options)
st.caption(" ".join(f"{ATTACKS[name].title}: {ATTACKS[name].idea}" for name in chosen))
task = attacks_task(chosen)
n_missing = background.state(task).n_missing
background.start_button(task, f"Measure ({n_missing:,} curves)", ":material/bolt:", on_click=begin)
parts.why_disabled("" if chosen else "Choose an attack first.")
if chosen and not n_missing:
    st.caption(":material/check: Measured for these settings.")
background.show(task, "Attacking")
measured = measured_attacks()
if measured is not None:
    weaker = charts.attacked_sentence(measured, unit_in_use())
    if weaker:
        st.warning(escape_markdown(weaker), icon=":material/trending_down:")
    table(charts.attack_table(curves, measured), "Every measured attack beside what is proved.", key="robust-attacked")

frame.next_page_button("robustness")
frame.as_python(partial(as_python.robustness, rows_read(), list(map(fit_of, cells)), draws, n_splits))
