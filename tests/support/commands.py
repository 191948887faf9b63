"""A table whose label depends on age and colour, and the schema somebody declared for it."""

import pytest

from dpviz.__main__ import main
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

COLOURS = ("red", "green", "blue")
SCHEMA = Schema(
    (NumericFeature("age", 0, 100, whole=True), CategoricalFeature("colour", COLOURS)),
    ClassTarget("label", ("no", "yes")),
    n_public=600,
)


def csv_text(rows=600):
    lines = ["age,colour,label"]
    for row in range(rows):
        age, colour = row * 37 % 101, COLOURS[row % 3]
        lines.append(f"{age},{colour},{'yes' if age > 50 or colour == 'blue' else 'no'}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(csv_text(), encoding="utf-8")
    return path


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "table.schema.json"
    SCHEMA.save(path)
    return path


@pytest.fixture
def run(capsys):
    """run("train", ...) -> (exit code, stdout, stderr)."""

    def run(*argv):
        code = main([str(word) for word in argv])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def refused(run):
    """The one line on stderr with which bad input is refused; before it only what a reader doubts, which may be the reason."""

    def refused(*argv):
        code, out, err = run(*argv)
        assert (code, out) == (2, "")
        *doubts, said = err.splitlines()
        assert all(line.startswith("Warning: ") for line in doubts)
        assert said.startswith("dpviz: ")
        assert err.endswith("\n")
        return f"{said}\n"

    return refused
