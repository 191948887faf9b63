"""The registry of exports: every form in which a result can be taken away, for Python, the command line and the dashboard.

A package that writes forms has them in the `FORMS` of one module, and `dpviz/__init__.py`, which stands above them, offers
these modules here. They are imported when a form is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from dpviz.errors import UnknownName
from dpviz.installation import offered_modules
from dpviz.results.verdict import Unit

#: Another name of a form.
_SYNONYMS = {"sql": "sqlite"}


@dataclass(frozen=True, kw_only=True)
class Form:
    """One form in which a result can be taken away."""

    #: name, title: as the command line and as people call it.
    name: str
    title: str
    #: suffix, media_type: of a file that holds it.
    suffix: str
    media_type: str
    about: str  #: One sentence: what it is for, and how it reads missing cells
    write: Callable[[Any], str]  #: From an `ExportInput`; raises UnsupportedError
    group: Literal["data", "code", "words", "picture"] = "code"
    language: str = "text"  #: For syntax colours in a preview
    order: int = 100  #: Where it stands among the others
    is_listed: bool = True  #: False for one that is made for a single place
    one_tree: bool = False  #: It shows a single tree only
    most_ends: int = 50_000  #: Larger models are refused
    any_model: bool = False


@cache
def _every_form() -> Mapping[str, Form]:
    forms = [form for module in offered_modules("forms") for form in module.FORMS]
    return MappingProxyType({form.name: form for form in sorted(forms, key=lambda form: (form.order, form.name))})


def forms() -> dict[str, Form]:
    """Name -> Form, in the order in which they are offered."""
    return {name: form for name, form in _every_form().items() if form.is_listed}


def form_called(name: str) -> Form:
    """The form called `name`; raises UnknownName."""
    form = _every_form().get(_SYNONYMS.get(name, name))
    if form is None:
        raise UnknownName("export format", name, forms())
    return form


def export(name: str, document: str, unit: Unit | None = None, key: str = "") -> str:
    """A `dpviz-tree/1` document in the form called `name`.

    `unit`: whom a register says a release protects; None where only the document knows. `key`: in SQL a column of the table that
    comes first, so that answers say whose they are.

    Raises UnknownName; UnsupportedError where the form cannot hold it; DocumentError.
    """
    form, writing = form_called(name), offered_modules("forms")[0]
    return str(writing.export(form, writing.ExportInput(document, unit, key)))


def export_names() -> tuple[str, ...]:
    """Names of the forms that `result.export` writes, the same as of `dpviz export --to`.

    Returns
    -------
    tuple of str
        Such as "json", "report", "python", "sqlite", "svg".
    """
    return tuple(forms())
