"""`speed` prints ratios; what they are is for people to judge."""

import re

import pytest

from dpviz.learners import get_learner, learner_names


@pytest.fixture
def folder(tmp_path, table):
    (tmp_path / "prices.csv").write_text("a,price\n" + "\n".join(f"{n % 7},{n}.5" for n in range(50)) + "\n", encoding="utf-8")
    manifest = "name,file,rows,target\ncolours,table.csv,600,label\nprices,prices.csv,50,price\n"
    (tmp_path / "MANIFEST.csv").write_text(manifest, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_every_learner_is_compared_with_scikit_learn_and_data_sets_with_a_numeric_target_are_left_out(run, folder):
    code, out, err = run("speed", "--data", folder, "--rounds", "1")
    assert (code, err) == (0, "")
    assert "colours: 600 rows, 2 features" in out
    assert "(add/remove one row)" in out
    assert re.search(r"^scikit-learn tree +[\d.]+ ms +1\.00$", out, re.MULTILINE)
    for name in (name for name in learner_names() if "classes" in get_learner(name).tasks):
        assert re.search(rf"^{name}, first fit +[\d.]+ ms +[\d.]+$", out, re.MULTILINE)
        assert re.search(rf"^{name}, peak memory +[\d.]+ MB +[\d.]+$", out, re.MULTILINE)
    assert re.search(r"^pf-tree, repeated fit +[\d.]+ ms +[\d.]+$", out, re.MULTILINE)
    assert re.search(r"^predict every row +[\d.]+ ms$", out, re.MULTILINE)
    assert "prices" not in out


def test_wrong_folders_and_names_are_one_line(refused, folder, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "There is no MANIFEST.csv." in refused("speed", "--data", tmp_path / "empty")
    assert "Did you mean 'colours'?" in refused("speed", "--data", folder, "--only", "colour")
    assert "--only: There is no manifest to choose from." in refused("speed", "--only", "adult")
    assert "required: TOPIC" in refused()
    assert "must be a whole number from 1 to 1000, got '0'" in refused("speed", "--rounds", "0")
    (folder / "table.csv").unlink()
    assert "'table.csv' cannot be read" in refused("speed", "--data", folder)
