"""Every error a user can cause, as a type.

Each says what is wrong, where, and what to do about it, both as a sentence and as attributes, so that a page, the command
line and a test read the same thing. Imports nothing of dpviz.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copyreg import __newobj__  # type: ignore[attr-defined]
from difflib import get_close_matches
from typing import Any

#: Known names that an error lists.
_MAX_NAMES = 50
#: Characters of what, of where and of remedy.
_MAX_LETTERS = 2_000
#: Letters of a name or a path that an error quotes, and what separates cells rather than names of folders.
_MAX_NAME_LETTERS, _BETWEEN_CELLS = 500, frozenset(',;\t|{}<>"')
#: Entries of a list, and bits of a whole number, that an error quotes.
_MAX_ENTRIES, _MAX_BITS = 20, 200


class DpvizError(Exception):
    """Something the user gave cannot be used.

    Parameters
    ----------
    what : str
        What is wrong, one sentence.
    where : str
        File, row, column, field or parameter; empty when there is no such place.
    remedy : str
        What to do, one sentence.
    code : str
        Which of several kinds it is, for a program; empty where there is one.
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "", code: str = "") -> None:
        self.what, self.where, self.remedy = what, where, remedy = _shorten(what), _shorten(where), _shorten(remedy)
        self.code = code
        place = f"{where}: " if where else ""
        super().__init__(f"{place}{what} {remedy}".strip())

    def __reduce__(self) -> tuple[Any, ...]:
        """So that an error made in a worker process arrives whole, whatever its own `__init__` takes."""
        return __newobj__, (type(self), *self.args), self.__dict__


def _shorten(text: str) -> str:
    """Names come from files and may be megabytes long; a message is read by people."""
    return text if len(text) <= _MAX_LETTERS else f"{text[: _MAX_LETTERS // 2]} ... {text[-_MAX_LETTERS // 2 :]}"


def value_text(value: Any) -> str:
    """A parameter in words. Whatever could hold rows, and a number of thousands of digits, is named by its type alone."""
    if isinstance(value, str) and _may_hold_rows(value):
        return "a text of several lines, or a long one"
    lists = list, tuple
    if isinstance(value, lists) and len(value) <= _MAX_ENTRIES and not any(isinstance(one, (*lists, str)) for one in value):
        items = ", ".join(map(value_text, value))
        return f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"
    is_short = value is None or isinstance(value, (float, str)) or (isinstance(value, int) and value.bit_length() < _MAX_BITS)
    kind = type(value).__name__
    return repr(value) if is_short else f"{'an' if kind[:1] in 'aeiouAEIOU' else 'a'} {kind}"


def _may_hold_rows(text: str) -> bool:
    return len(text) > _MAX_NAME_LETTERS or len(text.splitlines()) > 1


def file_name_text(path: Any) -> str:
    """The name of a file in quotes, as messages have it. A text of rows in place of a path is not quoted."""
    return repr(os.path.basename(path)) if _is_path(str(path)) else "A text, not a path,"


def path_text(path: Any) -> str:
    """The whole path as the place of an error, with the same exception."""
    return str(path) if _is_path(str(path)) else "a text, not a path"


def _is_path(text: str) -> bool:
    """Whether something is there, or the name of a new file holds nothing that separates cells."""
    if os.path.lexists(text):
        return True
    folder, name = os.path.split(text)
    return not _may_hold_rows(text) and not _BETWEEN_CELLS & set(name if folder and os.path.isdir(folder) else text)


#: The code where rows that a cluster kept are lost, which a fit answers by beginning anew.
LOST_ROWS = "lost-rows"


class TableError(DpvizError, ValueError, TypeError):
    """A file, a frame, an array or a table in an engine cannot be read or used. It quotes no cell.

    `code` names the kind; `row` (1 = header) is None when unknown. It is a ValueError and a TypeError, too, as scikit-learn asks.
    """

    def __init__(self, code: str, what: str, *, row: int | None = None, remedy: str) -> None:
        self.row = row
        super().__init__(what, where="" if row is None else f"row {row}", remedy=remedy, code=code)


