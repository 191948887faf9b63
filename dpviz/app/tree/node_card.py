"""The card of one node: its rule and path in words, what was released there, how often it comes back under fresh noise."""

import streamlit as st

from dpviz.app.parts import literal, plain
from dpviz.app.prose import prose
from dpviz.app.state import Loaded
from dpviz.app.tree.fresh import is_drawn_again, redraws_task
from dpviz.app.trees import Trained
from dpviz.app.work.session import poll
from dpviz.evaluation.tree.redraws import Redraws
from dpviz.figures.tree.labels import interval_in_words
from dpviz.figures.tree.text import path_in_words
from dpviz.models.tree import Branch, Node, NumberLeaf, Tree, format_value, leaf_in_words, rule_in_words
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema
from dpviz.training.exact_trace import ExactTrace
from dpviz.training.honest.folding import intervals


def node_card(trained: Trained, loaded: Loaded, shown: Tree, path: str, trace: ExactTrace | None) -> None:
    """Draw the card of the node at `path` of the tree on screen (complete or merged)."""
    node, complete = shown.node(path), trained.tree
    assert complete is not None
    with st.container(border=True):
        what, how = st.columns(2, gap="medium")
        with what:
            st.markdown(f"**{_title(shown, node)}**")
            st.caption(plain(path_in_words(shown, path)) if path else "At the root, where every row begins.")
            bar = intervals(complete, shown, trained.result.plan).get(path)
            if bar is not None:
                st.markdown(f"Probability **{bar[0]:.0%}** (95%: {bar[1]:.0%} to {bar[2]:.0%}), from released noisy counts.")
            if isinstance(node, NumberLeaf) and node.interval is not None:
                st.markdown(f"Mean of the rows here: **{interval_in_words(node.interval)}**, from released noisy sums.")
            if isinstance(node, Branch) and node.halves is not None:
                side = "yes" if node.halves.low_left else "no"
                name, median = literal(shown.schema.target.name), format_value(node.halves.median)
                known = f"Released median: about half of the rows here have {name} ≤ **{median}**."
                st.markdown(f"{known} “{side}” leads to the lower half.")
            if not isinstance(node, Branch) and isinstance(complete.node(path), Branch):
                st.caption("Leaves below it predicted the same, or could not be told apart, and were merged.")
        with how:
            if trace is not None:
                st.markdown(_rows_sentence(trace, path, shown.schema))
            _stability(trained, loaded, shown, path)


def _title(tree: Tree, node: Node) -> str:
    if not isinstance(node, Branch):
        return f"Leaf: predicts {literal(leaf_in_words(tree.schema, node))}"
    return plain(rule_in_words(tree.schema, node.rule)) + "?"


def _rows_sentence(trace: ExactTrace, path: str, schema: Schema) -> str:
    if trace.means:
        mean = f" — mean {literal(schema.target.name)} {format_value(trace.means[path])}" if trace.rows(path) else ""
        return f"Exact rows here (simulated data only): **{trace.rows(path):,}**{mean}."
    classes = schema.classes
    counts = ", ".join(f"{count:,} {literal(name)}" for name, count in zip(classes, trace.counts[path], strict=True) if count)
    return f"Exact rows here (simulated data only): **{trace.rows(path):,}** — {counts or 'none'}."


def _stability(trained: Trained, loaded: Loaded, shown: Tree, path: str) -> None:
    """How often this node comes back; for private rows only why that is not shown."""
    if loaded.role is DataRole.PRIVATE:
        st.caption(prose("private", "not drawn again"))
        return
    if not is_drawn_again(trained.asked, loaded):
        return
    status = poll(redraws_task(trained.asked, loaded))
    for problem in status.problems:
        st.caption(plain(str(problem)))
    if status.values and status.values[0].n_done:
        drawn: Redraws = status.values[0]
        st.markdown(f":material/replay: {came_back_sentence(drawn, shown, path)}")
        stopped = f"Stopped after {drawn.n_done} of {drawn.n_asked} draws. " if drawn.n_done < drawn.n_asked else ""
        st.caption(f"{stopped}Same data, same settings, fresh noise. Simulations, not releases.")


def came_back_sentence(drawn: Redraws, shown: Tree, path: str) -> str:
    """In how many of the draws this node comes back."""
    node = shown.node(path)
    times = f"in {drawn.coming_back(shown)[path]} of {drawn.n_done} fresh draws"
    if not isinstance(node, Branch):
        return f"This leaf comes back {times}."
    feature = drawn.same_feature(path, node.rule.feature)
    name = literal(shown.schema.features[node.rule.feature].name)
    return f"This question, and those above it, come back {times}; {name} is asked at this place in {feature}."
