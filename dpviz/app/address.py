"""What an address asked for and does not get, in one line on every page. Streamlit drops it without a word."""

from collections.abc import Iterator, Mapping

import streamlit as st

from dpviz.app.controls import DEPTHS, MOST_SEED, first_depth
from dpviz.app.epsilon_slider import FIRST, LEAST, MOST, epsilon_of
from dpviz.app.parts import literal
from dpviz.app.state import Loaded
from dpviz.app.widgets import learner_title
from dpviz.figures.wording import counted
from dpviz.results.wording import number_text
from dpviz.table.schema import NumericTarget

_KEY = "_ignored_in_address"
#: Names that an address may have: all names with a dot or one of these beginnings, and the rest.
_BEGINNINGS = ("robust-", "item-of-", "draws", "measure", "learner", "embed", "audit", "good-")
# fmt: off
_NAMES = frozenset((
    "attack", "beside", "by-rule", "candidates", "data", "deepest", "depth", "draw", "epsilon",
    "epsilons", "fresh", "groups", "hide", "leaf-epsilon", "lesson", "lock", "marginals", "one-epsilon", "paper",
    "plan-rows", "planted", "protect", "smooth-or-global", "splits", "steps", "strength", "sure",
    "tree", "view", "wanted", "wish-accuracy", "wish-labels", "world", "x-axis",
))
# fmt: on
_LONGEST, _MOST = 20, 3


def say_ignored(loaded: Loaded) -> None:
    """One line about the address a session began with; nothing when all of it is used."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = tuple(ignored(st.query_params.to_dict(), loaded))
    found = st.session_state[_KEY]
    if found:
        more = f"; and {counted(len(found) - _MOST, 'other')}" if len(found) > _MOST else ""
        st.warning(f"Ignored in the address: {'; '.join(found[:_MOST])}{more}.", icon=":material/link_off:")


def ignored(asked: Mapping[str, str], loaded: Loaded) -> Iterator[str]:
    """Of every setting that is not one, and every name that is none, what it is and what is used instead, as Markdown.

    `data` is missing: a sample that is none is a problem with its own box.
    """
    titles = [learner_title(name) for name in loaded.learners]
    of_numbers = isinstance(loaded.schema.target, NumericTarget)
    kinds = {
        "epsilon": (lambda text: epsilon_of(text) is not None, number_text(FIRST), f"{LEAST:g} to {MOST:g}"),
        "depth": (DEPTHS.__contains__, first_depth(), f"auto or 1 to {DEPTHS[-1]}"),
        "learner-of-numbers" if of_numbers else "learner": (titles.__contains__, titles[0], "an algorithm for this table"),
        "draw": (lambda text: text.isdecimal() and 1 <= int(text[:9]) <= MOST_SEED, "1", f"1 to {MOST_SEED:,}"),
    }
    for name, text in asked.items():
        if name in kinds:
            is_one, instead, allowed = kinds[name]
            if not is_one(text):
                yield f"{name} = {_short(text)} is not {allowed}, {instead} is used"
        elif name not in _NAMES and "." not in name and not name.startswith(_BEGINNINGS):
            yield f"{_short(name)} is no setting"


def _short(text: str) -> str:
    return literal(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
