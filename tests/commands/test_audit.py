"""`dpviz audit`: code that is not ours, attacked by its outputs."""

import json


def test_outputs_of_other_code_are_attacked(run, refused, tmp_path):
    files = [tmp_path / "without.txt", tmp_path / "with.txt"]
    for file, word in zip(files, ("no", "yes"), strict=True):
        file.write_text(f"{word}\n" * 100, encoding="utf-8")
    code, said, _ = run("audit", *files, "--epsilon", "1")
    assert code == 1
    assert "No guarantee below epsilon = 3.49 holds (95% confidence)" in said
    assert "The claimed 1 is refuted" in said
    code, said, warned = run("verify", "--outputs", *files)
    assert code == 0
    assert "`verify --outputs` is called `audit` now" in warned
    code, said, _ = run("audit", "--json", *files, "--delta", "0.99")
    assert json.loads(said)["bound"] == 0
    assert "none.txt" in refused("audit", files[0], tmp_path / "none.txt")
