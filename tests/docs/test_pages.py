"""README and the documentation are true: blocks run, links lead somewhere, names have entries, tables are those measured."""

from __future__ import annotations

import contextlib
import csv
import inspect
import io
import json
import os
import re
import shlex
import shutil
import tomllib
from argparse import _SubParsersAction
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import dpviz
import dpviz.errors
from benchmarks import mutants
from benchmarks.learners import learners_page
from docs import build, generated
from dpviz.__main__ import main, parser
from dpviz.cli import COMMANDS
from dpviz.evaluation.audit.verdicts import stored_run
from dpviz.installation import bundled
from dpviz.learners import LEARNERS
from dpviz.learners.catalogue import parameters, registry
from dpviz.learners.native import pf_tree
from dpviz.results.exports import forms
from tests.support.paths import ROOT

PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md"))
README = ROOT / "README.md"
_BLOCK = re.compile(r"^```(\S.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and what follows it, if that is the output it promises."""

    language: str
    text: str

    @property
    def commands(self) -> list[list[str]]:
        """The dpviz command lines in it."""
        return [shlex.split(line)[1:] for line in self.text.splitlines() if self.language == "sh" and line.startswith("dpviz ")]


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page."""
    return [Block(language.strip(), text) for language, text in _BLOCK.findall(page.read_text(encoding="utf-8"))]


def run(page: Path) -> Iterator[tuple[str, str]]:
    """Run a page from its top in the working folder: yields (printed, promised) for every block that promises an output."""
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for block in blocks(page):
        if block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, page.name, "exec"), names)
            printed = out.getvalue()
        elif block.language == "text" and printed:
            yield printed, block.text
            printed = ""
        elif named := re.match(r"\{code-block\} text\n:name: (\S+)\n\n", f"{block.language}\n{block.text}"):
            Path(named[1]).write_text(f"{block.language}\n{block.text}"[named.end() :], encoding="utf-8")
        for words in block.commands:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
                code = main(words)
            assert code == 0, (words, err.getvalue())


NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
SHOWN = [page for page in (README, *PAGES) if any(block.language in ("python", "sh") for block in blocks(page))]


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A folder that looks like the clone to the code in a page."""
    (tmp_path / "data").mkdir()
    for name in ("loans", "clinic", "rents"):
        shutil.copy(bundled(f"data/{name}.csv.gz"), tmp_path / "data")
        shutil.copy(bundled(f"data/{name}.schema.json"), tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    return tmp_path


#: Pages whose examples are searches, which take longest.
LONG = ("docs/explanation/verdicts.md", "docs/explanation/poisoning.md")


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.verify] * (named(page) in LONG)) for page in SHOWN], ids=named
)
def test_every_block_of_a_page_runs_and_prints_what_the_page_says(page, clone):
    for printed, promised in run(page):
        assert printed == promised


@pytest.mark.verify
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=named)
def test_every_cell_of_a_notebook_runs(notebook, clone):
    names = {"__name__": "__main__"}
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert all(cell.get("outputs", []) == [] for cell in cells), "notebooks are stored without outputs"
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), notebook.name, "exec"), names)


@pytest.mark.parametrize("page", SHOWN, ids=named)
def test_every_block_can_be_read(page):
    for block in blocks(page):
        if block.language == "python":
            compile(block.text, named(page), "exec")
        for words in block.commands:
            assert callable(parser(words).parse_args(words).run)


