"""The card of one node: its rule and path in words, what was released there, how often it comes back under fresh noise."""

import streamlit as st

from dpviz.app import background
from dpviz.app.parts import literal, plain
from dpviz.app.prose import prose
from dpviz.app.state import Loaded
from dpviz.app.tree.resampling import is_resampled, resampling_task
from dpviz.app.trees import Trained
from dpviz.evaluation.tree.resampling import Resamples
from dpviz.figures.tree.labels import between_in_words, interval_in_words, is_anywhere
from dpviz.figures.tree.text import SIDES, is_contradicted, path_in_words
from dpviz.models.tree import Branch, Node, NumberLeaf, Tree, format_value, leaf_in_words, rule_in_words
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema
from dpviz.training.estimate.collapse import intervals
from dpviz.training.exact_trace import ExactTrace


def node_card(trained: Trained, loaded: Loaded, shown: Tree, path: str, trace: ExactTrace | None) -> None:
    """Draw the card of the node at `path` of the tree on screen (complete or merged)."""
    node, complete = shown.node(path), trained.tree
    assert complete is not None
    with st.container(border=True):
        what, how = st.columns(2, gap="medium")
        with what:
            st.markdown(f"**{_title(shown, node)}**")
            st.caption(plain(path_in_words(shown, path)) if path else "At the root, where every row begins.")
            bar = intervals(complete, shown, trained.result.plan, trained.result.unit.rows).get(path)
            if bar is not None:
                st.markdown(f"Probability **{bar[0]:.0%}** (95%: {bar[1]:.0%} to {bar[2]:.0%}), from released noisy counts.")
            if isinstance(node, NumberLeaf) and node.interval is not None:
                st.markdown(f"Mean of the rows here: **{interval_in_words(node.interval)}**, from released noisy sums.")
            if isinstance(node, Branch) and node.median_split is not None:
                side = SIDES["L" if node.median_split.low_left else "R"]
                name, median = literal(shown.schema.target.name), format_value(node.median_split.median)
                st.markdown(f"Released cut: “{side}” is meant for rows with {name} ≤ **{median}**.")
            if is_contradicted(node):
                st.caption(
                    "Its label comes from the rows that grew the tree. The rows kept for its probability point to another class."
                )
            if not isinstance(node, Branch) and isinstance(complete.node(path), Branch):
                st.caption("Leaves below it predicted the same, or could not be told apart, and were merged.")
        with how:
            if trace is not None:
                whose = "Made-up rows here" if loaded.is_made_up else "Rows here, exactly, as they are not private"
                st.markdown(f"{whose}: {_rows_in_words(trace, path, shown.schema)}.")
            _stability(trained, loaded, shown, path)


def _title(tree: Tree, node: Node) -> str:
    if not isinstance(node, Branch):
        return f"Leaf: predicts {literal(leaf_in_words(tree.schema, node))}"
    return plain(rule_in_words(tree.schema, node.rule)) + "?"


def _rows_in_words(trace: ExactTrace, path: str, schema: Schema) -> str:
    if trace.means:
        mean = f", mean {literal(schema.target.name)} {format_value(trace.means[path])}" if trace.rows(path) else ""
        return f"**{trace.rows(path):,}**{mean}"
    classes = schema.classes
    counts = ", ".join(f"{count:,} {plain(name)}" for name, count in zip(classes, trace.counts[path], strict=True) if count)
    return f"**{trace.rows(path):,}**{counts and f' ({counts})'}"


def _stability(trained: Trained, loaded: Loaded, shown: Tree, path: str) -> None:
    """How often this node comes back; for private rows only why that is not shown."""
    if loaded.role is DataRole.PRIVATE:
        st.caption(prose("private", "not drawn again"))
        return
    if loaded.is_made_up or not is_resampled(trained.asked.request, loaded):
        return
    status = background.state(resampling_task(trained.asked.request, loaded))
    for problem in status.problems:
        st.caption(plain(str(problem)))
    if status.values and status.values[0].n_done:
        drawn: Resamples = status.values[0]
        st.markdown(f":material/replay: {came_back_sentence(drawn, shown, path)}")
        if drawn.n_done < drawn.n_asked:
            st.caption(f"Stopped after {drawn.n_done} of {drawn.n_asked} draws.")


def came_back_sentence(drawn: Resamples, shown: Tree, path: str) -> str:
    """In how many of the draws this node comes back."""
    node = shown.node(path)
    times = f"in {drawn.coming_back(shown)[path]} of {drawn.n_done} reruns"
    if not isinstance(node, Branch):
        return f"This leaf comes back {times}."
    feature, near = shown.schema.features[node.rule.feature], drawn.between(shown).get(path)
    is_place = near is not None and not is_anywhere(feature, near)
    at = f", mostly at {between_in_words(shown.schema, node.rule, near)}" if near is not None and is_place else ""
    return f"{literal(feature.name)} comes back here, below the same features, {times}{at}."
