"""What a lesson is made of: controls that a link can set, a question that is asked first, a picture and its twins."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dpviz.app.epsilon_slider import live_slider
from dpviz.app.prose import prose, sections
from dpviz.app.widgets import linked, show_chart, whole_number
from dpviz.charts.chart import Chart
from dpviz.results.wording import number_text

ANSWERED = "_lessons_answered"
_SKIPPED = "_lessons_skipped"
#: Pixels; four such boxes stand side by side, two on a telephone.
NUMBER_WIDTH = 125
#: Numbers for a lesson's texts, computed, by the names in braces.
Numbers = dict[str, str]


@dataclass(frozen=True)
class LessonView:
    """One lesson on screen: the name of its file and texts.

    `opened`: the question has been answered or skipped, so controls may be moved. `shown` has the value of every control by
    its key, for the way on.
    """

    lesson: str
    opened: bool = True
    shown: dict[str, str] = field(default_factory=dict)

    def say(self, section: str, **values: str) -> str:
        """A section of the lesson's text."""
        return prose(f"learn/{self.lesson}", section, **values)

    def key(self, name: str) -> str:
        """Of the widget `name`, and of its value in the link."""
        return f"{self.lesson}.{name}"

    def slider(self, name: str, label: str, options: Sequence[float], default: float) -> float:
        """One of `options`, by a slider that the picture follows while it is dragged. Its value stays in the link."""
        key, named = self.key(name), {number_text(option): option for option in options}
        if st.session_state.get(key) not in options:
            st.session_state[key] = next((named[text] for text in st.query_params.get_all(key) if text in named), default)
        value: float = st.session_state[key]
        live_slider(label, options, key=key, disabled=not self.opened)
        said = self.shown[key] = number_text(value)
        if value == default:
            st.query_params.pop(key, None)
        elif st.query_params.get(key) != said:
            st.query_params[key] = said
        return value

    def number(self, name: str, label: str, low: int, high: int, default: int) -> int:
        """A whole number from `low` to `high`."""
        key = self.key(name)
        value = whole_number(label, low, high, default, key=key, width=NUMBER_WIDTH, disabled=not self.opened)
        self.shown[key] = str(value)
        return value

    def several(self, name: str, label: str, options: Sequence[str], default: Sequence[str], *, in_link: bool) -> list[str]:
        """Any of `options`, by buttons; what is made up by the person stays out of the link."""
        more = {**linked(self.key(name)), "disabled": not self.opened} | ({} if in_link else {"bind": None})
        chosen = list(st.pills(label, options, selection_mode="multi", default=list(default), **more))
        return sorted(chosen, key=list(options).index)

    def button(self, label: str, on_click: Callable[..., None], *args: Any, reason: str = "", icon: str) -> None:
        """A button that moves a control; out of use before the guess, or for a `reason`, which is then said."""
        st.button(label, on_click=on_click, args=args, disabled=bool(reason) or not self.opened, icon=icon, help=reason or None)

    def picture(self, chart: Chart) -> None:
        """A chart with its table; its sentence, also its alt text, stands below it once the guess is made."""
        show_chart(chart, f"{self.lesson}-picture")
        if self.opened:
            st.markdown(chart.summary)

    def ask(self, numbers: Numbers, asked: Mapping[str, float]) -> bool:
        """Ask, and answer a guess: the picture then moves to what was `asked`. True when the controls may be moved."""
        lines = (line.partition(": ") for line in sections(f"learn/{self.lesson}")["options"].splitlines())
        options = {name: text.format_map(numbers) for name, _, text in lines}
        st.markdown(f"**Guess first.** {self.say('question', **numbers)}")
        more = {"format_func": options.__getitem__, "persist_state": "session", "on_change": self._move, "args": (asked,)}
        guess = st.radio("Your guess", list(options), None, label_visibility="collapsed", key=self.key("guess"), **more)
        if guess is None:
            skipped = self.lesson in st.session_state.get(_SKIPPED, ())
            if not skipped:
                st.button("Skip", key=self.key("skip"), type="tertiary", on_click=_skip, args=(self.lesson,))
            return skipped
        st.session_state.setdefault(ANSWERED, set()).add(self.lesson)
        if guess == "right":
            st.success(f"Yes. {self.say('answer', **numbers)}", icon=":material/check_circle:")
        else:
            st.info(f"Not quite. {self.say('answer', **numbers)}", icon=":material/lightbulb:")
        return True

    def _move(self, asked: Mapping[str, float]) -> None:
        """Put what was asked into the controls."""
        for name, value in asked.items():
            st.session_state[self.key(name)] = value


def _skip(lesson: str) -> None:
    st.session_state.setdefault(_SKIPPED, set()).add(lesson)
