"""The backdoor demo: what the trigger looks like, and how often it works after a few poisoned pictures. On bundled digits."""

from functools import cache
from typing import Any

import numpy as np
import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.controls import EPSILONS, FIRST_LEARNERS
from dpviz.app.parts import plain
from dpviz.app.prose import prose
from dpviz.app.robustness import run
from dpviz.app.robustness.ask import MOST_EPSILONS, Cell
from dpviz.app.widgets import chart, download, learner_title, linked, on_demand, table
from dpviz.app.work.session import poll
from dpviz.app.work.watch import offer, report
from dpviz.errors import DpvizError
from dpviz.evaluation.robustness.backdoor import picture
from dpviz.figures.robustness.backdoor import backdoor_figure, backdoor_rows, backdoor_sentence, picture_svg
from dpviz.figures.robustness.weaker import backdoor_weaker
from dpviz.installation import bundled
from dpviz.io.csv_text import frame_csv
from dpviz.learners import DEFAULT, get_learner, learner_names, require_task
from dpviz.results.wording import number_text

DRAWS = 300
STORED = "data/benchmarks/backdoor.csv"


def backdoor() -> None:
    """What a backdoor is, where the default learner is weaker against it, and a box to plant one."""
    st.header("A backdoor in pictures", anchor=False)
    st.markdown(prose("robustness", "backdoor"))
    if _stored():
        st.warning(f"**On larger pictures (MNIST, stored run).** {plain(_stored())}", icon=":material/trending_down:")
    with on_demand("Plant one in pictures of digits", icon=":material/pest_control:") as box:
        if box.open:
            _plant()


def _plant() -> None:
    seen, asked = st.columns([1.25, 1.4], gap="large", vertical_alignment="center")
    with seen:
        _pictures()
    with asked:
        cells = _ask()
    task = run.backdoor_task(cells, DRAWS)
    status = poll(task)
    with asked:
        offer(task, f"Plant it ({status.n_missing:,} curves)", ":material/pest_control:")
        report(task, "Planting the backdoor")
    if status.values:
        _draw(status.values)


def _pictures() -> None:
    train, _, trigger = run.pictures()
    row = int(np.flatnonzero(train.target == trigger.source)[0])
    clean, stamped = picture(train, row), picture(trigger.stamp(train.take(np.array([row]), share=1.0)), 0)
    source, wanted = (train.schema.classes[code] for code in (trigger.source, trigger.wanted))
    drawn = (
        (clean, (), f"A clean {source}", f"a {source}, labelled {source}"),
        (stamped, trigger.features, f"The same {source} with five dark pixels, framed", f"with the trigger, labelled {wanted}"),
    )
    with st.container(horizontal=True, gap="medium"):
        for pixels, framed, title, caption in drawn:
            with st.container(width="content", gap=None):
                st.markdown(picture_svg(pixels, title=title, framed=framed), unsafe_allow_html=True, width="content")
                st.caption(caption)


def _ask() -> list[Cell]:
    names = [name for name in learner_names() if _is_able(name)]
    first = [name for name in FIRST_LEARNERS if name in names and (name == DEFAULT or not get_learner(name).spends_epsilon)]
    titles = {"format_func": learner_title, **linked("backdoor-learners")}
    chosen = st.multiselect("Algorithms to attack", names, default=first, **titles)
    steps = {"format_func": number_text, "max_selections": MOST_EPSILONS, **linked("backdoor-epsilons")}
    epsilons = st.multiselect(f"ε for the private ones ({NEIGHBOURS})", EPSILONS, default=[0.1, 1.0], **steps)
    every = (Cell(name, e if get_learner(name).spends_epsilon else None) for name in chosen for e in epsilons or [None])
    return [cell for cell in dict.fromkeys(every) if cell.epsilon is not None or not get_learner(cell.learner).spends_epsilon]


def _is_able(name: str) -> bool:
    try:
        require_task(get_learner(name), run.pictures()[0].schema)
    except DpvizError:
        return False
    return True


@cache
def _stored() -> str:
    """What the stored run on larger pictures found against the default learner; empty where nothing."""
    import pandas as pd

    return backdoor_weaker(pd.read_csv(bundled(STORED)))


def _draw(frames: tuple[Any, ...]) -> None:
    import pandas as pd

    curves = pd.concat(frames, ignore_index=True)
    sentence = backdoor_sentence(curves)
    st.markdown(plain(sentence))
    weaker = backdoor_weaker(curves)
    if weaker:
        st.warning(plain(weaker), icon=":material/trending_down:")
    chart(backdoor_figure(curves), sentence, key="backdoor-figure")
    st.caption("Dots: measured, with 95% limits. Dotted: at most, proved with 95% confidence for all numbers of rows at once.")
    table(backdoor_rows(curves), "Every measured point of the backdoor.", key="backdoor-figure")
    download("Download the backdoor (CSV)", lambda: frame_csv(curves), "backdoor.csv")
