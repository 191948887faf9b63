"""What the Audit page shows: the lead, the three facts about the chosen learner, its worst pair, and what it all means."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.audit import results
from dpviz.app.audit.results import Known, Search
from dpviz.app.controls import EPSILONS
from dpviz.app.parts import error, plain
from dpviz.app.prose import prose
from dpviz.app.tree_view import tree_view
from dpviz.app.widgets import download, on_demand, rows_table, show_chart
from dpviz.errors import DpvizError
from dpviz.evaluation.audit.findings import AuditResult
from dpviz.evaluation.audit.smooth_leaf import RULES, leaf_curve
from dpviz.evaluation.audit.verdicts import Facts, SearchedPlace, StoredRun, script_of
from dpviz.figures import audit as text
from dpviz.figures.departures import statement_rows
from dpviz.figures.tree.svg import draw_tree
from dpviz.figures.wording import counted
from dpviz.learners import get_learner
from dpviz.learners.papers import DIFFERENCES
from dpviz.results.wording import number_text

TEXTS = "audit"
#: A tree with more leaves is described on request.
MOST_LEAVES = 4
_BOXES = {"green": st.success, "orange": st.warning, "red": st.error, "gray": st.info}
_ICONS = {
    "holds": ":material/verified_user:",
    "unproven": ":material/help:",
    "violated": ":material/gpp_bad:",
    "none": ":material/lock_open:",
}


def findings() -> Known:
    """All that is known; a stored run that is missing or broken is said, and this session's searches are left."""
    try:
        return results.all_findings()
    except DpvizError as problem:
        error(problem, kept="Searching below still works.")
        return results.all_findings(with_stored=False)


def lead(what: Known, epsilon: float) -> None:
    """How many claims hold, in a few words."""
    st.header(text.lead_sentence(results.audit_lines(what, epsilon)), anchor=False)


def run(what: Known, epsilon: float) -> None:
    """What searches and attacks found, and whose run it is."""
    now = f" {len(what.now)} of the settings searched now, in this session." if what.now else ""
    stored = _run_in_words(what.stored) if what.stored else ""
    st.caption(f"{text.tried_sentence(results.audit_lines(what, epsilon))} {stored}{now}")


def _run_in_words(stored: StoredRun) -> str:
    versions = ", ".join(sorted({facts.version for facts in stored.facts})) or "?"
    days = " to ".join(dict.fromkeys((stored.dates[0], stored.dates[-1]))) if stored.dates else "?"
    minutes = number_text(round(stored.processor_seconds / 60, 1))
    return f"Stored run of dpviz {plain(versions)} on {plain(days)}, {minutes} processor minutes. {prose(TEXTS, 'run')}"


def places() -> tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator]:
    """Where the learners stand, beside them what is known of the chosen one, and below them what unfolds."""
    left, evidence = st.columns([1.3, 1], gap="medium")
    with left:
        learners, more = st.container(), st.container()
    return learners, evidence, more


def verdict(search: Search, what: Known) -> AuditResult | None:
    """The three facts about the chosen learner; returns the worst that was found, None where nothing was searched."""
    facts, result = _known(search, what)
    st.subheader(", ".join(filter(None, results.title_of(search.subject))), anchor=False)
    if facts is not None:
        badge = text.BADGES[facts.claim.verdict]
        _BOXES[badge.tone](f"**Proved: {badge.word}.** {plain(facts.claim.because)}", icon=_ICONS[facts.claim.verdict])
    if result is not None:
        _searched(search, result)
    else:
        reason = facts.not_searched if facts is not None else "These settings were not searched yet. Search again to do it now."
        _fact(text.SEARCHED["not"], "Searched", plain(reason))
    if facts is not None and facts.attacked is not None:
        found, key = facts.attacked, text.against_claim(facts.attacked.bound, facts.attacked)
        _fact(text.ATTACKED[key], "Attacked", plain(text.attack_sentence(found)))
    elif facts is not None:
        _fact(text.ATTACKED["not"], "Attacked", plain(facts.not_attacked))
    return result


def _known(search: Search, what: Known) -> tuple[Facts | None, AuditResult | None]:
    return what.facts(search.subject, search.epsilon), what.worst(search.subject, search.epsilon)


def sources(search: Search, what: Known) -> None:
    """Where the facts about the chosen learner come from, and the script that refutes it."""
    facts, result = _known(search, what)
    _offer_script(search)
    lines = [f"Proved: to be read in `{facts.claim.evidence}`."] if facts is not None and facts.claim.evidence else []
    if result is not None:
        source = "Searched now" if search.subject in what.now else "From the stored run"
        size = f"{result.n_sets:,} data sets, {counted(result.n_pairs, 'neighbouring pair')}"
        lines.append(plain(text.pair_sentence(result)))
        lines.append(f"{source}, at ε = {number_text(result.epsilon)}. Found in: {plain(result.searched)} ({size}).")
    if facts is not None and facts.attacked is not None:
        minutes = number_text(round(facts.processor_seconds / 60, 1))
        lines.append(f"Attacked: {plain(text.attack_source(facts.attacked))} Seen: {plain(facts.attacked.event)}.")
        lines.append(f"Search and attack took {minutes} processor minutes.")
    if lines:
        with st.expander("How this was found", icon=":material/travel_explore:"):
            st.markdown("\n".join(f"- {line}" for line in lines))


