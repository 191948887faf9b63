"""Parts every page is made of: its head, the line that says which data are in use, the error box, badges, literal names.

Streamlit reads almost every text as Markdown, and column names come from strangers' files. A name goes through `as_code`,
a sentence that may hold one (an error's, for example) through `escape_markdown`.
"""

import re
from collections.abc import Callable
from typing import Any

import streamlit as st

from dpviz.app import frame
from dpviz.app.prose import prose
from dpviz.app.state import DataInUse
from dpviz.charts.tree.text import visible
from dpviz.charts.wording import count_text
from dpviz.errors import DpvizError
from dpviz.table.notes import Doubt, Interface, note_text
from dpviz.table.raw import RawTable
from dpviz.table.role import DataRole
from dpviz.table.schema import ClassTarget, Provenance

#: What each role means for the person who chooses it.
CONSEQUENCES = {
    DataRole.SIMULATED: "Nobody's rows. Everything may be shown.",
    DataRole.PUBLIC: "Anyone may see the rows.",
    DataRole.PRIVATE: "Real people's rows. Only column names are shown.",
}
_ROLE_LOOK = {
    DataRole.SIMULATED: ("green", ":material/science:"),
    DataRole.PUBLIC: ("blue", ":material/public:"),
    DataRole.PRIVATE: ("red", ":material/lock:"),
}
_MAX_NAME_LENGTH, _MAX_LIST_LENGTH = 60, 200
_MAX_NOTES = 10
#: Joins two characters without being seen, where Streamlit would make an icon, an arrow or a link of a text. Only there: it is
#: copied with the text.
_WORD_JOINER = "\u2060"
_REWRITTEN = re.compile(r":(?=material/|streamlit:|//)|(?<!\S)[<\->=~](?=[\-=>](?!\S))|(?i:www)(?=\.)|@(?=\S)")


def as_code(name: str) -> str:
    """Markdown that shows a name as it is, `visible` and shortened to 60 characters, whatever it contains."""
    flat = visible(name[: 10 * _MAX_NAME_LENGTH])
    short = flat if len(flat) <= _MAX_NAME_LENGTH else flat[: _MAX_NAME_LENGTH - 1] + "…"
    short = short.replace(":material/", f":{_WORD_JOINER}material/")  # the one rule that reaches into code
    fence = "`" * (1 + max(map(len, re.findall("`+", short)), default=0))
    pad = " " if short.startswith("`") or short.endswith("`") else ""
    return f"{fence}{pad}{short}{pad}{fence}"


def in_list(name: str) -> str:
    """A name in a grid or a list to choose from: one line of at most 200 letters, without signs that turn what is beside it."""
    line = visible(name[: 2 * _MAX_LIST_LENGTH])
    return line if len(line) <= _MAX_LIST_LENGTH else f"{line[: _MAX_LIST_LENGTH - 1]}…"


def plain_bound(words: str) -> None:
    """One click away from the guesses about the algorithm at hand: what its ε alone allows. Nothing for an empty text."""
    if words:
        st.caption("Counted from what this algorithm does, not from ε alone.", help=escape_markdown(words))


def escape_markdown(text: str) -> str:
    """Markdown that shows a sentence as it is, without signs that turn what stands beside it."""
    plain = _REWRITTEN.sub(lambda match: match[0] + _WORD_JOINER, visible(text) if text.strip() else "")
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~$:&=^@/\"'])", r"\\\1", plain)


def names_text(names: list[str], *, limit: int = 3) -> str:
    """A few names as Markdown, and how many more there are."""
    listed = ", ".join(map(as_code, names[:limit]))
    return f"{listed} and {len(names) - limit:,} more" if len(names) > limit else listed


