"""Page "Audit": which learners keep the epsilon they claim, and the pair of data sets that shows which do not."""

import math
from functools import partial

import streamlit as st

from dpviz.app import audit, background, frame, parts
from dpviz.app.audit import PLACES, AuditFacts, Search
from dpviz.app.controls import EPSILONS
from dpviz.app.parts import error, escape_markdown
from dpviz.app.prose import prose, sections
from dpviz.app.tree_view import show_tree
from dpviz.app.widgets import download, link_options, on_demand, rows_table, show_chart
from dpviz.charts import as_python
from dpviz.charts import audit as charts
from dpviz.charts.wording import PERSONS, count_text
from dpviz.errors import DpvizError
from dpviz.evaluation.audit.evidence import AuditResult, BoundLearner
from dpviz.evaluation.audit.verdicts import script_of
from dpviz.learners import get_learner, learner_names
from dpviz.learners.papers import differences, statement_rows
from dpviz.learners.variants import variant_title
from dpviz.results.wording import number_text
from dpviz.training.params import controls_of

LEARNER, EPSILON, PICTURE, FIRST = "audit-learner", "audit-epsilon", "audit-table", "_audit_first"
BOXES = {"green": st.success, "orange": st.warning, "red": st.error, "gray": st.info}
ICONS = {
    "holds": ":material/verified_user:",
    "unproven": ":material/help:",
    "violated": ":material/gpp_bad:",
    "none": ":material/lock_open:",
}


def kind_of(result: AuditResult) -> str:
    """The section of texts for a claim that was found violated or unproven."""
    if result.verdict != "violated":
        return result.verdict
    return "violated, impossible" if math.isinf(result.log_ratio) else "violated, adds up"


def source_of(result: AuditResult) -> str:
    """What the claim was read from, as the learner says."""
    place = next((place for place in PLACES if place.title == result.searched), PLACES[0])
    planned = BoundLearner.of(result.learner, place.schema, epsilon=result.epsilon, depth=place.depth, **result.params)
    return planned.claim.source


def section_of(result: AuditResult) -> str | None:
    """The text about this very claim, else the one for any such claim; None for a claim that holds."""
    if result.verdict not in ("violated", "unproven"):
        return None
    return next(name for name in (f"{kind_of(result)}: {source_of(result)}", kind_of(result)) if name in sections("audit"))


def flags_of(learner: str) -> dict[str, bool]:
    """The settings of a learner that are on or off, with their defaults."""
    spec = get_learner(learner)
    default = spec.Params()
    return {name: getattr(default, name) for name, about in controls_of(spec.Params).items() if about.kind == "flag"}


def choose_line(known: AuditFacts) -> None:
    """Put the learner, flags and epsilon of a chosen line into the widgets."""
    points = st.session_state[PICTURE]["selection"]["points"]
    if not points:
        return
    key = str(points[0]["customdata"])
    learner, params = audit.subject_of(key)
    st.session_state[LEARNER] = learner
    for flag, default in flags_of(learner).items():
        st.session_state[f"audit-{learner}.{flag}"] = bool(params.get(flag, default))
    if known.now.get(key):
        st.session_state[EPSILON] = known.now[key][0].epsilon


def first_learner(known: AuditFacts) -> int:
    """Position of the learner shown at first, settled once in a session: a violated claim, if possible with a text of its own."""
    if FIRST not in st.session_state:
        broken = [line for line in audit.audit_lines(known, 1.0) if line.verdict == "violated" and not line.setting]
        own = [
            line
            for line in broken
            if line.searched is not None and section_of(line.searched) not in (None, kind_of(line.searched))
        ]
        st.session_state[FIRST] = audit.subject_of((own or broken)[0].key)[0] if broken else learner_names()[0]
    return learner_names().index(st.session_state[FIRST])


def ask_search(learner: str, epsilon: float) -> Search:
    """Other settings, where to search, the button, and how far the search is."""
    left, right = st.columns(2, gap="large")
    with left:
        flags, about = flags_of(learner), controls_of(get_learner(learner).Params)
        settings = {
            name: st.toggle(about[name].label, default, help=about[name].help, **link_options(f"audit-{learner}.{name}"))
            for name, default in flags.items()
        }
        if not flags:
            st.caption("This algorithm has no other settings to search.")
    with right:
        everywhere, numbers = "everywhere", map(str, range(1, len(PLACES) + 1))
        chosen = st.select_slider("Universe to search", (*numbers, everywhere), everywhere, **link_options("audit-universe"))
        place = None if chosen == everywhere else int(chosen) - 1
        all_of_them = f"All {len(PLACES)} of them, quickest first."
        st.caption(all_of_them if place is None else f"Number {chosen}: {PLACES[place].title}.")
    search = Search(learner, {name: value for name, value in settings.items() if value != flags[name]}, epsilon, place)
    st.button("Search again", icon=":material/search:", on_click=audit.start, args=(search,))
    task = audit.last_search()
    if task is not None:
        background.show(task, "Searching; what is shown is from before")
    return search