def _offer_script(search: Search) -> None:
    """The script that refutes the learner's claim, where there is one: to read, and to run without dpviz."""
    script = script_of(search.learner)
    if script is not None:
        with on_demand("The counterexample as a script", icon=":material/code:", key="audit-script") as box:
            if box.open:
                st.caption(prose(TEXTS, "script"))
                text_of_script = script.read_text(encoding="utf-8")
                st.code(text_of_script, language="python")
                download("Script (Python)", text_of_script, script.name, "text/x-python", key="audit-script-file")


def _fact(badge: text.Badge, kind: str, words: str) -> None:
    st.markdown(f":{badge.tone}-badge[{badge.icon} {kind}: {badge.word}] {words}")


def _searched(search: Search, result: AuditResult) -> None:
    """What was found, and whether the widgets ask for another search."""
    _fact(text.SEARCHED[text.against_claim(result.log_ratio, result)], "Searched", plain(text.search_sentence(result)))
    if result.epsilon != search.epsilon:
        asked = number_text(search.epsilon)
        st.caption(f":material/history: Stale for ε = {asked}: what is shown is from another ε. Search again.")


def worst_pair(result: AuditResult) -> None:
    """Both data sets, the tree that tells them apart, and how likely it is; nothing where no difference was certified."""
    if result.worst_pair is None:
        return
    st.subheader("The worst pair", anchor=False)
    rows_table(text.pair_rows(result.worst_pair), "Both data sets, the row that is added last.")
    st.markdown("**What tells them apart**")
    tree, words = text.output_tree(result), text.output_in_words(result)
    if tree is None:
        st.caption(plain(words))
    else:
        wide, narrow = (draw_tree(tree, title=words, narrow=small).standalone() for small in (False, True))
        tree_view(wide, narrow, selected=None, key="audit-output", height=260)
    if tree is not None and tree.n_leaves > MOST_LEAVES:
        with st.expander(f"All {tree.n_leaves} leaves in words", icon=":material/notes:"):
            st.markdown(plain(words))
    bars = text.chance_chart(result)
    st.markdown("**How likely is this tree?**", help=plain(bars.summary))
    show_chart(bars, "audit-chances")


def everything(search: Search, what: Known) -> None:
    """Every place where the chosen learner was searched, with what was found there; nothing where there was none."""
    found = what.places(search.subject, search.epsilon)
    if not found:
        return
    with on_demand(
        f"Everything that was searched ({len(found)})", icon=":material/travel_explore:", key="audit-everything"
    ) as box:
        if box.open:
            rows = list(map(_place_row, found))
            st.dataframe(rows, hide_index=True, alt="Every universe and pair, with what was found.")


def _place_row(found: SearchedPlace) -> dict[str, str]:
    return {
        "where": found.where,
        "data sets": f"{found.n_sets:,}",
        "neighbouring pairs": f"{found.n_pairs:,}",
        f"found ε ({NEIGHBOURS})": text.at_least_text(found.log_ratio),
    }


def differences(search: Search) -> None:
    """Where the chosen learner differs from its source, nothing for one without a paper."""
    spec = get_learner(search.learner)
    if found := DIFFERENCES.get(spec.name, ()):
        with st.expander(f"Differences from the paper ({len(found)})", icon=":material/difference:"):
            st.caption(f"Source: {spec.citation}.")
            st.markdown("\n".join(f"- {one}" for one in found))
    if rows := statement_rows(spec.name):
        with st.expander(f"Theorems, lemmas and corollaries of the paper ({len(rows)})", icon=":material/gavel:"):
            st.dataframe(rows, hide_index=True, alt="Every numbered statement, whether it holds, and why.")


def meaning() -> None:
    """What the words on this page mean."""
    with st.expander("How to read this page", icon=":material/help:"):
        for section in ("neighbours", "facts", "composed", "searching"):
            st.markdown(prose(TEXTS, section))


def smooth_or_global() -> None:
    """One leaf of a random forest under three rules: folded away and not computed at first."""
    title, options = "Smooth or global? One leaf of a random forest", {"icon": ":material/forest:", "bind": "query-params"}
    folded = st.expander(title, key="smooth-or-global", **options)
    if folded.open:
        with folded:
            _explore_leaf()


@st.fragment
def _explore_leaf() -> None:
    st.markdown(prose(TEXTS, "smooth or global"))
    options = {"format_func": number_text, "key": "leaf-epsilon", "bind": "query-params"}
    epsilon = st.select_slider(f"ε ({NEIGHBOURS})", EPSILONS, 1.0, **options)
    chart = text.leaf_chart([leaf_curve(rule, epsilon, text.gaps_to_show(epsilon)) for rule in RULES])
    st.markdown(f"**{chart.summary}**")
    show_chart(chart, "leaf-chart")
