"""Pages of the documentation that are made from the code, so that they say what it does."""

from __future__ import annotations

import ast
import csv
import inspect
import os
import re
from argparse import SUPPRESS, Action, ArgumentParser, _SubParsersAction
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import chain
from pathlib import Path
from textwrap import dedent
from typing import Any

import dpviz
import dpviz.errors
from benchmarks.learners import learners_page
from dpviz.__main__ import BAD_INPUT, parser
from dpviz.cli import COMMANDS
from dpviz.evaluation.audit.verdicts import stored_run
from dpviz.interrupts import EXIT_CODE
from dpviz.learners import LEARNERS
from dpviz.learners.catalogue import parameters, registry
from dpviz.results.exports import forms

ROOT = Path(__file__).resolve().parents[1]
#: Groups of the public names, in the order in which people meet them.
GROUPS = {
    "Read and describe a table": (
        "load_sample",
        "read_table",
        "read_csv",
        "open_table",
        "propose_schema",
        "import_codebook",
        "codebook_template",
        "load_schema",
        "save_schema",
        "encode",
        "encode_large",
    ),
    "Train and use": (
        "fit",
        "learner_names",
        "parameters",
        "which_learner",
        "export_names",
        "model_from_json",
        "load_result",
        "exact_trace",
        "train_federated",
        "stream_of",
        "train_on_stream",
    ),
    "Ask about learners": ("sweep", "poisoning_curve", "verify", "audit", "audit_outputs"),
    "Release": ("open_register",),
    "Types": (
        "Schema",
        "NumericFeature",
        "CategoricalFeature",
        "DateFeature",
        "ClassTarget",
        "NumericTarget",
        "RawTable",
        "EncodedDataset",
        "FitRequest",
        "Parameter",
        "Recommended",
        "FitResult",
        "TestReport",
        "ExactTrace",
        "PrivacyLoss",
        "OutputBound",
        "Register",
        "Stream",
    ),
    "Errors": ("DpvizError",),
}
#: Types that public functions return without being public names themselves.
RETURNED = (
    "dpviz.sklearn.PrivateTreeClassifier",
    "dpviz.sklearn.PrivateTreeRegressor",
    "dpviz.accounting.risk.Risk",
    "dpviz.evaluation.audit.evidence.AuditResult",
    "dpviz.evaluation.audit.attack.LowerBound",
)


def python_page() -> str:
    """Every public name, from its docstring."""
    lines = ["# Python", "", "Made from the docstrings. Every ε is for adding or removing one row.", ""]
    for title, names in GROUPS.items():
        lines += [f"## {title}", "", *chain.from_iterable(_entry(f"dpviz.{name}") for name in names)]
    lines += ["## Types without a name of their own in `dpviz`", "", *chain.from_iterable(_entry(name) for name in RETURNED)]
    return "\n".join(lines)


def _entry(name: str) -> Sequence[str]:
    if not inspect.isclass(_public_object(name)):
        return ["```{eval-rst}", f".. autofunction:: {name}", "```", ""]
    members = ["   :members:", "   :exclude-members: set_score_request"] if name != "dpviz.DpvizError" else []
    return ["```{eval-rst}", f".. autoclass:: {name}", *members, "```", ""]


def _public_object(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def command_line_page() -> str:
    """Every command and topic with its arguments."""
    top = parser(list(COMMANDS))
    head = f"""# Command line

`dpviz COMMAND`, or `python -m dpviz COMMAND`. Results go to stdout, stages and warnings to stderr. `--out -` writes to stdout,
`--json` prints results as one JSON object. Exit code 0: done. {BAD_INPUT}: the input cannot be used, one line says what, where
and what to do. {EXIT_CODE}: Ctrl-C. `eval "$(dpviz --completion bash)"` (or zsh) completes words in a shell.
"""
    return "\n".join([head, *chain.from_iterable(_command(own, 2) for own in _topics(top))]) + "\n"


def _command(command: ArgumentParser, level: int) -> Sequence[str]:
    topics = list(_topics(command))
    rows = [row for action in command._actions for row in _argument(action)]
    words = (command.description or "").strip().split("\n\n")
    table = ["| argument | what it is |", "|---|---|", *rows, ""] if rows else []
    about = [text for text in map(_escaped, words) if text]
    paragraphs = [line for text in about for line in (text, "")]
    below = chain.from_iterable(_command(topic, level + 1) for topic in topics)
    return [f"{'#' * level} `{command.prog}`", "", *paragraphs, *table, *below]


def _topics(command: ArgumentParser) -> Iterator[ArgumentParser]:
    for action in command._actions:
        if isinstance(action, _SubParsersAction):
            yield from (topic for topic in action.choices.values() if topic.prefix_chars == "-")


def _argument(action: Action) -> Iterator[str]:
    if action.help == SUPPRESS or isinstance(action, _SubParsersAction) or action.dest == "help":
        return
    value = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper())
    value = "" if action.nargs == 0 else " ".join(value) if isinstance(value, tuple) else str(value)
    name = ", ".join(f"{option} {value}".strip() for option in action.option_strings) or value
    about = (action.help or "") % {"default": action.default}
    needed = " (required)" if action.required and action.option_strings else ""
    yield f"| `{_cell(name)}` | {_cell(_escaped(about))}{needed} |"