def show_fact(badge: charts.Badge, kind: str, words: str) -> None:
    """One of the three facts, with its verdict."""
    st.markdown(f":{badge.tone}-badge[{badge.icon} {kind}: {badge.word}] {words}")


def show_evidence(search: Search, known: AuditFacts) -> None:
    """The three facts about the chosen learner, why its claim fails, its worst pair, and how all this was found."""
    facts, result = known.facts(search.subject, search.epsilon), known.worst(search.subject, search.epsilon)
    st.subheader(", ".join(filter(None, audit.title_of(search.subject))), anchor=False)
    lines = []
    if facts is not None:
        proved = charts.BADGES[facts.claim.verdict]
        BOXES[proved.tone](f"**Proved: {proved.word}.** {escape_markdown(facts.claim.because)}", icon=ICONS[facts.claim.verdict])
        if facts.claim.evidence:
            lines.append(f"Proved: to be read in `{facts.claim.evidence}`.")
    if result is not None:
        badge = charts.SEARCH_BADGES[charts.against_claim(result.log_ratio, result)]
        show_fact(badge, "Searched", escape_markdown(charts.search_sentence(result)))
        if result.epsilon != search.epsilon:
            asked = number_text(search.epsilon)
            st.caption(f":material/history: Stale for ε = {asked}: what is shown is from another ε. Search again.")
        source = "Searched now" if search.subject in known.now else "From the stored run"
        size = f"{result.n_sets:,} data sets, {count_text(result.n_pairs, 'neighbouring pair')}"
        lines.append(escape_markdown(charts.pair_sentence(result)))
        lines.append(f"{source}, at ε = {number_text(result.epsilon)}. Found in: {escape_markdown(result.searched)} ({size}).")
    else:
        reason = facts.not_searched if facts is not None else "These settings were not searched yet. Search again to do it now."
        show_fact(charts.SEARCH_BADGES["not"], "Searched", escape_markdown(reason))
    if facts is not None and facts.attacked is not None:
        attack = facts.attacked
        show_fact(charts.attack_badge(attack), "Attacked", escape_markdown(charts.attack_sentence(attack)))
        minutes = number_text(round(facts.processor_seconds / 60, 1))
        lines.append(f"Attacked: {escape_markdown(charts.attack_source(attack))} Seen: {escape_markdown(attack.event)}.")
        lines.append(f"Search and attack took {minutes} processor minutes.")
    elif facts is not None:
        show_fact(charts.ATTACK_BADGES["not"], "Attacked", escape_markdown(facts.not_attacked))
    if result is not None:
        explain_claim(result)
        show_worst_pair(result)
    script = script_of(search.learner)
    if script is not None:
        with on_demand("The counterexample as a script", icon=":material/code:", key="audit-script") as opened:
            if opened.open:
                st.caption(prose("audit", "script"))
                code = script.read_text(encoding="utf-8")
                st.code(code, language="python")
                download("Script (Python)", code, script.name, "text/x-python", key="audit-script-file")
    with on_demand("How this was found", icon=":material/travel_explore:") as box:
        if box.open:
            st.markdown("\n".join(f"- {line}" for line in lines))


def explain_claim(result: AuditResult) -> None:
    """Why the claim fails, in two sentences with the numbers of the pair on screen."""
    section = section_of(result)
    if section is None:
        return
    low, high = sorted(result.worst_pair.probabilities) if result.worst_pair else (0.0, 0.0)
    adds = result.worst_pair is not None and result.worst_pair.probabilities[1] >= result.worst_pair.probabilities[0]
    numbers = {
        "claimed": f"{number_text(result.claimed)} ({PERSONS})",
        "composed": number_text(result.composed),
        "times": charts.ratio_text(result.log_ratio),
        "allowed": charts.ratio_text(result.claimed),
        "low": charts.chance_text(low),
        "high": charts.chance_text(high),
        "direction": "adding the marked person" if adds else "taking the marked person away",
        "because": escape_markdown(result.because),
    }
    title = "Why this claim fails" if result.verdict == "violated" else "Why this claim is unproven"
    with on_demand(title, icon=":material/lightbulb:") as box:
        if box.open:
            st.markdown(prose("audit", section, **numbers))
            st.caption(f"About: {escape_markdown(source_of(result))}.")


