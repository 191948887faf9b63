"""The few lines of Python that make a page's numbers, in public names only: the one writer of them.

Names of files and columns come from strangers, so they are written as Python writes a text: no sign in them ends it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpviz.learners import FitRequest

_IMPORT = "import dpviz\n"
_WIDTH = 100
_GUARANTEED = "print(result.spent, result.risk.for_rows(result.unit.rows).guesses())  # a person: loss, share of right guesses\n"


@dataclass(frozen=True, slots=True)
class RowsRead:
    """How a script reads the rows of a page: a sample, or a file with the schema that the Data page saves."""

    sample: str | None = None
    file: str = ""
    person: str | None = None
    rows_per_person: int | None = None
    is_private: bool = False  #: Nothing is then computed from rows: a look at them is not for a script
    holds_out: bool = True  #: Whether there are enough rows to hold some out

    @property
    def schema(self) -> str:
        """Lines that read the schema alone."""
        if self.sample is not None:
            return f"_, schema = dpviz.load_sample({self.sample!r})\n"
        return f"schema = dpviz.load_schema({file_stem(self.file) + '.schema.json'!r})  # saved on the Data page\n"

    @property
    def encoded(self) -> str:
        """Lines that read the rows, too."""
        bound = {} if self.person is None else {"person": self.person, "rows_per_person": self.rows_per_person}
        table = self.schema.replace("_,", "table,") if self.sample is not None else f"{self._table}{self.schema}"
        return f"{table}data = {_call('dpviz.encode', ['table', 'schema'], bound)}\n"

    @property
    def _table(self) -> str:
        saved = "" if "." in self.file else "  # its rows, saved as a file"
        return f"table = dpviz.read_table({self.file!r}){saved}\n"

    @property
    def parts(self) -> str:
        """Lines that hold some rows out, as the pages do."""
        return f"{self.encoded}train, test = {'data.split(seed=0)' if self.holds_out else '(data, data)'}\n"


def file_stem(title: str) -> str:
    """How files about a table are called: its title in small letters and digits, without endings."""
    stem = re.sub(r"(\.[a-z]{2,7}){0,2}$", "", title.lower())
    return re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:60] or "table"


def _call(name: str, positional: Sequence[str], keywords: Mapping[str, Any]) -> str:
    """A call on one line, or, where that is long, on a line per argument."""
    words = [*positional, *(f"{key}={value!r}" for key, value in keywords.items())]
    line = f"{name}({', '.join(words)})"
    return line if len(line) <= _WIDTH else f"{name}(\n" + "".join(f"    {word},\n" for word in words) + ")"


def _request(request: FitRequest) -> str:
    return _call("dpviz.FitRequest.of", [repr(request.learner)], request.arguments)


def data(rows: RowsRead) -> str:
    """The rows in use, and what encoding did to them."""
    if rows.is_private:
        return f"{_IMPORT}\n{rows.schema}print(schema.n_public, schema.n_features)  # of private rows no more is shown\n"
    return f"{_IMPORT}\n{rows.encoded}print(data.n_rows, data.n_features, data.report)\n"


def tree(rows: RowsRead, request: FitRequest, draw: int) -> str:
    """One tree: its guarantee, what it lets others guess, and how it does on rows held out."""
    if rows.is_private:
        return without_rows(rows, request)
    score = "print(result.score(test))  # accuracy, or R² of a number\nprint(result.ledger.spent())  # ε by part and level\n"
    if request.settings.groups:
        score += "print(result.test_report.by_group)  # error and found share\n"
    return f"{_fit_line(rows, request, draw)}{score}"


def opened(file: str) -> str:
    """A model from a file: its ledger is added up again."""
    return f"{_IMPORT}\nresult = dpviz.load_result({file!r})\n{_GUARANTEED}"


def _fit_line(rows: RowsRead, request: FitRequest, draw: int) -> str:
    fit = _call("dpviz.fit", [repr(request.learner), "train"], request.arguments | {"seed": draw})
    return f"{_IMPORT}\n{rows.parts}result = {fit}\n{_GUARANTEED}"


def without_rows(rows: RowsRead, request: FitRequest) -> str:
    """What a release would guarantee and let others guess: follows from the schema, no row is read."""
    lines = "print(request.verdict(schema).headline)\nrisk = request.risk(schema).for_rows(schema.rows_per_person)\n"
    lines += "print(risk.guesses())  # right guesses about one person"
    return f"{_IMPORT}\n{rows.schema}request = {_request(request)}\n{lines}\n"


def compare(rows: RowsRead, learners: Sequence[str], along: str, metric: str, grid: Mapping[str, Any]) -> str:
    """A sweep, and the medians of one measure along its axis. `grid`: other arguments of `dpviz.sweep`."""
    if rows.is_private:
        return _only_here(rows)
    swept = _call("dpviz.sweep", [repr(list(learners)), "data"], grid)
    medians = f'frame.groupby(["learner", "{along}"])["{metric}"].median()'
    return f"{_IMPORT}\n{rows.encoded}frame = {swept}\nprint({medians})\n"


def robustness(rows: RowsRead, requests: Sequence[FitRequest], draws: int, splits: int) -> str:
    """The guarantee curves of the algorithms, on as many splits of the rows."""
    if rows.is_private:
        return _only_here(rows)
    lines = [_IMPORT, rows.encoded.rstrip()]
    lines.append(f"for number in range({splits}):\n    train, test = data.split(seed=number)")
    for request in requests:
        keywords = request.arguments | {"draws": draws, "beta": 0.05 / splits}
        call = _call("dpviz.poisoning_curve", [repr(request.learner), "train", "test", "seed=number"], keywords)
        lines.append(f"    curve = {call.replace(chr(10), chr(10) + '    ')}\n    print(curve)")
    return "\n".join(lines) + "\n"


def _only_here(rows: RowsRead) -> str:
    return f"{_IMPORT}\n{rows.schema}# Curves of private rows are drawn on this page alone, where every look is counted.\n"


def plan(rows: RowsRead, request: FitRequest, n_rows: int | None) -> str:
    """What epsilons let others guess, for so many rows; what they do for accuracy is simulated on the page."""
    declared = "" if n_rows is None else f"schema = schema.declare(n_public={n_rows})\n"
    loop = "for epsilon in (0.01, 0.1, 1.0, 10.0):\n    print(epsilon, request.at(epsilon=epsilon).risk(schema).guesses())"
    return f"{_IMPORT}\n{rows.schema}{declared}request = {_request(request)}\n{loop}\n"


def audit(learner: str, params: Mapping[str, Any], epsilon: float) -> str:
    """The search for a pair of tables that tells the most."""
    keywords = {"epsilon": epsilon, **params}
    return f"{_IMPORT}\nresult = {_call('dpviz.verify', [repr(learner)], keywords)}\nprint(result.log_ratio, result.verdict)\n"


def publish(rows: RowsRead, request: FitRequest, data_set: str | None) -> str:
    """What a release promises, what is left of the cap, and the line that releases."""
    name = data_set or "the name of your data set"
    book = f"register = dpviz.open_register()\nprint(register.balance({name!r}).left)\n"
    spends = f"# register.release({name!r}, request, data)  # this line spends permanently: data = dpviz.encode(...)"
    return f"{without_rows(rows, request)}\n{book if data_set else ''}{spends}\n"


def register() -> str:
    """What was spent of which data set, and what is left."""
    return (
        f"{_IMPORT}\nregister = dpviz.open_register()\nfor known in register.data_sets():\n"
        "    balance = register.balance(known.name)\n    print(known.name, balance.spent, balance.left)\n"
    )


def lesson(sample: str, request: FitRequest, draw: int) -> str:
    """What an epsilon allows, and a tree of a sample with it."""
    return f"{_fit_line(RowsRead(sample), request, draw)}{_guesses(request.settings.epsilon)}"


def guesses(epsilon: float) -> str:
    """What one epsilon allows whatever the algorithm."""
    return f"{_IMPORT}\n{_guesses(epsilon)}"


def _guesses(epsilon: float) -> str:
    return f"print(dpviz.PrivacyLoss({epsilon!r}).guesses_right)  # share of right guesses that any algorithm allows\n"
