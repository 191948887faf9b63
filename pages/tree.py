"""Page "Tree": the tree these settings give, what is guaranteed about it, where epsilon goes, and how to take it away.

Every element answers a question; what answers none is not there. From top to bottom: what is guaranteed? How good is it on rows
it has not seen, is it lucky, and what does no model reach (above the picture)? What does it ask, how many rows go where, how
sure is each leaf, which questions come back with fresh noise (the picture)? Where does ε go, and do other shares do better (the
bar below it)? Who gets to a node (its card)? What of one person, of each class?
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from dpviz.app import background, controls, expected, explorations, frame, many_trees, parts, pinned, training
from dpviz.app.exports import offer_export
from dpviz.app.guarantee_line import guarantee_of, noise_line
from dpviz.app.held_out import headline_texts, measured_line, measured_screen, rows_of_the_tree
from dpviz.app.parts import as_code, error, escape_markdown
from dpviz.app.person import person_screen
from dpviz.app.prose import prose
from dpviz.app.split_view import share_map_screen, split_view
from dpviz.app.state import rows_read
from dpviz.app.tree_view import chosen_in, tree_text, tree_view
from dpviz.app.widgets import on_demand, rows_table
from dpviz.charts import as_python
from dpviz.charts import budget as budget_charts
from dpviz.charts.budget import split_of, split_sentence
from dpviz.charts.tree import model as model_figures
from dpviz.charts.tree import text
from dpviz.charts.tree.pair import Side, draw_pair
from dpviz.charts.tree.paths import shape_in_words
from dpviz.charts.tree.svg import draw_tree
from dpviz.charts.wording import count_text
from dpviz.errors import DpvizError
from dpviz.evaluation.resampling import Resamples
from dpviz.learners import get_learner
from dpviz.learners.recommend import which_learner
from dpviz.learners.request import few_usable, remarks_on_settings
from dpviz.models.tree import Branch, NumberLeaf, Tree, format_value, leaf_in_words, rule_in_words
from dpviz.results.result import FitResult
from dpviz.table.role import DataRole
from dpviz.training.estimate.collapse import collapse_leaves, intervals
from dpviz.training.estimate.leaf_means import LEAF_SUMS
from dpviz.training.exact_trace import ExactTrace, exact_trace
from dpviz.training.growing import LEAF_COUNTS

FOLDED, COMPLETE = "folded", "complete"
VIEW = "tree-view"

parts.page("Tree")
in_use = explorations.display_data()


def ask_view() -> None:
    """Folded or complete; folded unless the address says otherwise."""
    words = {FOLDED: "Folded", COMPLETE: "Complete"}
    more = {"help": prose("tree", "folded"), "key": "tree", "bind": "query-params"}
    st.segmented_control("Tree", tuple(words), format_func=words.__getitem__, default=FOLDED, required=True, **more)


guarantee, row = st.container(), controls.settings_row()
settings = controls.ask_settings(row, ask_view)
request, schema, is_private = settings.request, in_use.schema, in_use.role is DataRole.PRIVATE
with st.container():  # what is said of a tree that still grows moves nothing below it
    trained = training.tree_on_page(settings, in_use)


# --- the picture


def draw(trained: training.TrainedTree, complete: Tree) -> None:
    """The tree, beside the pinned one if there is one, to be dragged through epsilons; then the card of the chosen node."""
    request, result = trained.settings.request, trained.result
    trace = exact_trace(complete, rows_of_the_tree(in_use)) if in_use.role.may_show_rows else None
    with st.container():
        before = pinned.current_pin(in_use)
    with row:
        pinned.pin_bar(before, trained, in_use)
    fold = st.session_state.get("tree", FOLDED) == FOLDED
    shown = collapse_leaves(complete, result.plan) if fold else complete
    reruns = training.current_resamples(request, in_use)
    now = pinned.pair_side("Now", trained, shown, trace.shares(shown) if trace else {}, reruns)
    if reruns is None and training.is_resampled(request, in_use):  # room for what is to come
        now = replace(now, notes=replace(now.notes, n_draws=training.draws_of(request, rows_of_the_tree(in_use).schema)))
    beside = None if before is None else pinned.pinned_side(before, in_use, fold=fold)
    path = show_tree(trained, now, reruns, beside, fold=fold)
    if before is not None and beside is not None:
        pinned.pair_words(before, trained, (beside, now))
    show_node(trained, shown, path, trace, reruns)
    with on_demand("The same tree as text", icon=":material/notes:") as box:
        if box.open:
            tree_text(shown)
    with on_demand("How to read the picture", icon=":material/help:") as box:
        if box.open:
            st.markdown("\n".join(f"- {line}" for line in legend(result, trace, reruns)))
    if request.settings.depth == "auto" and schema.n_public is not None:
        whole = request.plan(schema)
        if whole.depth != result.plan.depth:
            own = f"Automatic depth: {result.plan.depth} for these rows"
            st.caption(f"{own}; a release, trained on all rows, would have {whole.depth}.")


def show_tree(trained: training.TrainedTree, now: Side, reruns: Resamples | None, pair: Side | None, *, fold: bool) -> str:
    """The view, with the pinned tree beside it where there is one; returns the path of the chosen node."""
    request, result = trained.settings.request, trained.result
    chosen, path = chosen_in(VIEW, now.tree)
    path_work, steps = (None, "") if pair is not None else training.current_path(request, in_use, fold=fold)
    size = count_text(now.tree.n_leaves, "leaf", "leaves")
    title = f"{get_learner(result.learner).title}, depth {now.tree.depth}, {size}"
    wide, narrow = (
        draw_tree(now.tree, now.notes, narrow=narrow, selected=chosen, title=title).standalone()
        if pair is None
        else draw_pair(pair, now, selected=chosen, narrow=narrow).standalone()
        for narrow in (False, True)
    )
    captions = {"shape": shape_in_words(result.plan)}
    if reruns is not None:
        captions["survives"] = model_figures.survival_sentence(now.tree.schema, reruns)
    if trained.held_out is not None:
        captions |= headline_texts(trained.held_out, in_use, request, reruns)
    if in_use.is_made_up:
        captions["mark"] = "Made-up rows"
    tree_view(wide, narrow, selected=chosen, key=VIEW, steps=steps, epsilon=request.settings.epsilon, captions=captions)
    split_view(result, request)
    with st.container(key=frame.WORK):
        if not now.notes.rerun_counts and training.is_resampled(request, in_use):
            again = training.resampling_task(request, in_use)
            background.watch(again, "Training the tree again with new noise")
            if background.state(again).is_done:  # since the page was drawn without them
                st.rerun()
        elif path_work is not None:
            words = "Drawing the tree at other ε, to drag through"
            background.watch(path_work, words, at_end=True)  # half of the steps shows nothing
            for problem in background.state(path_work).problems:
                error(problem)
    return path


def legend(result: FitResult, trace: ExactTrace | None, reruns: Resamples | None) -> list[str]:
    """What lines, bars, numbers and faint questions mean."""
    lines = ["The wider a line, the more rows."] if trace is not None else []
    if result.plan.held_out_part(LEAF_COUNTS) is not None:
        lines.append("Bars: the probability of a leaf's label, with a 95% interval.")
        apart = "most of the leaf’s rows that were kept for probabilities have another label than those that grew it"
        lines.append(f"“40% of its held-out rows”, or “only 40%”: {apart}.")
    if result.plan.held_out_part(LEAF_SUMS) is not None:
        lines.append("Bars: the number of a leaf on the scale of all leaves, with a 95% interval of its mean.")
    lines.append("“(no row)”: the questions above a leaf exclude each other, so no row gets there.")
    if reruns is not None:
        example = f"“26 of {reruns.n_done}”: that many reruns with new noise split on this feature here"
        lines.append(f"{example}. The fewer, the fainter.")
        lines.append("Dashed: less than a third of them do. In brackets: where most of their thresholds are.")
        lines.append("A question can be faint just because another one predicts about as well.")
    return lines


# --- the chosen node: its rule and path in words, what was released there, how often it comes back under fresh noise


def show_node(trained: training.TrainedTree, shown: Tree, path: str, trace: ExactTrace | None, reruns: Resamples | None) -> None:
    """The card of the node at `path` of the tree on screen, folded or complete."""
    node, complete, result = shown.node(path), trained.tree, trained.result
    assert complete is not None
    with st.container(border=True):
        what, how = st.columns(2, gap="medium")
        with what:
            if isinstance(node, Branch):
                st.markdown(f"**{escape_markdown(rule_in_words(shown.schema, node.rule))}?**")
            else:
                st.markdown(f"**Leaf: predicts {as_code(leaf_in_words(shown.schema, node))}**")
            st.caption(escape_markdown(text.path_in_words(shown, path)) if path else "At the root, where every row begins.")
            bar = intervals(complete, shown, result.plan, result.unit.rows).get(path)
            if path in text.unreachable(shown):
                st.markdown("No row can get here: the questions above exclude each other.")
            elif bar is not None:
                st.markdown(f"Probability **{bar[0]:.0%}** (95%: {bar[1]:.0%} to {bar[2]:.0%}), from released noisy counts.")
            if isinstance(node, NumberLeaf) and node.interval is not None:
                st.markdown(f"Mean of the rows here: **{text.interval_in_words(node.interval)}**, from released noisy sums.")
            if isinstance(node, Branch) and node.median_split is not None:
                side = text.SIDES["L" if node.median_split.low_left else "R"]
                name, median = as_code(shown.schema.target.name), format_value(node.median_split.median)
                st.markdown(f"Released cut: “{side}” is meant for rows with {name} ≤ **{median}**.")
            if text.is_contradicted(node):
                own = "Its label comes from the rows that grew the tree."
                st.caption(f"{own} The rows kept for its probability point to another class.")
            if not isinstance(node, Branch) and isinstance(complete.node(path), Branch):
                st.caption("Leaves below it predicted the same, or could not be told apart, and were merged.")
        with how:
            if trace is not None:
                whose = "Made-up rows here" if in_use.is_made_up else "Rows here, exactly, as they are not private"
                st.markdown(f"{whose}: {node_rows_text(trace, path)}.")
            if is_private:
                st.caption(prose("private", "not drawn again"))
            elif training.is_resampled(trained.settings.request, in_use):
                for problem in background.state(training.resampling_task(trained.settings.request, in_use)).problems:
                    st.caption(escape_markdown(str(problem)))
                if reruns is not None:
                    st.markdown(f":material/replay: {escape_markdown(model_figures.recurrence_sentence(reruns, shown, path))}")
                    if reruns.n_done < reruns.n_asked:
                        st.caption(f"Stopped after {reruns.n_done} of {reruns.n_asked} draws.")


def node_rows_text(trace: ExactTrace, path: str) -> str:
    """How many rows get to a node, of which class or with which mean."""
    n_rows = f"**{trace.rows(path):,}**"
    if trace.means:
        return n_rows + (f", mean {as_code(schema.target.name)} {format_value(trace.means[path])}" if trace.rows(path) else "")
    counts = zip(schema.classes, trace.counts[path], strict=True)
    named = ", ".join(f"{count:,} {escape_markdown(name)}" for name, count in counts if count)
    return n_rows + (named and f" ({named})")


# --- where epsilon goes


def show_spending(result: FitResult) -> None:
    """What one person pays on the way down, beside the claim; who set each share."""
    plan, unit = result.plan, result.unit
    st.markdown(f"**{escape_markdown(split_sentence(split_of(result)))}**")
    rows = budget_charts.spending_rows(plan, result.ledger.spent(), unit)
    if rows:
        rows_table(rows, f"What {unit.words} pays for every part and level.")
    st.caption(prose("tree", "one row pays", because=escape_markdown(result.claim.because)))
    st.subheader("Who set each share", anchor=False)
    by_hand = dict.fromkeys(share.part for share in plan.shares if share.set_by == "you")
    if by_hand:
        st.markdown(f"**{', '.join(by_hand)}**: set by you")
    st.markdown("\n".join(f"- {escape_markdown(note)}" for note in plan.notes))


# --- taking it away


@st.fragment
def take_away(result: FitResult) -> None:
    """The model in any form, made and checked once the box is open."""
    with on_demand("Download this model", icon=":material/download:") as box:
        if not box.open:
            return
        try:
            document = result.to_json()
        except DpvizError as problem:  # a forest that would say where rows are
            error(problem)
            return
        holds = "Holds rules, labels and released noisy counts, and says what is guaranteed; no exact counts and no rows."
        st.caption(holds if result.released else f"{holds} It says why it is not a release.")
        label = "Download simulation" if result.noise == "simulation" else "Download"
        offer_export(document, f"{result.learner}-depth-{result.plan.depth}", key="take-away", label=label)


if trained is not None:
    result = trained.result
    with guarantee:
        guarantee_of(result)
    with st.container():
        if in_use.is_made_up:  # what to expect of the private ones, instead of a measure
            expected.expected_screen(trained.settings.request, explorations.data_in_use())
        few = few_usable(in_use.data) if in_use.role.may_read else ""
        for words in filter(None, (few, *map(str, remarks_on_settings(trained.settings.request, result.schema)))):
            st.warning(escape_markdown(words), icon=":material/info:")
        if trained.tree is not None:
            draw(trained, trained.tree)
        else:
            measured_line(trained.held_out, in_use, trained.settings.request)
            split_view(result, request)
            many_trees.many_trees_screen(result.model)
    with on_demand("Where does ε go?", icon=":material/donut_large:") as box:
        if box.open:
            show_spending(result)
    with on_demand("Would other shares of ε do better?", icon=":material/change_history:") as box:
        if box.open:
            share_map_screen(request, in_use)
    if schema.n_public is not None:
        best = which_learner(schema, epsilon=trained.settings.request.settings.epsilon)
        if best.learner != trained.settings.request.learner:
            st.caption(f"Recommended by declared rows and ε alone: {get_learner(best.learner).title}. {best.lost}")
    person_screen(result.model, trained.tree)
    measured_screen(trained.held_out, schema, None if in_use.is_made_up else result.test_report)
    if is_private:
        st.caption("Keep what is on screen to yourself: the Publish page trains a new tree, records its cost and gives its file.")
    else:
        take_away(result)
    noise_line(result, in_use.role)
frame.next_page_button("tree")
frame.as_python(partial(as_python.tree, rows_read(), request, settings.draw))