class SchemaError(DpvizError):
    """A schema contradicts itself, the table, or what the learner needs. `field` names the feature or field."""

    def __init__(self, what: str, *, field: str = "", remedy: str) -> None:
        self.field = field
        super().__init__(what, where=field, remedy=remedy)


class ParameterError(DpvizError, ValueError):
    """A parameter is outside what it may be."""

    def __init__(self, owner: str, parameter: str, value: Any, allowed: str) -> None:
        self.parameter = parameter
        self.allowed = allowed
        super().__init__(f"The {parameter!r} parameter of {owner} must be {allowed}. Got {value_text(value)}.")


class UnknownName(DpvizError):
    """A name (learner, parameter, feature, sample) that does not exist. `known` lists those that do."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(known)
        close = get_close_matches(str(name), self.known, n=1)
        listed = ", ".join(self.known[:_MAX_NAMES]) + (", ..." if len(self.known) > _MAX_NAMES else "")
        hint = f"Did you mean {close[0]!r}?" if close else f"Known: {listed or 'none'}."
        called = f"{name!r:.80}" if isinstance(name, str) and not _may_hold_rows(name) else value_text(name)
        super().__init__(f"There is no {kind} called {called}.", remedy=hint)


class UnsupportedError(DpvizError):
    """A learner or a model cannot do this: predict such a target, count rows elsewhere, give probabilities or an exact
    distribution, or be written in some form. `fitting` lists learners that fit.
    """

    def __init__(self, what: str, *, remedy: str, fitting: Iterable[str] = ()) -> None:
        self.fitting = tuple(fitting)
        super().__init__(what, remedy=remedy)


def no_probabilities(kind: str) -> UnsupportedError:
    """The error of a `kind` of model that says which class, but not how likely each class is."""
    return UnsupportedError(
        f"This model ({kind}) predicts labels or numbers and holds no probabilities of classes.",
        remedy="Use predict, or train a learner whose models hold probabilities, such as 'pf-tree' on classes.",
    )


class DocumentError(DpvizError):
    """A JSON document is not one dpviz wrote, or is of an unknown version. `where` is the path inside it."""


class RegisterError(DpvizError):
    """The release register cannot be used.

    `code` is the kind: locked, foreign, damaged, unreadable, full, open, lessons, newer, key, behind or changed.
    """


class RefusedRelease(DpvizError):
    """Something may not be released, or not yet. Nothing was spent unless the text says so."""


def no_exact_sampler(mechanism: str) -> RefusedRelease:
    """The error of a mechanism without one: nothing it made may leave as a release."""
    return RefusedRelease(
        f"{mechanism} has no exact sampler, so its output cannot be released.",
        remedy="Explore it with a seed (simulation), or release a learner whose mechanisms are exact, such as 'pf-tree'.",
    )


def not_row_wise(reason: str) -> RefusedRelease:
    """The error of rows on the way to which one may have changed others, so that no epsilon holds for what is released."""
    return RefusedRelease(
        f"Nothing can be released from these rows: {reason}.",
        remedy="Release from all rows of a table read row by row, or from `data.parts(share)`; simulate with a seed.",
    )


class UnansweredRows(RefusedRelease):
    """Something about these rows has to be said first. A command or a page says by `code` how it is said there.

    `code`: unassigned (to no data set yet), recognised (as rows of `data_sets`, which are other ones than was asked for), few (of
    them are used unchanged, or far from as many as declared) or source (of a schema that was corrected after a look at them).
    """

    def __init__(self, code: str, what: str, *, where: str, remedy: str, data_sets: Iterable[str] = ()) -> None:
        self.data_sets = tuple(data_sets)
        super().__init__(what, where=where, remedy=remedy, code=code)


class Cancelled(DpvizError):
    """A long computation was stopped by its caller."""

    def __init__(self) -> None:
        super().__init__("Stopped on request.")


#: By code: why work failed, and what to do.
_FAILURES = {
    "workers": (
        "A worker process ended before its work was done; it was killed, or memory ran out.",
        "Start the work again. If that happens again, ask for less at once or use fewer workers.",
    ),
    "memory": ("There is not enough memory for this.", "Use fewer rows or columns, or a larger machine."),
    "internal": (
        "This failed because of an error in dpviz itself.",
        "Try again, or with other settings. The server's log says where it failed; please report it.",
    ),
}


class FailedWork(DpvizError):
    """Work ended before it was done. `code`: workers (a process of it ended), memory, or internal (an error in dpviz itself).

    The words of an internal error are in no log: they could quote a cell.
    """

    def __init__(self, code: str) -> None:
        what, remedy = _FAILURES[code]
        super().__init__(what, remedy=remedy, code=code)


class DpvizWarning(UserWarning):
    """Something that should be known before a result is used. It quotes no cell and says no exact count."""


class ReadingWarning(DpvizWarning):
    """A table may not mean what it was read as. `doubt` says so without the remedy, which follows in the text."""

    def __init__(self, text: str, doubt: str) -> None:
        self.doubt = doubt
        super().__init__(text)


class PublicValuesWarning(DpvizWarning):
    """Something that must be public was read from the rows; no epsilon covers it."""


class RepeatedSpendWarning(DpvizWarning):
    """Doing this to private rows spends epsilon once more."""


class SettingWarning(DpvizWarning):
    """A setting was not taken as it was given: it changes nothing, or a public rule has put another value in its place."""


class FewRowsWarning(DpvizWarning):
    """No row, or only a part of the rows, can be used for a fit or has an answer. That it is said is as private as the rows."""


_FORMER_NAMES = (
    dict.fromkeys(("CellTypeError", "EngineError", "RowsError"), "TableError")
    | dict.fromkeys(("CannotCount", "NoProbabilities", "NotEnumerable", "NotExported"), "UnsupportedError")
    | dict.fromkeys(("UnfitLearner", "UnsupportedModel", "WrongTask"), "UnsupportedError")
    | dict.fromkeys(("NotReleasable", "NotRowWise", "OverCap"), "RefusedRelease")
    | dict.fromkeys(("WorkersEnded", "OutOfMemory", "InternalError", "Unforeseen"), "FailedWork")
    | dict.fromkeys(("ReplacedWarning", "WithoutEffect"), "SettingWarning")
    | {"CodedError": "DpvizError", "MissingExtra": "DpvizError"}
    | {"SpendsAgain": "RepeatedSpendWarning", "UnansweredWarning": "FewRowsWarning"}
)


def __getattr__(name: str) -> type:
    """A class by the name that it had."""
    if name not in _FORMER_NAMES:
        raise AttributeError(f"There is no {name!r} in {__name__!r}.")
    what = f"{name} is called {_FORMER_NAMES[name]} now; the old name works for this version only."
    warnings.warn(what, DeprecationWarning, stacklevel=2)
    found: type = globals()[_FORMER_NAMES[name]]
    return found


def deprecated_name(old: str, new: str) -> property:
    """The attribute `new` under the name it had: reading it warns (DeprecationWarning) and says what it is called now."""

    def read(owner: object) -> object:
        what = f"{type(owner).__name__}.{old} is called {new} now; the old name works for this version only."
        warnings.warn(what, DeprecationWarning, stacklevel=2)
        return getattr(owner, new)

    return property(read)


@contextmanager
def replace_errors(in_words: Callable[[Exception], DpvizError]) -> Iterator[None]:
    """Run a block that reads private rows with somebody else's code; whatever that raises becomes `in_words` of it.

    Libraries promise neither types nor words for what a cell does to them, and many quote it. So nothing of theirs goes on: the
    error has no cause and no context. An error of dpviz goes on as it is, without those.
    """
    try:
        yield
    except DpvizError as ours:
        ours.__cause__ = ours.__context__ = None
        raise
    except Exception as theirs:
        error = in_words(theirs)
        try:
            raise error from None
        finally:
            error.__context__ = None  # which `from None` only hides