def show_worst_pair(result: AuditResult) -> None:
    """Both data sets, the tree that tells them apart, and how likely it is; nothing where no difference was certified."""
    if result.worst_pair is None:
        return
    st.subheader("The worst pair", anchor=False)
    rows_table(charts.pair_rows(result.worst_pair), "Both data sets, a person a row; who is added stands last.")
    st.markdown("**What tells them apart**")
    tree, words = charts.output_tree(result), charts.output_in_words(result)
    if tree is None:
        st.caption(escape_markdown(words))
    else:
        show_tree(tree, title=words, key="audit-output", height=260)
    bars = charts.chance_chart(result)
    st.markdown("**How likely is this tree?**", help=escape_markdown(bars.summary))
    show_chart(bars, "audit-chances")


parts.page("Audit", "Which algorithms keep their ε?")
try:
    known = audit.all_findings()
except DpvizError as problem:
    error(problem, kept="Searching below still works.")
    known = audit.all_findings(with_stored=False)
stored = known.stored
at = float(st.session_state.get(EPSILON, 1.0))  # what the slider says, before it is drawn
st.header(charts.lead_sentence(audit.audit_lines(known, at)), anchor=False)
left, right = st.columns([1.3, 1], gap="medium")

with left:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = {"format_func": variant_title, "width": 240, **link_options(LEARNER)}
        learner = st.selectbox("Algorithm", learner_names(), first_learner(known), **names)
        of_run = {facts.epsilon for facts in stored.facts} if stored else set()
        steps = {"format_func": number_text, "width": 240, **link_options(EPSILON)}
        epsilon = st.select_slider(f"ε ({PERSONS})", sorted({*EPSILONS, *of_run}), 1.0, **steps)
    lines = st.container()
    with st.expander("Search again, or with other settings", icon=":material/search:"):
        search = ask_search(learner, epsilon)
with right:  # first: its tree is drawn while the browser still loads what draws charts
    show_evidence(search, known)
with lines:
    near = min(of_run or {epsilon}, key=lambda stored: abs(math.log(stored / epsilon)))
    st.caption(f"Stored at ε = {number_text(near)}.")
    every = audit.audit_lines(known, epsilon)
    chart = charts.audit_chart(every, epsilon=near, selected=search.subject)
    show_chart(chart, PICTURE, on_select=partial(choose_line, known))
with left:
    run = []
    if stored:
        versions = ", ".join(sorted({facts.version for facts in stored.facts})) or "?"
        days = " to ".join(dict.fromkeys((stored.dates[0], stored.dates[-1]))) if stored.dates else "?"
        minutes = number_text(round(stored.processor_seconds / 60, 1))
        of_which = f"dpviz {escape_markdown(versions)} on {escape_markdown(days)}"
        run.append(f"Stored run of {of_which}, {minutes} processor minutes. {prose('audit', 'run')}")
    if known.now:
        run.append(f"{len(known.now)} of the settings searched now, in this session.")
    st.caption(" ".join(run))
    places = known.places(search.subject, search.epsilon)
    if places:
        title = f"Everything that was searched ({len(places)})"
        with on_demand(title, icon=":material/travel_explore:", key="audit-everything") as opened:
            if opened.open:
                rows = [
                    {
                        "where": one.where,
                        "data sets": f"{one.n_sets:,}",
                        "neighbouring pairs": f"{one.n_pairs:,}",
                        f"found ε ({PERSONS})": charts.at_least_text(one.log_ratio),
                    }
                    for one in places
                ]
                st.dataframe(rows, hide_index=True, alt="Every universe and pair, with what was found.")
    if differs := differences(learner):
        with on_demand(f"Differences from the paper ({len(differs)})", icon=":material/difference:") as box:
            if box.open:
                st.caption(f"Source: {get_learner(learner).citation}.")
                st.markdown("\n".join(f"- {one}" for one in differs))
    if statements := statement_rows(learner):
        with on_demand(f"Theorems, lemmas and corollaries of the paper ({len(statements)})", icon=":material/gavel:") as box:
            if box.open:
                st.dataframe(statements, hide_index=True, alt="Every numbered statement, whether it holds, and why.")
frame.next_page_button("audit")
frame.as_python(partial(as_python.audit, search.learner, search.params, search.epsilon))
