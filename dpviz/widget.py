"""A tree with a control of epsilon in Jupyter and marimo, drawn by the dashboard's own scripts. Needs the extra `notebook`.

Simulated and public rows have a control: the tree at some epsilons is trained beforehand, with shared noise. Private rows have
none: they are fitted once, through a register, and the tree that was released is shown.
"""

from __future__ import annotations

import json
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.errors import DpvizError, ParameterError, RefusedRelease
from dpviz.evaluation.tree.paths import EPSILONS
from dpviz.figures.publish.report_parts import LETTERS, letters
from dpviz.figures.theme import FONT, LIGHT, role_variables
from dpviz.figures.tree.headline import PENDING, guarantee_said
from dpviz.figures.tree.path_steps import PathSteps
from dpviz.figures.tree.paths import DrawnStep, measure_of, packed_steps, score_text
from dpviz.figures.tree.style import tree_css
from dpviz.figures.tree.svg import tree_svg
from dpviz.installation import require_extra
from dpviz.io.results import load_result
from dpviz.learners import FitRequest
from dpviz.learners.catalogue import result_verdict
from dpviz.learners.request import rows_of
from dpviz.models.constant import as_tree
from dpviz.release.publish import Register
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema

if TYPE_CHECKING:
    from anywidget import AnyWidget
else:
    AnyWidget = Any

#: Every other step of the dashboard's path: a notebook waits for all of them.
STEPS = EPSILONS[::2]
_VIEWS = Path(__file__).with_name("app")
_OWN = Path(__file__)
#: What notebooks call their ground and ink, for the names that the dashboard's style sheets know.
_GROUND = "var(--jp-layout-color0,var(--vscode-editor-background,#fff))"
_INK = "var(--jp-content-font-color1,var(--vscode-editor-foreground,#0a1417))"


def tree_widget(
    rows: Any,
    *,
    role: str,
    schema: Schema | None = None,
    learner: str = "pf-tree",
    epsilon: float = 1.0,
    max_depth: int | None = None,
    seed: int = 0,
    reruns: int = 10,
    register: Register | None = None,
    data_set: str | None = None,
) -> AnyWidget:
    """A tree to look at in a notebook, with a control of epsilon unless the rows are private.

    Parameters
    ----------
    rows : DataFrame, Arrow table, path, RawTable or EncodedDataset
        Those that are not encoded yet need a `schema`.
    role : "simulated", "public" or "private"
        Whose rows they are.
    schema : Schema, optional
        What is public about them.
    learner : str
        One whose models are single trees.
    epsilon : float
        Privacy loss under add/remove one row: of the tree shown first, or of the one release.
    max_depth : int or None
        Caps the depth; None is the learner's own cap.
    seed : int
        Of the noise, for rows that are not private.
    reruns : int
        Trees with other noise at every epsilon, which say what comes back.
    register, data_set
        For private rows: where their one release is counted, and the data set they are assigned to.

    Returns
    -------
    anywidget.AnyWidget
        Its `epsilon` follows the control.

    Raises
    ------
    MissingExtra
        The extra `notebook` is not installed.
    RefusedRelease
        Private rows without a register; and what `Register.release` refuses.
    ParameterError, DpvizError
        For what was asked.
    """
    require_extra("notebook", "The widget", "anywidget")
    asked = FitRequest.of(learner, epsilon=epsilon, max_depth=max_depth, seed=seed)
    if _role(role) is DataRole.PRIVATE:
        if register is None or data_set is None:
            what = "Private rows are fitted once, through a register: a control of epsilon would spend again and again."
            raise RefusedRelease(what, remedy="Give register= and data_set=, or try synthetic rows first.")
        entry = register.release(data_set, learner, rows, schema=schema, epsilon=epsilon, max_depth=max_depth)
        return widget_of(load_result(entry.file))
    data = rows_of(rows, schema)
    if not isinstance(data, EncodedDataset):
        raise DpvizError("The widget needs the rows in memory.", remedy="Give fewer rows.")
    return _with_control(asked, data, _role(role), reruns)


def widget_of(result: FitResult) -> AnyWidget:
    """The tree of a result and what is guaranteed of it, without a control. Raises DpvizError where it is no single tree."""
    require_extra("notebook", "The widget", "anywidget")
    tree = as_tree(result.model)
    if tree is None:
        raise DpvizError("This model is no single tree.", remedy="Use result.export('report').")
    wide, narrow = (tree_svg(tree, narrow=narrow, title="Tree", widths=None, selected=None) for narrow in (False, True))
    views = {"wide": wide, "narrow": narrow, "selected": None, "key": "tree", "steps": "", "epsilon": None, "said": None}
    line = guarantee_said(result_verdict(result))
    shown = {"views": views, "slider": None, "line": line, "height": _height(wide)}
    return _made(shown, result.settings.epsilon, line["words"])


