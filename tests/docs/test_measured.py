"""Numbers that pages of the documentation quote from measurements are those that are stored, or that the tables give again."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from statistics import mean, median

import pytest

import dpviz
from benchmarks.data import bench_data
from dpviz.accounting.events import PureDP, Sequential, Step
from dpviz.accounting.risk import Risk
from dpviz.installation import bundled
from dpviz.io import limits, worker
from dpviz.io.text import MAX_LINE_LENGTH
from dpviz.results.wording import rounded_up
from dpviz.training import scores
from tests.support.paths import ROOT

LOSSES = (ROOT / "docs" / "how-to" / "choose-epsilon.md").read_text(encoding="utf-8")
WHY = (ROOT / "docs" / "explanation" / "why-private-can-beat-ordinary.md").read_text(encoding="utf-8")
VERDICTS = " ".join((ROOT / "docs" / "explanation" / "verdicts.md").read_text(encoding="utf-8").split())
#: Of the tables in lookahead.csv, which trains on four fifths of them.
ROWS = {
    "adult": 45_222,
    "breast-w": 683,
    "diabetes": 768,
    "mushroom": 5_644,
    "mushroom_all": 8_124,
    "nursery": 12_960,
    "vote": 232,
    "magic": 19_020,
    "MagicTelescope": 13_376,
    "bank-marketing": 10_578,
    "electricity": 38_474,
    "electricity_cat": 38_474,
    "california": 20_634,
    "credit": 16_714,
    "default-of-credit-card-clients": 13_272,
    "default-of-credit-card-clients_cat": 13_272,
    "compas-two-years": 4_966,
    "heloc": 10_000,
    "Diabetes130US": 71_090,
    "bank-full": 45_211,
    "default-full": 30_000,
}
#: The borders of the page's table, in training rows times epsilon.
BORDERS = (0, 100, 300, 3_000, float("inf"))


def stored(name: str) -> list[dict[str, str]]:
    """The lines of a CSV file in data/benchmarks."""
    with (ROOT / "data" / "benchmarks" / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def lookahead() -> list[tuple[str, float, dict[str, str]]]:
    """(data, epsilon, line) of every measured line, as stored."""
    return [(line["data"].rstrip("*"), float(line["epsilon"]), line) for line in stored("lookahead.csv")]


def cells(text: str, start: str) -> list[list[str]]:
    """The lines of the table whose head starts so, without head and rule."""
    table = text[text.index(f"\n| {start}") :].strip().split("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_the_losses_are_those_of_the_stored_page():
    found = [
        (0.8 * ROWS[name] * epsilon, 100 * (float(line["ordinary"]) - float(line["two levels"])))
        for name, epsilon, line in lookahead()
    ]
    assert len(found) == 3 * len(ROWS)
    for (_, middle, largest), low, high in zip(cells(LOSSES, "training rows"), BORDERS[:-1], BORDERS[1:], strict=True):
        losses = [loss for place, loss in found if low <= place < high]
        assert float(largest) == pytest.approx(max(losses), abs=0.01)
        assert median(losses) < 0 if middle == "none" else float(middle) == pytest.approx(median(losses), abs=0.06)


def test_trees_hardly_better_than_the_most_frequent_class_are_counted():
    lines = (line for line in stored("accuracy.csv") if (line["epsilon"], line["learner"]) == ("1", "Majority class: holds"))
    majority = {line["data"]: float(line["mean"]) for line in lines}
    few = [
        float(line["two levels"]) - majority[name]
        for name, epsilon, line in lookahead()
        if 0.8 * ROWS[name] * epsilon < BORDERS[1]
    ]
    assert f"{sum(lead <= 0.03 for lead in few)} of {len(few)} were at most 3 points ahead" in LOSSES


def test_rows_are_those_of_the_shared_tables(shared_data: Path):
    with (shared_data / "MANIFEST.csv").open(encoding="utf-8") as file:
        assert {line["name"]: int(line["rows"]) for line in csv.DictReader(file)}.items() >= ROWS.items()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mushroom", "magic", "california"])
def test_the_lead_without_noise_is_found_again(name: str, shared_data: Path):
    """Trees are drawn anew: three splits, three seeds on each."""
    ((_, data),) = bench_data(shared_data, [name])
    parts = [[part.with_cached_counts() for part in data.split(0.2, seed=seed)] for seed in range(3)]
    found = [mean(dpviz.fit("cart", train, epsilon=1, depth=4, seed=0).score(test) for train, test in parts)]
    for lookahead in ({"lookahead": 1}, {}):
        for epsilon in (1, 100):
            fits = (
                dpviz.fit("pf-tree", train, epsilon=epsilon, depth=4, leaves="labels", seed=seed, **lookahead).score(test)
                for train, test in parts
                for seed in range(3)
            )
            found.append(mean(fits))
    (line,) = [line for line in cells(WHY, "data") if line[0] == name]
    assert [float(cell) for cell in line[1:]] == pytest.approx(found, abs=0.0006)


def test_auc_and_gains_are_those_of_the_stored_page():
    auc = [(float(line["AUC, ordinary"]), float(line["AUC, two levels"])) for _, epsilon, line in lookahead() if epsilon == 1]
    assert f"ahead on {sum(ordinary > ours for ordinary, ours in auc)} of [{len(auc)} tables]" in WHY
    for epsilon in ("0.1", "1"):
        lines = [line for line in stored("lookahead.csv") if line["epsilon"] == epsilon]
        gains = {
            starred: mean(float(line["gain"].split()[0]) for line in lines if line["data"].endswith("*") == starred)
            for starred in (False, True)
        }
        others, chosen_on = (f"{gains[starred]:.4f}".removeprefix("0") for starred in (False, True))
        assert re.search(rf"{others} (in accuracy )?at ε = {epsilon} [^(]*\(starred: {chosen_on}\)", WHY)


def test_what_was_searched_and_audited_is_counted():
    facts = json.loads((ROOT / "data" / "benchmarks" / "verdicts.json").read_text(encoding="utf-8"))["facts"]
    places = [(fact["learner"], place) for fact in facts for place in fact["places"] or ()]
    rows = [int(number) for _, place in places for number in re.findall(r"up to (\d+) rows", place["where"])]
    universes = [place for _, place in places if "up to" in place["where"]]
    tables, pairs = ([place[key] for place in universes] for key in ("n_sets", "n_pairs"))
    listed = f"{min(tables)} to {max(tables):,} tables and {min(pairs)} to {max(pairs):,} pairs, of up to {max(rows)} rows"
    assert listed in VERDICTS
    assert len({place["where"] for learner, place in places if learner == "pf-tree"}) == 8
    assert "for PF-tree eight universes" in VERDICTS
    claims = [fact for fact in facts if fact["attacked"] and fact["claim"]["epsilon"] != "infinity"]
    assert f"audits {len(claims)} claims at ε = 0.1, 1 and 3" in VERDICTS
    assert {fact["epsilon"] for fact in claims} == {0.1, 1.0, 3.0}
    assert f"up to {0.05 * len(claims):.1f} bounds beyond them would be expected" in VERDICTS


def test_what_audits_show_is_what_the_stored_run_says():
    attacks = {
        (fact["learner"], fact["epsilon"]): fact["attacked"]
        for fact in json.loads((ROOT / "data" / "benchmarks" / "verdicts.json").read_text(encoding="utf-8"))["facts"]
        if not fact["params"]
    }
    boosted = [attacks["s-gbdt", epsilon] for epsilon in (0.1, 1.0, 3.0)]
    shown, perfect = ([f"{attack[name]:.3g}".removeprefix("0") for attack in boosted] for name in ("bound", "perfect"))
    for first, second, third in (shown, perfect):
        assert f"{first}, {second} and {third}" in VERDICTS
    assert {attack["n_done"] for attack in boosted} == {1000}
    tree = attacks["pf-tree", 0.1]
    one_canary = f"{tree['bound']:.4f}".removeprefix("0")
    assert f"in the stored run one shows {one_canary} in {tree['n_done']:,}" in VERDICTS
    assert f"the stored one has {attacks['s-gbdt-published', 0.1]['n_done']} draws" in VERDICTS


def test_lesson_four_quotes_the_pair_of_tables_that_the_stored_search_found():
    facts = json.loads((ROOT / "data" / "benchmarks" / "verdicts.json").read_text(encoding="utf-8"))["facts"]
    (search,) = (fact["searched"] for fact in facts if fact["params"] == {"grow_complete": True} and fact["epsilon"] == 1)
    page = " ".join((ROOT / "docs" / "tutorials" / "lessons.md").read_text(encoding="utf-8").split())
    without, beside = (f"{chance:.3g}".removeprefix("0") for chance in search["worst_pair"]["probabilities"])
    assert [len(search["worst_pair"][table]) for table in ("first", "second")] == [3, 4]
    assert f"one tree has probability {without} on three rows. On these and one more it has {beside}:" in page
    assert f"the ratio is $e^{{{search['log_ratio']:.2f}}}$, not at most $e$" in page


@pytest.mark.verify
def test_what_ten_canaries_show_is_what_the_command_of_the_page_finds():
    command = 'dpviz.audit("pf-tree", epsilon=0.1, seed=20260101)'
    found = dpviz.audit("pf-tree", epsilon=0.1, seed=20260101)
    shown = f"{found.bound:.4f}".removeprefix("0")
    assert found.rows == 10
    assert f"ten canaries show {shown} in {found.n_done:,} runs, `{command}`" in VERDICTS


@pytest.mark.slow
def test_the_example_of_risk_is_the_plan_of_the_loans():
    page = " ".join((ROOT / "docs" / "explanation" / "risk.md").read_text(encoding="utf-8").split())
    schema = dpviz.load_schema(ROOT / "data" / "loans.schema.json")
    request = dpviz.FitRequest.of("pf-tree", epsilon=1, depth=4)
    plan, risk = request.plan(schema), request.risk(schema)
    stages = tuple(Step(cost, share.part) for share in plan.shares for cost in share.costs)
    grown, noise = Risk(Sequential(stages)).delta(0), Risk(Step(PureDP(1.0), "leaf counts")).delta(0)
    held_out = sum(part.share for part in plan.held_out)
    first, second = (f"{step.cost.epsilon:.3f}".removeprefix("0") for step in stages)
    alone, rest, mean_delta = (f"{delta:.3f}".removeprefix("0") for delta in (grown, noise, risk.delta(0)))
    assert f"{1 - held_out:.0%} of the rows grow the tree, in two stages of bounded range {first} and {second}" in page
    assert f"compose to $\\delta(0) = {alone}$. The others meet noise at ε = 1, $\\delta(0) = {rest}$" in page
    assert f"so the mean counts: {mean_delta}." in page
    assert risk.delta(0) == pytest.approx((1 - held_out) * grown + held_out * noise, abs=1e-4)
    assert f"allows {rounded_up(100 * risk.guesses(), 1)} right guesses of 100" in page


def test_shares_of_stages_are_those_of_plans():
    page = (ROOT / "docs" / "evidence" / "risk.md").read_text(encoding="utf-8")
    schema = dpviz.load_schema(ROOT / "data" / "loans.schema.json")
    for depth in (4, 6, 8):
        shares = dpviz.FitRequest.of("pf-tree", epsilon=1, depth=depth).plan(schema).shares
        assert f"{depth} levels: {', '.join(f'{share.epsilon:.3f}' for share in shares)}" in page


@pytest.mark.slow
def test_the_patients_tutorial_says_the_depth_the_guesses_and_the_base_rate_of_the_clinic():
    page = " ".join((ROOT / "docs" / "tutorials" / "patients.md").read_text(encoding="utf-8").split())
    schema = dpviz.load_schema(ROOT / "data" / "clinic.schema.json")
    one, tenth = (dpviz.FitRequest.of("pf-tree", epsilon=epsilon) for epsilon in (1, 0.1))
    assert (one.plan(schema).depth, tenth.plan(schema).depth) == (3, 1)
    assert "the tree has three levels at ε = 1, and one at ε = 0.1" in page
    assert f"at most {rounded_up(100 * one.risk(schema).guesses(), 0)} of 100 such guesses are right" in page
    rows = dpviz.encode(bundled("data/clinic.csv.gz"), schema)
    at_home = (rows.target == schema.classes.index("home")).mean()
    assert f"is right for about {at_home:.0%} of patients" in page


def test_limits_are_those_of_the_code():
    page = " ".join((ROOT / "docs" / "reference" / "limits.md").read_text(encoding="utf-8").split())
    said = {
        "| columns |": f"{limits.MAX_COLUMNS:,}",
        "| characters of a line |": f"{MAX_LINE_LENGTH:,};",
        "| a schema or codebook |": f"{limits.MAX_SCHEMA_BYTES / 1e6:.0f} MB",
        "that PF-tree scores splits on |": f"{scores.MAX_ROWS:,}; with class weights {scores.MAX_ROWS // scores.MAX_WEIGHT:,}",
    }
    assert [start for start, end in said.items() if f"{start} {end}" not in page] == []
    assert limits.MEMORY_PER_BYTE == 8
    assert "an eighth of the memory" in page
    assert worker.SECONDS == 60
    assert f"a minute and {worker.SECONDS_PER_MB:.0f} seconds for each MB" in page


@pytest.mark.slow
def test_counterexamples_in_the_table_are_those_that_the_scripts_print():
    scripts = bundled("data/counterexamples")
    listed = cells((ROOT / "docs" / "explanation" / "verdicts.md").read_text(encoding="utf-8"), "script |")
    assert {line[0].strip("`") for line in listed} == {path.stem for path in scripts.glob("*.py")}
    for name, _, _, _, probabilities, *_ in listed:
        command = [sys.executable, str(scripts / f"{name.strip('`')}.py")]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for probability in probabilities.replace("$10^{", "10^").replace("}$", "").split(" and "):
            assert probability.lstrip("0") in printed


@pytest.mark.parametrize("page", ["README.md", "docs/explanation/guarantee.md"])
def test_right_guesses_are_those_of_four_levels_on_the_loans(page: str):
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    head, _, of_any, ours = next(lines[i : i + 4] for i, line in enumerate(lines) if line.startswith("| ε"))
    schema = dpviz.load_schema(ROOT / "data" / "loans.schema.json")
    for epsilon, plain, stated in zip(*(line.strip("| ").split("|")[1:] for line in (head, of_any, ours)), strict=True):
        risk = dpviz.FitRequest.of("pf-tree", epsilon=float(epsilon), depth=4).risk(schema)
        for cell, share in ((plain.strip(), risk.plain.guesses_right), (stated.strip(), risk.guesses())):
            assert rounded_up(100 * share, len(cell.partition(".")[2])) == cell