def algorithms_page() -> str:
    """The table of all learners, and the parameters of each."""
    page = learners_page(LEARNERS, stored_run()).replace("# Learners", "# Algorithms and their parameters", 1)
    page = re.sub(r"\]\((?!#|http)", "](../../data/benchmarks/", page)
    lines = [page.rstrip(), "", "## Parameters", ""]
    lines += ["On the command line `--param NAME=VALUE`, in Python a keyword of `dpviz.fit`.", ""]
    for name, spec in registry().items():
        own = parameters(name)
        lines += [f"### `{name}`", "", f"{spec.title}. {_escaped(spec.citation)}", ""]
        if own:
            lines += ["| parameter | default | must be | what it does |", "|---|---|---|---|"]
            lines += [f"| `{p.name}` | `{p.default}` | {_cell(_escaped(p.allowed))} | {_cell(_escaped(p.about))} |" for p in own]
            lines.append("")
    return "\n".join(lines)


def exports_page() -> str:
    """Every form in which a model can be taken away."""
    lines = ["# Exports", "", "In Python `result.export(NAME)`, on the command line `dpviz export MODEL --to NAME --out FILE`."]
    lines += ["Python and SQL read cells as `dpviz predict` does, and give no answer where it gives none.", ""]
    lines += ["| name | what | file | about |", "|---|---|---|---|"]
    for name, form in forms().items():
        lines.append(f"| `{name}` | {form.title} | `{form.suffix}` | {_escaped(form.about)} |")
    return "\n".join(lines) + "\n"


def errors_page() -> str:
    """Every type of error and warning, from its docstring."""
    lines = ["# Errors and warnings", ""]
    lines += ["Every error is a `DpvizError`: what is wrong, where, and what to do. None quotes a cell.", ""]
    lines += ["| type | is also a | when |", "|---|---|---|"]
    for node in ast.parse(Path(dpviz.errors.__file__).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            kind = getattr(dpviz.errors, node.name)
            also = ", ".join(f"`{base.__name__}`" for base in kind.__bases__ if not base.__name__.startswith("_"))
            about = " ".join(_escaped(inspect.getdoc(kind) or "").split())
            lines.append(f"| `{node.name}` | {also or '`DpvizError`'} | {_cell(about)} |")
    return "\n".join(lines) + "\n"


def evidence_page() -> str:
    """What was measured, page by page, each with its first sentences."""
    head = """# Evidence

What programs in `benchmarks/` measured; pages and files in `data/benchmarks` say when, and with what.
Start with [the three papers' tables and figures](papers.md).
"""
    lines, names = [head], []
    paths = [*(ROOT / "docs" / "evidence").glob("*.md"), *(ROOT / "data" / "benchmarks").glob("*.md")]
    for path in sorted(paths, key=lambda path: path.name):
        title, _, rest = path.read_text(encoding="utf-8").partition("\n")
        folder = os.path.relpath(path.parent, ROOT / "docs" / "evidence")
        first = re.sub(r"\]\((?!http)", f"]({folder}/", " ".join(rest.strip().split("\n\n")[0].split()))
        sentences = re.split(r"(?<=[.:]) (?=[A-Z*])", first)
        lines.append(f"- [{title.lstrip('# ')}]({folder}/{path.name}). {' '.join(sentences[:2])}")
        names.append(path.stem)
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *names, "```", ""])


def papers_page() -> str:
    """What three papers print beside what was measured here, from the CSV files in `data/benchmarks`."""
    items, cells = (_lines(f"papers{name}.csv") for name in ("_items", ""))
    lines = ["# The papers' tables and figures", "", "What three papers print beside what was measured here, and why it differs."]
    lines += ["Their theorems: [differences](../../data/benchmarks/differences.md). Curves are on their pages.", ""]
    for paper in dict.fromkeys(item["paper"] for item in items):
        lines += [f"## {paper}", "", "| item | what | measured here | differs because |", "|---|---|---|---|"]
        own = [item for item in items if item["paper"] == paper]
        for item in own:
            folder = "../../data/benchmarks/" if item["page"].endswith(".csv") else ""
            page = f"[{item['page']}]({folder}{item['page']})" if item["page"] else f"no: {item['not_here']}"
            lines.append(f"| {item['item']} | {_cell(_escaped(item['shows']))} | {page} | {_cell(_escaped(item['differs']))} |")
        lines.append("")
        for item in own:
            measured = [cell for cell in cells if (cell["paper"], cell["item"]) == (paper, item["item"])]
            if measured:
                lines += [f"### {item['item']}: {item['shows']}", "", f"In {item['unit']}; ± as the sources have it.", ""]
                lines += [f"| data | what | {item['across'] or 'at'} | printed | here | found |", "|---|---|---|---|---|---|"]
                lines += [_beside(cell) for cell in measured]
                lines += ["", *(f"- {_escaped(why)}" for why in dict.fromkeys(cell["why"] for cell in measured) if why), ""]
    return "\n".join(lines)


def _beside(cell: dict[str, str]) -> str:
    pairs = (cell["printed"], cell["printed_error"]), (cell["here"], cell["error"])
    printed, here = (" ± ".join(filter(None, pair)) for pair in pairs)
    words = (cell["data"], cell["what"], cell["at"], printed, here, cell["found"])
    return "| " + " | ".join(_cell(_escaped(word)) for word in words) + " |"


def _lines(name: str) -> list[dict[str, str]]:
    with (ROOT / "data" / "benchmarks" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _escaped(text: str) -> str:
    """Text of the code as Markdown: what is between backticks stays, nothing else is markup."""
    pieces = re.split(r"(`[^`]*`)", dedent(text).strip())
    return "".join(piece if piece.startswith("`") else re.sub(r"([*_<>\[\]{}])", r"\\\1", piece) for piece in pieces)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


#: Page -> what makes it.
PAGES: dict[str, Callable[[], str]] = {
    "reference/python.md": python_page,
    "reference/command-line.md": command_line_page,
    "reference/algorithms.md": algorithms_page,
    "reference/exports.md": exports_page,
    "reference/errors.md": errors_page,
    "evidence/index.md": evidence_page,
    "evidence/papers.md": papers_page,
}
