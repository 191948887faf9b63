"""What the Audit page shows: the lead, the verdict on the chosen learner, its worst pair, and what it all means."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.audit import results
from dpviz.app.audit.results import Known, Search
from dpviz.app.audit.view import audit_view
from dpviz.app.parts import error, plain
from dpviz.app.prose import prose
from dpviz.app.widgets import chart, table
from dpviz.errors import DpvizError
from dpviz.evaluation.audit.by_attack import AuditedBound
from dpviz.evaluation.audit.findings import AuditResult
from dpviz.figures.audit import worst_pair as pair
from dpviz.figures.audit.html import drawing, pair_tables
from dpviz.figures.audit.separating_output import output_in_words, output_tree
from dpviz.figures.audit.text import BADGES, lead_sentence, pair_sentence
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.tree.svg import tree_svg
from dpviz.figures.wording import counted

TEXTS = "audit"
#: A tree with more leaves is described on request.
MOST_LEAVES = 4
_BOXES = {"green": st.success, "orange": st.warning, "red": st.error, "gray": st.info}
_ICONS = {
    "holds": ":material/verified_user:",
    "unproven": ":material/help:",
    "violated": ":material/gpp_bad:",
    "ledger violated": ":material/bug_report:",
    "none": ":material/lock_open:",
}


def known() -> Known:
    """All that is known; a stored run that is missing or broken is said, and this session's searches are left."""
    try:
        return results.known()
    except DpvizError as problem:
        error(problem, kept="Searching below still works.")
        return results.known(with_stored=False)


def lead(what: Known) -> None:
    """The verdict on all learners in one sentence, and whose run it is."""
    st.header(lead_sentence(results.audit_lines(what, ever=True)), anchor=False)
    stored = what.stored
    run = f"Stored run of dpviz {plain(stored.version)} on {plain(stored.date)}. " if stored else ""
    now = f"{len(what.now)} of the lines searched now, in this session. " if what.now else ""
    st.caption(f"{run}{now}None of your rows are used on this page.")


def verdict(search: Search, what: Known) -> AuditResult | None:
    """The worst result of the chosen learner in one box, and which search it comes from; None when there is none."""
    result = what.worst(search.subject)
    st.header("Worst pair found: " + ", ".join(filter(None, results.title_of(search.subject))), anchor=False)
    if result is None:
        reason = what.refusal(search.subject) or "These settings were not searched yet. Search again to do it now."
        st.info(plain(reason), icon=":material/search_off:")
    else:
        _verdict_box(result)
        _freshness(search, what, result)
    _attacked(what.audit(search.subject))
    return result


def _attacked(audit: AuditedBound | None) -> None:
    """What the attack by sampling showed, where there was one."""
    if audit is None:
        return
    least = f"ε = {number_text(audit.bound)} ({NEIGHBOURS}) is lost at least, with {audit.confidence:.0%} confidence"
    seen = f"{audit.n_done:,} draws on each of two data sets at a claimed ε of {number_text(audit.claimed)}"
    st.caption(f":material/target: Attacked by sampling: {least} ({seen}).")


def _verdict_box(result: AuditResult) -> None:
    badge = BADGES[result.verdict]
    _BOXES[badge.tone](f"**{badge.word.capitalize()}.** {plain(pair_sentence(result))}", icon=_ICONS[result.verdict])


def _freshness(search: Search, what: Known, result: AuditResult) -> None:
    """Which search this result comes from, and whether the widgets ask for another."""
    source = "Searched now" if search.subject in what.now else "From the stored run"
    size = f"{result.n_sets:,} data sets, {counted(result.n_pairs, 'neighbouring pair')}"
    st.caption(f"{source}, at ε = {number_text(result.epsilon)}. Found in: {plain(result.searched)} ({size}).")
    if result.epsilon != search.epsilon:
        asked = number_text(search.epsilon)
        st.caption(f":material/history: Stale for ε = {asked}: what is shown is from another ε. Search again.")


def worst_pair(result: AuditResult) -> None:
    """Both data sets, the tree that tells them apart, and two charts; nothing where no difference was certified."""
    if result.worst_pair is None:
        return
    data, output = st.columns(2, gap="large")
    with data:
        st.markdown("**Two data sets, one row apart**")
        audit_view(pair_tables(result.worst_pair), key="audit-pair")
    with output:
        st.markdown("**The tree that tells them apart**")
        _output(result)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**How likely is this tree?**")
        rows, note = pair.probability_rows(result), pair.limit_note(result)
        _chart(pair.probability_figure(result), pair.probability_sentence(result), rows, "chances", note)
    with right:
        st.markdown("**Found against promised**")
        _chart(pair.ratio_figure(result), pair.ratio_sentence(result), pair.ratio_rows(result), "ratio")


def _output(result: AuditResult) -> None:
    tree, words = output_tree(result), output_in_words(result)
    if tree is not None:
        audit_view(drawing(tree_svg(tree, widths=None, selected=None, narrow=True, title=words)), key="audit-output")
    if tree is None or tree.n_leaves <= MOST_LEAVES:
        st.caption(plain(words))
    else:
        with st.expander(f"All {tree.n_leaves} leaves in words", icon=":material/notes:"):
            st.markdown(plain(words))


def _chart(figure: Any, sentence: str, rows: list[dict[str, str]], key: str, note: str = "") -> None:
    chart(figure, sentence, key=f"audit-{key}")
    if note:
        st.caption(note)
    table(rows, sentence)


def everything(search: Search, what: Known) -> None:
    """Every place where the chosen learner was searched, with what was found there."""
    found = what.results(search.subject)
    with st.expander(f"Everything that was searched ({len(found)})", icon=":material/travel_explore:"):
        rows = [_place_row(result) for result in found]
        st.dataframe(rows, hide_index=True, alt="Every universe and pair, with what was found.")


def _place_row(result: AuditResult) -> dict[str, str]:
    return {
        "where": result.searched,
        "data sets": f"{result.n_sets:,}",
        "neighbouring pairs": f"{result.n_pairs:,}",
        f"claimed ε ({NEIGHBOURS})": number_text(result.claimed),
        "composed ε": number_text(result.composed),
        "found": f"≥ {number_text(result.log_ratio)}" if math.isfinite(result.log_ratio) else "∞",
        "verdict": BADGES[result.verdict].word,
    }


def rules(what: Known) -> None:
    """Rules inside learners, each searched by itself; nothing without a stored run."""
    found = what.stored.mechanisms if what.stored else ()
    if found:
        with st.expander(f"Rules inside learners, searched by themselves ({len(found)})", icon=":material/extension:"):
            rows = [{"rule": result.learner, **_place_row(result), "reason": result.because} for result in found]
            st.dataframe(rows, hide_index=True, alt="Every rule that was searched by itself, with what was found.")


def meaning() -> None:
    """What the words on this page mean."""
    st.header("How to read this", anchor=False)
    for column, section in zip(st.columns(3, gap="large"), ("neighbours", "holds", "composed"), strict=True):
        column.markdown(prose(TEXTS, section))
    st.caption(prose(TEXTS, "searching"))
