"""What a lesson is made of: controls that a link can set, lock or hide, a question that is asked first, a picture and its twins.

`?lock=epsilon,seed` shows controls that cannot be moved, `?hide=answer,epsilon` leaves parts out; a hidden control keeps what
the link says. Names are those of a lesson's own controls, and question, answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dpviz.app.prose import prose, sections
from dpviz.app.widgets import in_address, linked, show_chart, whole_number
from dpviz.figures.charts import Chart
from dpviz.results.wording import number_text

QUESTION, ANSWER = "question", "answer"
ANSWERED = "_lessons_answered"
_SKIPPED = "_lessons_skipped"
#: Pixels; four such boxes stand side by side, two on a telephone.
NUMBER_WIDTH = 125
#: Numbers for a lesson's texts, computed, by the names in braces.
Numbers = dict[str, str]


@dataclass(frozen=True)
class Desk:
    """One lesson on screen: the name of its file and texts, and what the link locks and hides.

    `opened`: the question has been answered or skipped, so controls may be moved. `shown` has the value of every control by
    its key, for the teacher's link.
    """

    lesson: str
    locked: frozenset[str]
    hidden: frozenset[str]
    opened: bool = True
    shown: dict[str, list[str]] = field(default_factory=dict)

    def say(self, section: str, **values: str) -> str:
        """A section of the lesson's text."""
        return prose(f"learn/{self.lesson}", section, **values)

    def key(self, name: str) -> str:
        """Of the widget `name`, and of its value in the link."""
        return f"{self.lesson}.{name}"

    def may_move(self, name: str) -> bool:
        """True for a control that is neither locked nor waiting for a guess."""
        return self.opened and name not in self.locked

    def slider(self, name: str, label: str, options: Sequence[float], default: float) -> float:
        """One of `options`, by a slider."""
        named = {number_text(option): option for option in options}
        if name in self.hidden:
            return self._note(name, next((named[text] for text in self._in_link(name) if text in named), default))
        chosen = st.select_slider(label, options, value=default, format_func=number_text, **self._options(name))
        return self._note(name, chosen, number_text)

    def number(self, name: str, label: str, low: int, high: int, default: int) -> int:
        """A whole number from `low` to `high`."""
        key = self.key(name)
        if name in self.hidden:
            return self._note(name, in_address(key, low, high, default))
        return self._note(
            name, whole_number(label, low, high, default, key=key, width=NUMBER_WIDTH, disabled=not self.may_move(name))
        )

    def several(self, name: str, label: str, options: Sequence[str], default: Sequence[str], *, in_link: bool) -> list[str]:
        """Any of `options`, by buttons; what is made up by the person stays out of the link."""
        if name in self.hidden:
            given = [text for text in self._in_link(name) if text in options] if in_link else []
            return given or list(default)
        more = self._options(name) if in_link else self._options(name) | {"bind": None}
        chosen = list(st.pills(label, options, selection_mode="multi", default=list(default), **more))
        if in_link:
            self.shown[self.key(name)] = chosen or [""]  # an empty choice is said too
        return sorted(chosen, key=list(options).index)

    def button(self, label: str, control: str, on_click: Callable[..., None], *args: Any, reason: str = "", icon: str) -> None:
        """A button that moves a control; out of use when that is locked, or for a `reason`, which is then said."""
        if control in self.hidden:
            return
        stopped = bool(reason) or not self.may_move(control)
        st.button(label, on_click=on_click, args=args, disabled=stopped, icon=icon, help=reason or None)

    def picture(self, chart: Chart) -> None:
        """A chart with its table; its sentence, also its alt text, stands below it once the guess is made."""
        show_chart(chart, f"{self.lesson}-picture")
        if self.opened:
            st.markdown(chart.summary)

    def _options(self, name: str) -> dict[str, Any]:
        return {**linked(self.key(name)), "disabled": not self.may_move(name)}

    def _in_link(self, name: str) -> list[str]:
        return st.query_params.get_all(self.key(name))

    def _note(self, name: str, value: Any, text: Callable[[Any], str] = str) -> Any:
        self.shown[self.key(name)] = [text(value)]
        return value


def ask(desk: Desk, numbers: Numbers, asked: Mapping[str, float]) -> bool:
    """Ask, and answer once a guess is made: the picture then moves to what was `asked`. True when the controls may be moved."""
    if QUESTION in desk.hidden:
        return True
    options = options_of(desk.lesson, numbers)
    st.markdown(f"**Guess first.** {desk.say('question', **numbers)}")
    more = {"format_func": options.__getitem__, "persist_state": "session", "on_change": _move, "args": (desk, asked)}
    guess = st.radio("Your guess", list(options), None, label_visibility="collapsed", key=desk.key("guess"), **more)
    if guess is not None:
        st.session_state.setdefault(ANSWERED, set()).add(desk.lesson)
        _answer(desk, guess, numbers)
        return True
    skipped = desk.lesson in st.session_state.get(_SKIPPED, ())
    if not skipped:
        st.button("Skip", key=desk.key("skip"), type="tertiary", on_click=_skip, args=(desk.lesson,))
    return skipped


def _move(desk: Desk, asked: Mapping[str, float]) -> None:
    """Put what was asked into the controls; not where the link locks them, or keeps the answer."""
    for name, value in asked.items():
        if not desk.hidden & {name, ANSWER} and name not in desk.locked:
            st.session_state[desk.key(name)] = value


def options_of(lesson: str, numbers: Numbers) -> dict[str, str]:
    """Name of each option -> its words, in the order of the file."""
    lines = (line.partition(": ") for line in sections(f"learn/{lesson}")["options"].splitlines())
    return {name: text.format_map(numbers) for name, _, text in lines}


def _answer(desk: Desk, guess: str, numbers: Numbers) -> None:
    if ANSWER in desk.hidden:
        st.info(prose("learn/page", "noted"), icon=":material/edit_note:")
    elif guess == "right":
        st.success(f"Yes. {desk.say('answer', **numbers)}", icon=":material/check_circle:")
    else:
        st.info(f"Not quite. {desk.say('answer', **numbers)}", icon=":material/lightbulb:")


def _skip(lesson: str) -> None:
    st.session_state.setdefault(_SKIPPED, set()).add(lesson)
