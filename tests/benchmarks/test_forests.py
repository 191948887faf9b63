"""`forests`: the paper's tables beside ours."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.forests.measure import DEPTHS, EMPTY, LEARNERS, REAL, Measured, Spread, measure, table_6
from benchmarks.forests.page import forests_page
from benchmarks.forests.ranks import LEAST, PAIRS, ranks_part
from benchmarks.forests.synthetic import TABLE_1, synthetic
from dpviz.learners import get_learner
from dpviz.training.params import controls_of

TITLES = tuple(LEARNERS)


def measured(name: str, smooth: float, sound: float, **others: float) -> Measured:
    accuracy = dict.fromkeys(TITLES, Spread(0.5, 0.01)) | {
        "smooth forest": Spread(smooth, 0.01),
        "PF-forest": Spread(sound, 0.01),
    }
    accuracy |= {title: Spread(mean, 0.01) for title, mean in others.items()}
    ablations = {"as published": Spread(smooth, 0.01), "global sensitivity": Spread(0.6, 0), "depth m/2": Spread(0.5, 0)}
    ablations |= {"shared rows": Spread(smooth - 0.06, 0.01), "depth m": Spread(smooth - 0.1, 0.01)}
    empty = (Spread(EMPTY[name][0][0], 1.0), Spread(EMPTY[name][1][0] - 4, 0.1))
    scores = {title: Spread(0.7, 0.01) for title in TITLES}
    seconds = dict.fromkeys(TITLES, Spread(0.1, 0.02))
    return Measured(name, 1000, DEPTHS[name], 0.5, empty, Spread(12.0, 1), accuracy, scores, scores, ablations, seconds)


def test_table_6_is_reproduced_to_a_tenth_by_both_laws() -> None:
    for _, _, original, new, smooth, exponential, pf in table_6():
        assert smooth == pytest.approx(original, abs=0.11)
        assert exponential == pytest.approx(new, abs=0.051)
        assert pf > exponential


def test_permute_and_flip_beats_the_withdrawn_rule_but_for_the_widest_gap() -> None:
    assert [pf > smooth for *_, smooth, _, pf in table_6()] == [True] * 5 + [False]


def test_the_tables_of_the_paper_speak_of_the_same_data() -> None:
    assert set(DEPTHS) == set(EMPTY) == {*TABLE_1, *REAL}


@pytest.mark.parametrize("title", TITLES)
def test_every_column_is_a_learner_with_these_parameters(title: str) -> None:
    name, given = LEARNERS[title]
    assert set(given) <= set(controls_of(get_learner(name).Params))


@pytest.mark.slow
def test_a_synthetic_set_is_measured_whole() -> None:
    found = measure("SynthA", synthetic("SynthA", seed=0, n_rows=600), folds=2, draws=2)
    assert found.depth == 5
    assert set(found.accuracy) == set(found.auc) == set(found.f1) == set(TITLES)
    assert 0.4 < found.accuracy["random forest"].mean <= 1
    assert found.auc["random forest"].mean > 0.7
    assert 0 < found.empty[0].mean < found.empty[1].mean < 100


def test_the_page_says_what_agrees_and_what_does_not() -> None:
    page = forests_page(
        [measured("SynthA", 0.9, 0.92), measured("Adult", 0.8, 0.79, JPW=0.765)], folds=3, draws=4, made="Made now."
    )
    assert "PF-forest is at least as accurate as the smooth forest on 1 of 2 data sets (SynthA)" in page
    assert "PF-forest, 100 trees is at least as accurate as the smooth forest on 0 of 2 data sets (none), and behind by" in page
    assert "behind by more than two standard deviations on 2 (SynthA, Adult)" in page
    assert "| Depth of Adult (Table 4) | 9 | 9 | yes |" in page
    assert "| Empty leaves of SynthA, trees: 30 (Table 3) | 68.5 ± 2.0 | 64.5 ± 0.1 | yes |" in page
    assert "| Empty leaves of Adult, trees: 30 (Table 3) | 99.9 ± 0.0 | 95.9 ± 0.1 | **no** |" in page
    assert "| Adult over JPW (5.2), points | 3.5 | 3.5 ± 1.4 | yes |" in page
    assert "| SynthA over JPW (5.2), points | over 35 | 40.0 ± 1.4 | yes |" in page
    assert "| Smooth over global, SynthA (4.1), points | 0 to 26 | 30.0 ± 1.0 | **no** |" in page
    assert "| Most gained by disjoint rows, synthetic data (4.2), points | 18 | 6.0 ± 1.4 | **no** |" in page
    assert "| Data sets of 2 on which depth m is less accurate (4.3) | 1 | 2 | near |" in page
    assert "| Data sets of 2 on which it is ahead of RGV (5.2) | 5 | 2 | **no** |" in page
    assert "| 95.9 ± 0.1 | 99.9 ± 0.0 | 12.0 ± 1.0 |" in page
    assert page.splitlines()[-1].startswith("| Adult | 0.10 ± 0.02 |")
    assert "add/remove one row" in page


def test_a_lead_that_is_none_here_is_reversed_however_near() -> None:
    page = forests_page(
        [measured("Nursery", 0.80, 0.9, JPW=0.81, FS=0.85), measured("SynthA", 0.9, 0.92, JPW=0.56)],
        folds=3,
        draws=4,
        made="Made now.",
    )
    assert "| Nursery over JPW (5.2), points | over 0 | -1.0 ± 1.4 | **reversed** |" in page
    assert "| Nursery over FS (5.2), points | over 0 | -5.0 ± 1.4 | **reversed** |" in page
    assert "| SynthA over JPW (5.2), points | over 35 | 34.0 ± 1.4 | near |" in page
    assert re.search(r"Of \d+ statements \d+ are met here, \d+ are not met but near, \d+ are not found, \d+ are reversed", page)
    assert "benchmarks forests --data DIR --folds 3 --draws 4`" in page


def test_only_a_claim_that_holds_is_marked_as_best() -> None:
    page = forests_page([measured("SynthA", 0.99, 0.92, **{"RGV (weaker)": 0.98})], folds=3, draws=4, made="Made now.")
    accuracy = page[page.index("## Accuracy") : page.index("## Area")]
    assert "**92.0 ± 1.0**" in accuracy
    assert "**99.0" not in accuracy
    assert "**98.0" not in accuracy
    for column in ("smooth forest: violated", "RGV (weaker): violated", "random forest: not private", "| PF-forest |"):
        assert column in accuracy


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


def test_a_folder_without_the_data_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forests", "--data", str(tmp_path), "--only", "Adult"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_ranks_are_tested_over_data_sets_and_not_over_too_few() -> None:
    titles = {name for pair in PAIRS for name in pair}
    ahead = [dict.fromkeys(titles, 0.5) | {"PF-forest": 0.6 + place / 100, "JPW": 0.4} for place in range(8)]
    page = ranks_part(ahead)
    assert "| PF-forest against JPW | 8 | 0 | .0078 |" in page
    assert "| smooth forest against FS | 0 | 0 | 1.0000 |" in page
    assert ranks_part(ahead[: LEAST - 1]) == ""