def _with_control(asked: FitRequest, data: EncodedDataset, role: DataRole, reruns: int) -> AnyWidget:
    train, test = data.split(seed=0)
    values = sorted({*STEPS, asked.settings.epsilon})
    found = PathSteps(train, test, role, fold=True).steps([(value, asked.at(epsilon=value), reruns) for value in values])
    steps: list[DrawnStep] = []
    for one in found:
        if isinstance(one, DpvizError):
            raise one
        steps.append(one)
    first = next(one for one in steps if one.value == asked.settings.epsilon)
    style = f"<style>{tree_css(numbers=bool(first.shown.values))}</style>"
    wide, narrow = (drawing.replace(">", f">{style}", 1) for drawing in (first.wide, first.narrow))
    measure, tested = measure_of(train), f"on {test.n_rows:,} held-out rows"
    said = {"lead": score_text(first.score, measure), "tested": tested, "besides": "", "strip": _EMPTY}
    packed = packed_steps(tuple(replace(one, note="") for one in steps), measure, tested)
    views = {"wide": wide, "narrow": narrow, "selected": None, "key": "tree", "steps": packed, "epsilon": first.value}
    slider = {"steps": values, "at": values.index(first.value), "epsilon": first.value}
    line = {**guarantee_said(first.verdict), "pending": PENDING}
    shown = {"views": views | {"said": said}, "slider": slider, "line": line, "height": max(_height(one.wide) for one in steps)}
    return _made(shown, first.value, line["words"])


def _height(drawing: str) -> float:
    return float(drawing.partition(' height="')[2].partition('"')[0])


#: Until the steps are unpacked.
_EMPTY = '<svg xmlns="http://www.w3.org/2000/svg"></svg>'


def _role(name: str) -> DataRole:
    try:
        return DataRole(name)
    except ValueError:
        raise ParameterError("tree_widget", "role", name, "simulated, public or private") from None


def _made(shown: dict[str, Any], epsilon: float, words: str) -> AnyWidget:
    import anywidget
    import traitlets

    class TreeWidget(anywidget.AnyWidget):  # type: ignore[misc]
        """The tree, its control and what is guaranteed."""

        _esm = _script()
        page = traitlets.Unicode().tag(sync=True)
        shown = traitlets.Dict().tag(sync=True)
        epsilon = traitlets.Float().tag(sync=True)

        def __repr__(self) -> str:
            return f"TreeWidget(epsilon={self.epsilon:g})"

    return TreeWidget(page=_page(words), shown=shown, epsilon=epsilon)


def _script() -> str:
    names = {"TREE": "tree_view", "SLIDER": "epsilon_slider", "LINE": "guarantee_line"}
    views = "".join(f"const {name} = (window) => {{\n{_view(file)}\nreturn shown;\n}};\n" for name, file in names.items())
    views += f"const LETTERS = {json.dumps(LETTERS)}, FACES = {json.dumps(letters())};\n"
    return views + _OWN.with_suffix(".js").read_text(encoding="utf-8")


def _view(file: str) -> str:
    """One of the dashboard's scripts as the body of a function, whose default export is called `shown`."""
    return _text(file, ".js").replace("export default function (", "function shown(", 1)


def _page(words: str) -> str:
    style = f":host{{--st-background-color:{_GROUND};--st-text-color:{_INK};--st-font:'{LETTERS}',{FONT};display:block}}"
    style += f":host,:host>*{{{role_variables(LIGHT)}}}"
    style += "".join(_text(file, ".css") for file in ("tree_view", "epsilon_slider", "guarantee_line"))
    line = _text("guarantee_line", ".html").replace("<span></span>", f"<span>{escape(words)}</span>")
    slider = _text("epsilon_slider", ".html").format(neighbours=NEIGHBOURS)
    parts = {"line": line, "slider": slider, "tree": _text("tree_view", ".html")}
    return f"<style>{style}</style>" + "".join(f'<div class="{name}">{part}</div>' for name, part in parts.items())


def _text(file: str, suffix: str) -> str:
    return (_VIEWS / file).with_suffix(suffix).read_text(encoding="utf-8")