def page(title: str, question: str = "") -> None:
    """Head of a page: its title and the one question it answers, on one line.

    Without a question the title is there for screen readers only: the list of pages shows it.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", key=frame.TITLE if question else frame.UNSEEN_TITLE):
        st.title(title, anchor=False, width="content")
        if question:
            st.caption(question, width="content")


def role_badge(role: DataRole) -> None:
    """Badge of a data role; its help says what follows from it."""
    color, icon = _ROLE_LOOK[role]
    st.badge(role.value, color=color, icon=icon, help=CONSEQUENCES[role])


def source_badge(source: Provenance) -> None:
    """Badge of a value: declared, or read from the data and therefore outside any epsilon."""
    if source is Provenance.READ:
        st.badge(source.value, color="orange", icon=":material/visibility:", help="No ε covers this value.")
    else:
        st.badge(source.value, color="gray", icon=":material/edit:", help="Somebody who knows it gave this value.")


def data_line(in_use: DataInUse) -> None:
    """One line on top of every page: whose rows, which table, what is predicted, how many values were read."""
    schema, most, rows = in_use.schema, in_use.data.rows_per_person, f"{in_use.data.n_rows:,} rows"
    if in_use.role is DataRole.PRIVATE:  # their exact number is private, too
        rows = "row count not declared" if schema.n_public is None else f"about {schema.n_public:,} rows"
    if most is not None:
        rows += " · one row of each person" if most == 1 else f" · up to {most:,} rows of a person"
    with _line():
        role_badge(in_use.role)
        st.markdown(f"**{escape_markdown(in_use.title)}** · {rows} · predicts {as_code(schema.target.name)}", width="content")
        read = len(in_use.schema.read_fields())
        if read:
            st.badge(f"{count_text(read, 'value')} read from data", color="orange", icon=":material/visibility:")


def no_data_line(in_use: DataInUse) -> None:
    """The same where a page reads no rows."""
    st.markdown("None of your rows are used here.")


def file_line(name: str, words: str) -> None:
    """The same where a file is looked at instead of the table in use."""
    with _line():
        st.badge("file", color="violet", icon=":material/description:")
        st.markdown(f"**{escape_markdown(name)}** · {escape_markdown(words)}", width="content")


def _line() -> Any:
    return st.container(horizontal=True, vertical_alignment="center", gap="small")


def needs_classes(in_use: DataInUse, subject: str) -> bool:
    """True when the target in use is a number: then it says that `subject` needs classes, and what to do."""
    if isinstance(in_use.schema.target, ClassTarget):
        return False
    name = as_code(in_use.schema.target.name)
    st.info(prose("data", "a target of classes", what=subject, name=name), icon=":material/category:")
    return True


def error(problem: DpvizError, *, kept: str = "") -> None:
    """What is wrong, where, and what to do; `kept` says what did not change."""
    place = f"**Where:** {escape_markdown(problem.where)}  \n" if problem.where else ""
    todo = f"**What to do:** {escape_markdown(problem.remedy)}" if problem.remedy else ""
    after = f"\n\n{kept}" if kept else ""
    st.error(f"**{escape_markdown(problem.what)}**  \n{place}{todo}{after}", icon=":material/error:")


def upload(label: str, name: str, take: Callable[[Any], None], *, kept: str = "", **options: Any) -> None:
    """A file to open: `take` gets it once, before the page is drawn; a DpvizError that it raises is shown with what was `kept`.

    Another widget, whose key begins with `name`, then takes its place, so that its bytes are freed.
    """
    key = f"{name}-{st.session_state.setdefault(f'{name}-count', 0)}"
    st.file_uploader(label, key=key, on_change=_take_upload, args=(name, key, take), **options)
    problem, taken = (st.session_state.get(f"{name}-{what}") for what in ("problem", "taken"))
    if problem is not None:
        error(problem, kept=kept)
    elif taken:
        st.caption(f":material/draft: {escape_markdown(taken)}")


def _take_upload(name: str, key: str, take: Callable[[Any], None]) -> None:
    """What happens when a file was chosen in the widget `key`; nothing when one was taken away."""
    file = st.session_state.get(key)
    if file is None:
        return
    st.session_state[f"{name}-count"] += 1
    st.session_state[f"{name}-problem"] = None
    try:
        take(file)
    except DpvizError as problem:
        st.session_state[f"{name}-problem"] = problem
    else:
        st.session_state[f"{name}-taken"] = file.name


def why_disabled(sentence: str) -> None:
    """The sentence beside a disabled button that names what is missing; nothing when the sentence is empty."""
    if sentence:
        st.caption(f":material/info: {sentence}")


def notes(table: RawTable, *, may_read: bool) -> None:
    """What the reader noticed in a file; for eyes that may not see the rows what it doubts in the file as a whole."""
    lines = [escape_markdown(note_text(note, Interface.SCREEN)) for note in table.notes if may_read or isinstance(note, Doubt)]
    for name, note in table.remarks if may_read else ():
        lines.append(f"{as_code(name)}: " * bool(name) + escape_markdown(note_text(note, Interface.SCREEN, with_example=True)))
    more = [f"and {len(lines) - _MAX_NOTES:,} more notes."] if len(lines) > _MAX_NOTES else []
    if lines:
        st.info("\n".join(f"- {line}" for line in lines[:_MAX_NOTES] + more), title="Noticed in the file")
