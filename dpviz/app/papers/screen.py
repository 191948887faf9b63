"""The Papers page's parts: what is chosen, the picture of it, the way to the experiment, cells that differ, theorems."""

from dataclasses import dataclass

import streamlit as st

from dpviz.app.parts import plain
from dpviz.app.state import Loaded, loaded, rows_read
from dpviz.app.widgets import chart, linked, on_demand, table
from dpviz.evaluation.papers.stored import Experiment, Item, Paper
from dpviz.figures import as_python as figures
from dpviz.figures.departures import statement_rows
from dpviz.figures.papers import beside
from dpviz.figures.wording import capital
from dpviz.learners import get_learner
from dpviz.table.schema import NumericTarget


@dataclass(frozen=True)
class Chosen:
    """What the page is about."""

    paper: Paper
    item: Item


def ask(found: tuple[Paper, ...]) -> Chosen:
    """A paper, and one of its tables or figures."""
    titles = [paper.title for paper in found]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        options = {"format_func": lambda title: title.partition(" (")[0], "required": True, **linked("paper")}
        title = st.segmented_control("Paper", titles, default=titles[0], label_visibility="collapsed", **options)
        paper = found[titles.index(str(title))]
        items = {item.name: f"{item.name}: {item.shows}" for item in paper.here}
        key = linked(f"item-of-{paper.author}")
        name = st.selectbox(
            "Table or figure", tuple(items), format_func=items.__getitem__, label_visibility="collapsed", width=330, **key
        )
    return Chosen(paper, next(item for item in paper.here if item.name == name))


def picture(chosen: Chosen) -> None:
    """What is printed beside what was measured; beside many numbers those that differ, with the reason."""
    item, data = chosen.item, ""
    words = beside.sentence(item)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plain(words)}**", width="content")
        if not item.printed and item.across and len(item.data_sets) > 1:
            data = str(st.selectbox("Data", item.data_sets, label_visibility="collapsed", width=220, key=f"papers-{item.name}"))
    is_beside = len(item.printed) >= beside.MANY and bool(item.differing)
    places = st.columns([1, 1.1], gap="medium", vertical_alignment="center") if is_beside else (st.container(), st.container())
    drawn, reasons = places
    if item.differing:
        with reasons:
            st.dataframe(beside.reason_rows(item), hide_index=True, alt="Every number that differs, with the reason.")
    with drawn:
        chart(beside.beside_figure(item, data), words, key="papers-picture")
    source = chosen.paper.title + (f". Otherwise than in the paper: {item.differs}." if item.differs else ".")
    st.caption(plain(source))


def way(item: Item, in_use: Loaded) -> None:
    """A button that sets a page to the experiment, on the table in use; nothing where no page shows it."""
    asked = item.experiment
    if asked is not None:
        help_text = "Its algorithms, ε and depth, on the table in use. The papers' tables come from OpenML: see Data."
        label = f"Set {capital(asked.place)} to this experiment"
        if st.button(label, icon=":material/arrow_forward:", help=help_text, key="papers-go"):
            st.session_state.update(settings_of(asked, in_use))
            st.switch_page(f"pages/{asked.place}.py")


def settings_of(asked: Experiment, in_use: Loaded) -> dict[str, object]:
    """Widget -> its value on the experiment's page; learners that do not predict this kind of target are left out."""
    able = [name for name in asked.learners if name in in_use.learners]
    kind = "-of-numbers" if isinstance(in_use.schema.target, NumericTarget) else ""
    if asked.place == "robustness":
        return {"robust-learners": able, "robust-epsilons": list(asked.epsilons), "robust-depth": asked.depth}
    if asked.place == "budget":
        learner = {f"learner{kind}": able[0]} if able else {}
        return {"epsilon": asked.epsilons[0], "depth": asked.depth, **learner}
    return {f"learners{kind}": able, "epsilons": asked.epsilons, "depth": asked.depth, "view": "epsilon"}


def as_python(item: Item) -> str:
    """The experiment as Python, on the table in use."""
    asked, rows, able = item.experiment, rows_read(), loaded().learners
    learners = [] if asked is None else [name for name in asked.learners if name in able]
    epsilons, depth = (asked.epsilons, asked.depth) if asked else ((), "auto")
    return figures.experiment(rows, item.file, learners, epsilons, depth)


def details(chosen: Chosen) -> None:
    """Every number, the paper's theorems, and what is not here."""
    item, paper = chosen.item, chosen.paper
    table(lambda: beside.beside_rows(item.cells, item.across), "Every number, printed and measured.", key="papers-all")
    with on_demand(beside.statements_sentence(paper), icon=":material/gavel:", key="papers-theorems") as box:
        if box.open:
            rows = [row for spec in paper.learners() for row in statement_rows(get_learner(spec.name))]
            st.dataframe(rows, hide_index=True, alt="Every theorem, lemma and corollary, whether it holds, and why.")
    missing = [item for item in paper.items if not item.cells]
    with on_demand(f"Tables and figures without a picture here ({len(missing)})", icon=":material/list:") as box:
        if box.open:
            lines = (f"- {plain(item.name)}, {plain(item.shows)}: {plain(item.not_here or _stored(item))}." for item in missing)
            st.markdown("\n".join(lines))


def _stored(item: Item) -> str:
    return f"on the page data/benchmarks/{item.file}"
