"""`forests`: the paper's tables beside ours."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.forests.measure import table_6


def test_table_6_is_reproduced_to_a_tenth_by_both_laws() -> None:
    for _, _, original, new, smooth, exponential, pf in table_6():
        assert smooth == pytest.approx(original, abs=0.11)
        assert exponential == pytest.approx(new, abs=0.051)
        assert pf > exponential


@pytest.mark.slow
def test_the_command_writes_the_page_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["a,b,class", *(f"{'xyz'[i % 3]},{'uvw'[i // 3 % 3]},{'rst'[i % 3]}" for i in range(120))]
    (tmp_path / "n.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    (tmp_path / "MANIFEST.csv").write_text("name,file,target\nnursery_multiclass,n.csv.gz,class\n")
    out = tmp_path / "forests.md"
    options = ["--only", "Nursery", "--folds", "2", "--draws", "1", "--out", str(out)]
    assert main(["forests", "--data", str(tmp_path), *options]) == 0
    page = out.read_text()
    assert page.strip() == capsys.readouterr().out.strip()
    assert "No data set of two classes was measured." in page
