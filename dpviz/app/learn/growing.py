"""Lesson: growing a private tree, one draw per node, on thirty visible rows."""

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.learn.desk import Desk, Numbers
from dpviz.app.tree_view import chosen_node, tree_view
from dpviz.evaluation.learn.growing import N_ROWS, N_STEPS, GrowingTree, growing_tree, lesson_rows
from dpviz.figures import learn as figures
from dpviz.figures.tree.svg import NodeNotes, draw_tree
from dpviz.figures.tree.text import rule_list
from dpviz.figures.wording import chance
from dpviz.results.wording import number_text
from dpviz.table.schema import CategoricalFeature

CONTROLS = ("epsilon", "seed", "steps")
EPSILONS = (0.1, 0.3, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
SHOWN = 2.0
MOST_SEED = 1_000_000
_VIEW, _CHOSEN = "lesson-tree", "_lesson_node"
STEPS = tuple(range(N_STEPS + 1))


@st.cache_data(show_spinner=False, max_entries=500)
def tree_after(epsilon: float, seed: int, steps: int) -> GrowingTree:
    """The tree after some steps."""
    return growing_tree(epsilon, seed, steps)


def question() -> Numbers:
    """Whether two people get the same root."""
    (root,) = tree_after(SHOWN, 1, 0).waiting
    values = {"right": chance(root.agreement), "best": chance(root.options[0].probability)}
    return values | {"rows": str(N_ROWS), "epsilon": number_text(SHOWN)}


def show(desk: Desk) -> None:
    """The tree so far, and the chances at the chosen node."""
    epsilon = desk.slider("epsilon", f"ε ({NEIGHBOURS})", EPSILONS, SHOWN)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = desk.number("seed", "Seed", 1, MOST_SEED, 1)
        desk.button("Another seed", "seed", _another_seed, desk.key("seed"), icon=":material/refresh:")
    steps = int(desk.slider("steps", "Nodes drawn", STEPS, 0))
    now = tree_after(epsilon, seed, steps)
    done = "" if now.waiting else "Every node is drawn."
    desk.button("Draw the next node", "steps", _draw_next, desk.key("steps"), reason=done, icon=":material/casino:")
    node = now.at(_tree(desk, now))
    place = " then ".join("“true”" if step == "L" else "“false”" for step in node.path)
    where = f"after {place}" if place else "at the root"
    st.subheader(f"What could be drawn {where}" if node in now.waiting else f"What was drawn {where}", anchor=False)
    desk.picture(figures.options_chart(node))
    with st.expander(f"The {len(node.rows)} rows here", icon=":material/grid_on:"):
        st.dataframe([_row(row) for row in node.rows], hide_index=True, alt=f"The {len(node.rows)} made-up rows at this node.")


def _another_seed(key: str) -> None:
    st.session_state[key] = st.session_state[key] % MOST_SEED + 1


def _draw_next(key: str) -> None:
    st.session_state[key] += 1
    st.session_state.pop(_CHOSEN, None)


def _tree(desk: Desk, now: GrowingTree) -> str:
    """Draw the tree; the path of the node whose chances are shown: the chosen one, else the one drawn last."""
    ids = {placed.id: placed.path for placed in now.tree.nodes()}
    newest = (*now.nodes, *now.waiting)[max(0, len(now.nodes) - 1)].path
    chosen = chosen_node(_VIEW)
    if chosen is not None:
        st.session_state[_CHOSEN] = chosen
    path = ids.get(st.session_state.get(_CHOSEN, ""), newest)
    _drawing(now, next(name for name, place in ids.items() if place == path))
    st.markdown(desk.say("paid" if now.waiting else "done", spent=f"{number_text(now.spent)} ({NEIGHBOURS})"))
    with st.expander("The tree as text", icon=":material/notes:"):
        st.markdown("\n".join(f"{number}. {line.text}" for number, line in enumerate(rule_list(now.tree), start=1)))
    return path


def _drawing(now: GrowingTree, selected: str) -> None:
    marks = {node.path: f"{len(node.rows)} rows" for node in (*now.nodes, *now.waiting)}
    notes = NodeNotes(marks=marks)
    title = f"The tree after {len(now.nodes)} of {N_STEPS} draws"
    wide, narrow = (
        draw_tree(now.tree, notes, narrow=narrow, title=title, selected=selected).standalone() for narrow in (False, True)
    )
    tree_view(wide, narrow, selected=selected, key=_VIEW)


def _row(position: int) -> dict[str, str | int]:
    data = lesson_rows()
    cells: dict[str, str | int] = {"row": position + 1}
    for feature, column in zip(data.schema.features, data.columns, strict=True):
        value = int(column[position])
        cells[feature.name] = feature.categories[value] if isinstance(feature, CategoricalFeature) else value
    return cells | {data.schema.target.name: data.schema.classes[data.target[position]]}
