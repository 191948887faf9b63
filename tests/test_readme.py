"""The README says what is true: its code runs, its commands exist, its tables agree with the learners."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

import dpviz
from benchmarks.learners import learners_page
from dpviz.__main__ import main, parser
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.evaluation.audit.verdicts import stored_run
from dpviz.installation import bundled
from dpviz.learners import DEFAULT, declared
from dpviz.learners.ours import pf_tree
from dpviz.models.tree import Tree
from dpviz.release.register import ReleaseRegister

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def command_lines():
    return [line for block in blocks("sh") for line in block.splitlines() if line.startswith("dpviz ")]


def table_row(first_cell):
    (line,) = [line for line in README.splitlines() if line.startswith(f"| {first_cell} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A folder that looks like the clone to the code in the README."""
    (tmp_path / "data").mkdir()
    for name in ("loans.csv.gz", "loans.schema.json", "rents.csv.gz", "rents.schema.json"):
        shutil.copy(bundled("data") / name, tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    return tmp_path


def test_the_python_example_runs_and_its_comments_are_true(clone):
    example = blocks("python")[0]
    names = {}
    exec(compile(example, "README.md", "exec"), names)
    assert names["schema"].read_fields() == ()
    assert names["result"].ledger.guarantee == PrivacyLoss(epsilon=0.1, delta=0.0)
    assert names["result"].disclosures == ()
    assert names["result"].score(names["test"]) > 0.5
    assert names["release"].released
    assert not names["result"].released
    expected = names["release"].model.predict(names["test"])
    assert (names["model"].predict(names["test"]) == expected).all()
    assert (clone / "proposed.schema.json").is_file()


@pytest.mark.slow
def test_the_example_with_a_number_runs_and_its_comments_are_true(clone):
    example = blocks("python")[1]
    names = {"dpviz": dpviz}
    exec(compile(example, "README.md", "exec"), names)
    assert 0.3 < names["result"].score(names["test"]) < 1
    assert set(names["frame"].learner) == {"s-gbdt", "dp-mean"}
    assert {"r2", "rmse", "mean_rmse"} <= set(names["frame"].columns)


@pytest.mark.slow
def test_the_questions_can_be_asked(clone):
    schema = dpviz.load_schema("data/loans.schema.json")
    names = {"dpviz": dpviz, "data": dpviz.encode(dpviz.read_csv("data/loans.csv.gz"), schema)}
    exec(compile(blocks("python")[2], "README.md", "exec"), names)
    assert names["worst"].verdict == "violated"


def test_every_value_of_a_proposal_is_marked_and_declaring_takes_the_mark_off(clone):
    proposed = dpviz.propose_schema(dpviz.read_csv("data/loans.csv.gz"), target="defaulted")
    assert {name for name, _ in proposed.read_fields()} == {*proposed.feature_names, "defaulted", "n_public"}
    assert proposed.declare("age", low=18, high=90).feature("age").read_from_data == ()


@pytest.mark.parametrize("line", command_lines())
def test_every_command_line_is_one_dpviz_understands(line):
    words = shlex.split(line)[1:]
    args = parser(words).parse_args(words)
    assert callable(args.run)


@pytest.mark.slow
def test_the_command_lines_work_one_after_the_other(clone, capsys):
    lines = [shlex.split(line)[1:] for line in command_lines()]
    shown = {"schema", "train", "predict", "evaluate", "export", "sweep", "poison", "verify", "learners", "owners", "register"}
    assert {words[0] for words in lines} == shown
    assert [main(words) for words in lines] == [0] * len(lines)
    capsys.readouterr()
    tree = dpviz.model_from_json((clone / "tree.json").read_text(encoding="utf-8"))
    assert isinstance(tree, Tree)
    assert dpviz.load_schema("proposed.json").target.name == "defaulted"
    assert ReleaseRegister().balance("applicants").spent.epsilon == 0.1
    assert (clone / "release.json").is_file()


def test_the_table_of_learners_is_what_they_declare_and_the_readme_links_it():
    stored = (bundled("data") / "benchmarks" / "learners.md").read_text(encoding="utf-8")
    assert stored == learners_page(declared(), stored_run()), "run `python -m benchmarks learners --out ...`"
    section = README[README.index("## Learners") : README.index("## How accurate it is")]
    assert "(data/benchmarks/learners.md)" in section
    assert set(re.findall(r"`([a-z-]+)`", section)) & {spec.name for spec in declared()} >= {DEFAULT, "pf-forest", "s-gbdt"}
    assert f"`{DEFAULT}` is the default" in section


def test_the_accuracies_are_those_of_the_measured_page():
    measured = measured_accuracies()
    lines = [line for line in README.splitlines() if line.startswith("| ") and line.count("| .") == 7]
    assert len(lines) >= 4
    for line in lines:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        asked = [(learner, epsilon) for learner in ("PF-tree", "PrivaTree") for epsilon in ("0.01", "0.1", "1")]
        assert cells == [measured[name, *one] for one in (*asked, ("Decision tree (not private)", "1"))], name


def measured_accuracies():
    """(data, learner, epsilon) -> mean accuracy, as the stored page of tables writes it."""
    found = {}
    page = (bundled("data") / "benchmarks" / "tables.md").read_text(encoding="utf-8")
    for section in re.split(r"^## Epsilon ", page, flags=re.MULTILINE)[1:]:
        epsilon = section.split(" ")[0]
        head, _, *lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
        learners = [re.split(r": |, any", cell.strip())[0] for cell in head[1:]]
        for name, *cells in lines:
            for learner, cell in zip(learners, cells, strict=False):
                found.setdefault((name.strip(), learner, epsilon), cell.split()[0])
    return found


def test_the_odds_are_those_of_epsilon():
    _, *epsilons = table_row("epsilon (add/remove one row)")
    _, *shares = table_row("right guesses, of 100")
    assert len(epsilons) == len(shares) == 5
    for epsilon, share in zip(epsilons, shares, strict=True):
        digits = len(share.partition(".")[2])
        assert f"{100 * PrivacyLoss(float(epsilon)).guesses_right:.{digits}f}" == share


def test_the_constants_of_pf_tree_are_named():
    (sentence,) = re.findall(r"\*\*Constants of PF-tree\*\* \((.*?)\)", README, re.DOTALL)
    growth, depth, constant = re.findall(r"([\d.]+) for", sentence)[0:3]
    values = (float(growth), float(depth), float(constant))
    assert values == (pf_tree.LEVEL_GROWTH, pf_tree.DEPTH_CONSTANT, pf_tree.SPLITS_PER_CONSTANT)


def test_make_targets_named_here_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert blocks("sh")[0] == "make run\nmake test\n"
    for target in set(re.findall(r"`make (\w+)`", README)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("paper", ["2305.15394", "1606.03572", "2309.12041", "McKenna", "Gillenwater", "OpenDP"])
def test_every_source_is_cited(paper):
    assert paper in README[README.index("## Sources") :]