@pytest.mark.parametrize("page", [README, ROOT / "SECURITY.md", *PAGES], ids=named)
def test_every_link_leads_to_a_file_and_its_heading_and_every_place_of_tests_is_there(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert [place for place in re.findall(r"`(tests/[\w/.]+)`", text) if not (ROOT / place).exists()] == []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        file = Path(os.path.normpath(page.parent / path)) if path else page
        is_generated = file.is_relative_to(ROOT / "docs") and file.relative_to(ROOT / "docs").as_posix() in generated.PAGES
        assert is_generated or file.exists(), target
        if anchor and file.suffix == ".md" and not is_generated:
            assert anchor in anchors(file.read_text(encoding="utf-8")), target


def test_functions_that_the_proof_names_have_mutants():
    text = (ROOT / "docs" / "explanation" / "pf-tree.md").read_text(encoding="utf-8")
    named = re.findall(r"\]\(\.\./\.\./dpviz/([\w/.]+)\) `([\w.]+)` \|", text)
    assert len(named) >= 10
    assert set(named) <= {(mutant.file, mutant.function) for mutant in mutants.table()}


def anchors(text: str) -> set[str]:
    """Of its headings, as Markdown viewers make them, and those given by name."""
    headings = (re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in re.findall(r"^#+ +(.+)$", text, re.M))
    return {*headings, *re.findall(r"^\((\w+)\)=$", text, re.M)}


@pytest.mark.verify
def test_the_documentation_is_built_without_a_warning(tmp_path):
    """Also docstrings: a name with an underscore behind it is a link there."""
    assert build.main(tmp_path) == 0
    assert "tree.png" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_every_page_is_in_the_tree_of_documents():
    listed = re.findall(r"^([a-z][\w/-]+)$", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {page.removesuffix(".md") for page in (*generated.PAGES, *(p.relative_to(ROOT / "docs").as_posix() for p in PAGES))}
    pages |= {page.removesuffix(".md") for page in build.ELSEWHERE}
    evidence = {page for page in pages if page.startswith("evidence/")}  # in the tree of their own index
    assert sorted(listed) == sorted(pages - {"index"} - evidence | {"evidence/index", "evidence/papers"})


def test_every_public_name_is_in_the_reference():
    names = {name for group in generated.GROUPS.values() for name in group}
    assert names == {name for name in dpviz.__all__ if name != "__version__"}
    assert all(f":: dpviz.{name}\n" in generated.python_page() for name in names)


def test_every_command_and_option_is_in_the_reference():
    page = generated.command_line_page()
    commands = [parser(list(COMMANDS))]
    n_options = 0
    while commands:
        command = commands.pop()
        for action in command._actions:
            if isinstance(action, _SubParsersAction):
                commands += [topic for topic in action.choices.values() if topic.prefix_chars == "-"]
            elif command.prog != "dpviz" and action.dest != "help":
                section = page[page.index(f"# `{command.prog}`\n") :]
                assert all(option in section for option in action.option_strings), action
                n_options += 1
    assert n_options > 80


def test_every_parameter_export_error_and_variable_is_in_the_reference():
    algorithms, exports, errors = generated.algorithms_page(), generated.exports_page(), generated.errors_page()
    for name in registry():
        section = algorithms[algorithms.index(f"### `{name}`") :]
        assert all(f"| `{one.name}` | `{one.default}` |" in section for one in parameters(name))
    assert all(f"| `{name}` |" in exports for name in forms())
    kinds = [kind for _, kind in inspect.getmembers(dpviz.errors, inspect.isclass) if kind.__module__ == "dpviz.errors"]
    assert all(f"| `{kind.__name__}` |" in errors for kind in kinds if not kind.__name__.startswith("_"))
    variables = (ROOT / "docs" / "reference" / "environment.md").read_text(encoding="utf-8")
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "dpviz").rglob("*.py"))
    used = set(re.findall(r"\"(DPVIZ_[A-Z_]+)\"", code))
    assert used
    assert {name for name in used if f"`{name}`" not in variables} == set()


def test_the_glossary_is_in_order():
    page = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^(.+)\n: .", page, re.MULTILINE)
    assert terms == sorted(terms, key=str.lower)


TEXT = README.read_text(encoding="utf-8")
DOCS = ROOT / "docs"


def test_it_says_first_how_far_it_may_be_trusted():
    status = TEXT[: TEXT.index("## ")]
    for phrase in ("alpha", "nobody\n> outside has reviewed", "Windows is untried"):
        assert phrase in status


def test_the_stored_table_of_learners_is_what_they_declare():
    stored = (bundled("data") / "benchmarks" / "learners.md").read_text(encoding="utf-8")
    assert stored == learners_page(LEARNERS, stored_run()), "run `python -m benchmarks learners --out ...`"


def test_the_accuracies_are_those_of_the_measured_page():
    measured = measured_accuracies()
    lines = [line for line in TEXT.splitlines() if line.startswith("| ") and line.count("| .") == 5]
    assert len(lines) == 4
    for line in lines:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        columns = [(learner, epsilon) for learner in ("PF-tree", "PrivaTree") for epsilon in ("0.1", "1")]
        assert cells == [measured[name, *column] for column in (*columns, ("Decision tree (not private)", "1"))], name


def measured_accuracies():
    """(data, learner, epsilon) -> mean accuracy, as stored, without the leading zero."""
    with (bundled("data") / "benchmarks" / "accuracy.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    return {
        (line["data"], re.split(r": |, any", line["learner"])[0], line["epsilon"]): line["mean"].removeprefix("0")
        for line in lines
    }


def test_the_constants_of_pf_tree_are_named():
    page = (DOCS / "explanation" / "why-private-can-beat-ordinary.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"Constants of PF-tree \((.*?)\)", page, re.DOTALL)
    values = tuple(float(number) for number in re.findall(r"([\d.]+) (?:and 3 )?for", sentence))
    constants = (pf_tree.LEVEL_GROWTH, pf_tree.DEPTH_CONSTANT, pf_tree.SPLITS_PER_CONSTANT, pf_tree.BLOCK_CONSTANT)
    assert values == constants


def test_make_targets_named_here_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert next(block.text for block in blocks(README) if block.language == "sh") == "make run\nmake test\n"
    for target in set(re.findall(r"`make (\w+)`", TEXT)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_workflow_citation_and_sources_are_what_they_are_elsewhere():
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert re.findall(r"- run: (.*)", workflow) == [".ci/run"]
    declared_version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"\nversion: {declared_version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cited = (DOCS / "reference" / "literature.md").read_text(encoding="utf-8")
    for paper in ("2305.15394", "1606.03572", "2309.12041", "McKenna", "Gillenwater", "OpenDP", "Athey"):
        assert paper in cited
