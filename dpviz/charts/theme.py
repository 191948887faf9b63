"""Every colour of the figures and the dashboard: one theme per ground for trees, and one set of marks for plotly's charts.

The class colours are those `.streamlit/config.toml` gives to the dashboard's own charts: hues after Okabe and Ito (2008, "Color
Universal Design"), lightness chosen so that each reaches 3:1 on the ground and all stay apart for colour-blind readers. Colour
is never the only cue: every class has a letter too. The steps go from low to high away from the ground's own lightness, so that
they keep their order without any hue. Marks in charts keep one colour on both grounds and reach 3:1 on each.
"""

from dataclasses import dataclass, fields

FONT = '"Source Sans", "Source Sans 3", Arial, "Liberation Sans", "Helvetica Neue", Helvetica, system-ui, sans-serif'


@dataclass(frozen=True, slots=True)
class Theme:
    """One colour per role, as `#rrggbb`.

    `classes` holds one per class and is used again from its start when it runs out; `steps` holds a scale from low to high.
    """

    ground: str
    raised: str
    ink: str
    muted: str
    line: str
    edge: str
    accent: str
    classes: tuple[str, ...]
    steps: tuple[str, ...]

    def class_colour(self, index: int) -> str:
        """The colour of the class at this position."""
        return self.classes[index % len(self.classes)]


#: What Streamlit gives axes and notes of charts on a light ground, as the browser writes it.
PALE = "rgb(128, 132, 149)"
LIGHT = Theme(
    ground="#ffffff",
    raised="#f1f4f4",
    ink="#0a1417",
    muted="#56646a",
    line="#c9d2d4",
    edge="#8b9aa0",
    accent="#0b6b6b",
    classes=("#0b56c1", "#b72d01", "#38978b", "#5b0c3b", "#b47c2f", "#04366c", "#a375dc", "#5c5c5c"),
    steps=("#b8741a", "#b8493c", "#8f2f6c", "#5a2a86", "#2a1a66"),
)
DARK = Theme(
    ground="#0f1518",
    raised="#151d21",
    ink="#e8eef0",
    muted="#a3b1b6",
    line="#3a474d",
    edge="#74848b",
    accent="#2a978e",
    classes=("#139dfa", "#f98c0d", "#abf2b4", "#c43d7d", "#8d6d01", "#6bd7fb", "#805ad1", "#9d9d9d"),
    steps=("#7b66d6", "#b766c4", "#e27a92", "#f2a25f", "#fbe28c"),
)

#: Roles that follow the dashboard's own colour when the figure is drawn inside it.
STREAMLIT = {
    "ground": "--st-background-color",
    "raised": "--st-secondary-background-color",
    "ink": "--st-text-color",
    "line": "--st-border-color",
    "accent": "--st-primary-color",
}
N_COLOURS = len(LIGHT.classes)
N_STEPS = len(LIGHT.steps)

#: What differs between two trees: note on a node, and style class -> its colour on a light and on a dark ground.
DIFFERENCES = {"changed": ("#8a5a00", "#e3bd5a"), "different": ("#9b1f8f", "#e48be0")}

WHITE, CLEAR = "#ffffff", "rgba(0,0,0,0)"
#: Lines side by side, of learners or of epsilons: no two of them alike to readers with any of three colour blindnesses.
SERIES = ("#358ac4", "#d27120", "#809677", "#5d5cd4", "#7f5e79", "#9500ff", "#cd0d3c")
BLUE, ORANGE = SERIES[:2]
GREEN, PINK = "#12937a", "#c0569a"
#: What is only there to compare with.
NEUTRAL = "#7d8a8f"
#: A number that cannot be relied on.
UNSOUND = "#c2410c"
#: Certified by a vote on disjoint rows.
VOTES = "#5f8f2f"
#: Parts of a budget that are neither nodes nor leaves.
MAUVE, TEAL = "#b07aa1", "#12a07e"
#: What was released, what was interrupted, what is asked for, and how much of that lies over a cap.
RELEASED, INTERRUPTED, ASKED, OVER_CAP = "#12808a", "#b3641c", "#6a63c9", "#c23b4e"
MARKS = (*SERIES, GREEN, PINK, NEUTRAL, UNSOUND, VOTES, MAUVE, TEAL, RELEASED, INTERRUPTED, ASKED, OVER_CAP)


def class_letter(index: int) -> str:
    """A letter for the class at this position: A to Z, then AA, AB, ... Never the same for two classes."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def step_of(value: float, low: float, high: float) -> int:
    """Which of the steps shows `value` on a scale from `low` to `high`; the middle one where all values are equal."""
    return min(N_STEPS - 1, int(N_STEPS * fraction_of_range(value, low, high)))


def fraction_of_range(value: float, low: float, high: float) -> float:
    """Where `value` lies between `low` (0) and `high` (1); one half where they are equal."""
    return min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0.5


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two `#rrggbb` colours, 1 to 21 (WCAG 2.2, "contrast ratio")."""
    low, high = sorted(map(_luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


def text_on(colour: str) -> str:
    """White or near-black, whichever reads better on `colour`."""
    return max(WHITE, "#0b1113", key=lambda ink: contrast(ink, colour))


def _channels(colour: str) -> list[int]:
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


def lighter(colour: str, share: float) -> str:
    """So much of a colour (`#rrggbb`) on white."""
    return "#" + "".join(f"{round(255 + share * (value - 255)):02x}" for value in _channels(colour))


def translucent(colour: str, opacity: float) -> str:
    """A `#rrggbb` colour as `rgba(...)`."""
    return f"rgba({','.join(map(str, _channels(colour)))},{opacity:g})"


def css_variables(theme: Theme) -> str:
    """The theme as CSS custom properties `--dp-*`; the dashboard's own colours come first where it has them."""
    lines = [role_variables(theme)]
    lines += [f"--dp-class-{n}:{colour};--dp-on-class-{n}:{text_on(colour)}" for n, colour in enumerate(theme.classes)]
    return ";".join(lines)


def role_variables(theme: Theme) -> str:
    """The part of `css_variables` that is not about classes."""
    roles = {field.name: getattr(theme, field.name) for field in fields(Theme) if field.name not in ("classes", "steps")}
    roles |= {role: f"var({name},{roles[role]})" for role, name in STREAMLIT.items()}
    return ";".join(f"--dp-{role}:{value}" for role, value in roles.items())


def step_variables(theme: Theme) -> str:
    """The steps as CSS custom properties `--dp-step-*`."""
    return ";".join(f"--dp-step-{index}:{colour}" for index, colour in enumerate(theme.steps))


def _luminance(colour: str) -> float:
    channels = (value / 255 for value in _channels(colour))
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
