"""The sweep command: a line per fit, resumed and stopped without losing any."""

import signal

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import dpviz
from dpviz.commands import sweep as command
from dpviz.learners import FitRequest

GRID = ("--learners", "pf-tree,cart", "--epsilon", ".5,5", "--max-depth", "2,3", "--folds", "2", "--repeats", "3")


@pytest.fixture
def asked(table, schema, tmp_path):
    """(arguments, file to write)."""
    out = tmp_path / "frame.csv"
    return ("sweep", table, "--schema", schema, *GRID, "--out", out), out


def frame_of(table, schema):
    data = dpviz.encode(dpviz.read_csv(table), dpviz.load_schema(schema))
    return dpviz.sweep(["pf-tree", "cart"], data, epsilon=[0.5, 5.0], max_depth=[2, 3], folds=2, repeats=3)


@pytest.mark.usefixtures("workers_run_in")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_file_holds_the_frame_to_the_last_digit(run, asked, table, schema, workers):
    arguments, out = asked
    code, said, heard = run(*arguments, "--workers", workers)
    assert (code, said) == (0, "")
    assert heard == f"Wrote {out}: 28 of 28 fits.\n"
    assert_frame_equal(command._read_frame(out), frame_of(table, schema), check_dtype=False)


def test_no_row_of_the_data_is_in_it(run, asked):
    arguments, out = asked
    run(*arguments)
    assert set(pd.read_csv(out).learner) == {"pf-tree", "cart"}
    assert "colour" not in out.read_text(encoding="utf-8")
    assert "blue" not in out.read_text(encoding="utf-8")


def test_resuming_adds_what_is_missing_and_nothing_else(run, asked, monkeypatch):
    arguments, out = asked
    run(*arguments)
    whole = out.read_text(encoding="utf-8")
    lines = whole.splitlines(keepends=True)
    out.write_text("".join(lines[:10]), encoding="utf-8")
    code, _, heard = run(*arguments, "--resume")
    assert code == 0
    assert "28 of 28 fits" in heard
    assert out.read_text(encoding="utf-8") == whole


def test_resuming_without_a_file_starts_one(run, asked):
    arguments, out = asked
    assert run(*arguments, "--resume")[0] == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 29


def test_ctrl_c_writes_what_is_done_and_says_how_to_go_on(run, asked, monkeypatch):
    arguments, out = asked
    fitted = []

    def interrupting(*given, **more):
        fitted.append(1)
        if len(fitted) == 4:
            signal.raise_signal(signal.SIGINT)
        return original(*given, **more)

    original = FitRequest.fit
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(FitRequest, "fit", interrupting)
    code, said, heard = run(*arguments)
    assert (code, said) == (130, "")
    assert heard.splitlines() == [f"Wrote {out}: 4 of 28 fits.", "Stopped. The same command with --resume continues."]
    assert len(command._read_frame(out)) == 4
    assert signal.getsignal(signal.SIGINT) is before
    monkeypatch.setattr(FitRequest, "fit", original)
    assert run(*arguments, "--resume")[0] == 0
    assert len(command._read_frame(out)) == 28


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--learners", "pf-tre"), "There is no learner called 'pf-tre'. Did you mean 'pf-tree'?"),
        (("--epsilon", "1,x"), "Argument --epsilon: must be a number, got 'x'."),
        (("--epsilon", "0"), "The 'epsilon' parameter of fit must be a number in [1e-06, 1e+06]. Got 0.0."),
        (("--epsilon", "1,1"), "The 'epsilon' parameter of sweep must be at least one, and none twice. Got (1.0, 1.0)."),
        (("--max-depth", "0"), "Argument --max-depth: must be a whole number of at least 1, got '0'."),
        (("--folds", "two"), "Argument --folds: must be a whole number of at least 1, got 'two'."),
        (("--rows", "-5"), "Argument --rows: must be a whole number of at least 1, got '-5'."),
        (
            ("--folds", "900"),
            "must be a whole number of at least 2, at most the rows there are. Got 900.",
        ),
    ],
)
def test_a_wrong_argument_is_one_line_and_writes_nothing(refused, asked, words, message):
    arguments, out = asked
    assert message in refused(*arguments, *(f"{words[0]}={words[1]}",))
    assert not out.exists()


def test_an_existing_file_is_kept_unless_forced_or_resumed(refused, run, asked):
    arguments, out = asked
    out.write_text("precious", encoding="utf-8")
    assert "The file exists." in refused(*arguments)
    assert "This file does not come from a sweep: it has no column 'learner'." in refused(*arguments, "--resume")
    assert out.read_text(encoding="utf-8") == "precious"
    assert run(*arguments, "--force")[0] == 0


def test_a_file_of_other_settings_is_not_mixed_in(refused, run, asked):
    arguments, out = asked
    run(*arguments)
    before = out.read_bytes()
    assert "made from other rows, folds, seeds or parameters" in refused(*arguments, "--seed", "4", "--resume")
    assert out.read_bytes() == before


def test_without_a_schema_it_says_what_was_read(run, table, tmp_path):
    code, _, heard = run("sweep", table, "--epsilon", "1", "--folds", "1", "--repeats", "1", "--out", tmp_path / "f.csv")
    assert code == 0
    assert "Warning" in heard


def test_a_number_is_swept_and_resumed(run, tmp_path):
    table, out = tmp_path / "rents.csv", tmp_path / "frame.csv"
    table.write_text("area,rent\n" + "".join(f"{k % 97},{5 * (k % 97) + k % 7}\n" for k in range(300)), encoding="utf-8")
    words = (
        "sweep",
        table,
        "--learners",
        "cart-regression,dp-mean",
        "--epsilon",
        "1",
        "--folds",
        "2",
        "--repeats",
        "2",
        "--out",
        out,
    )
    assert run(*words)[0] == 0
    whole = out.read_text(encoding="utf-8")
    assert whole.splitlines()[0].endswith(",verdict,r2,rmse,mae,mean_rmse")
    out.write_text("".join(whole.splitlines(keepends=True)[:4]), encoding="utf-8")
    assert run(*words, "--resume")[0] == 0
    assert out.read_text(encoding="utf-8") == whole
