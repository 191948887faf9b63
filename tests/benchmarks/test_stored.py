"""What pages say of stored measurements is what the stored files say."""

from __future__ import annotations

import math
import re
from itertools import product

import pandas as pd
import pytest

from benchmarks.risk import EPSILONS, NUMBERS, listed_settings, numbers, table_of
from docs.tables import fill_tables, markdown, pivot
from dpviz.learners import DEFAULT, fit, registry
from tests.support.paths import ROOT

FILES, PAGES = ROOT / "data" / "benchmarks", ROOT / "docs" / "evidence"


def stored(name: str) -> pd.DataFrame:
    return pd.read_csv(FILES / f"{name}.csv", comment="#")


def page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


def test_figures_2_7_and_9_say_in_the_stored_points_what_the_papers_say_of_them() -> None:
    points = stored("curves")
    # "On small datasets such as vote, the best trees allocate more budget to the leaves": epsilon .1, depth 3, 50 runs.
    vote = points[(points.figure == "PrivaTree 2") & (points.data == "vote") & (points.x != "its rule")].set_index("x")
    assert set(zip(vote.series, vote.n, strict=True)) == {("epsilon 0.1, depth 3", 50)}
    leaves = vote.index.str[-3:]
    assert vote["mean"].idxmax().endswith("4/6")
    assert vote["mean"][leaves == "4/6"].min() > vote["mean"][leaves == "1/6"].max() + 2 * math.sqrt(2) * vote.error.max()
    # "A sample of 3,000,000 records with epsilon = 0.1 can achieve comparable results to 30,000 records when epsilon = 1.0."
    by_rows = points[points.figure == "forest 9"].set_index(["series", "x"])
    many, few = (by_rows.loc[place] for place in (("epsilon 0.1", "3000000.0"), ("epsilon 1", "30000.0")))
    assert abs(many["mean"] - few["mean"]) <= 2 * math.hypot(many.error, few.error)
    means = points["mean"][(points.figure == "forest 7") & (points.series == "epsilon 0.2") & (points.x == "100.0")]
    said = f"Here {(means >= 0.85).sum()} of {len(means)} do, with {100 * means.min():.1f} to {100 * means.max():.1f}%."
    assert said in " ".join(page("curves").split())


def test_the_stored_redesign_is_nowhere_behind_and_nowhere_a_guess_where_no_setting_was_chosen() -> None:
    """Behind: the lead of the best other is beyond two of its standard errors."""
    fresh = stored("boosting_other_tables")
    fresh = fresh[fresh.data.str.contains(" *: ", regex=False)]
    assert len(fresh) == 14
    leads = [[float(number) for number in text.split(" ± ")] for text in fresh["lead of the best other"]]
    assert all(lead <= 2 * error for lead, error in leads)
    assert fresh["S-GBDT, redesigned"].str.split(" ±").str[0].astype(float).min() > 0.6


def test_no_stored_success_of_the_backdoor_is_above_what_is_proved_and_the_page_says_what_it_does() -> None:
    backdoor = stored("backdoor")
    proved = backdoor[backdoor.tight.notna()]
    assert set(proved.learner) == {DEFAULT}
    assert (proved.success - proved.tight < 2 * (proved.success_error**2 + proved.published_error**2) ** 0.5 + 1e-4).all()
    most = backdoor[backdoor.poisoned_rows == backdoor.poisoned_rows.max()].set_index(["learner", "epsilon"])
    ours, theirs, less = (most.loc[place] for place in ((DEFAULT, 0.1), ("privatree", 0.1), (DEFAULT, 0.01)))
    apart = (ours.success - theirs.success) / math.hypot(ours.success_error, theirs.success_error)
    assert f"the trigger work on {ours.success:.1%}, PrivaTree on {theirs.success:.1%}" in page("backdoor")
    assert f"{apart:.1f} standard errors apart" in page("backdoor")
    clean = f"is {less.accuracy:.1%} (PrivaTree at ε = 0.1: {theirs.accuracy:.1%})"
    assert f"{clean}, and the trigger works on {less.success:.1%}" in page("backdoor")


@pytest.mark.slow
def test_the_risk_of_every_private_learner_is_stored_and_that_of_today() -> None:
    risk = stored("risk_table")
    for title, *_ in listed_settings():
        assert risk.epsilon[risk.learner == title].tolist() == list(EPSILONS)
    assert {spec.name for _, spec, *_ in listed_settings()} == {name for name, spec in registry().items() if spec.spends_epsilon}
    for learner in ("pf-tree", "s-gbdt"):
        (line,) = risk[(risk.learner == f"`{learner}`") & (risk.epsilon == 1)][list(NUMBERS)].astype(str).to_numpy().tolist()
        found = numbers(fit(learner, table_of("classes"), epsilon=1.0, seed=1).risk)
        assert [float(cell) for cell in line] == [float(cell) for cell in found]


def test_rivals_are_ahead_in_as_many_cells_as_the_page_says() -> None:
    table = stored("rivals_auc")
    means = table.iloc[:, 3:].apply(lambda column: column.str.strip("*").str.split(" ± ").str[0].astype(float))
    ours = means[["S-GBDT", "PF-tree"]].max(axis=1)
    behind = (means.drop(columns=["S-GBDT", "PF-tree"]).max(axis=1) > ours).sum()
    assert f"in {behind} of {len(table)} cells" in page("rivals")


def estimates(cells: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Means and errors of cells such as "**.970 ± .002**"."""
    parts = cells.str.strip("*").str.split(" ± ")
    return parts.str[0].astype(float), parts.str[1].astype(float)


def test_cells_of_the_papers_are_found_again_as_often_as_the_page_says() -> None:
    found = stored("accuracy").dropna(subset="found")
    ordinary = found.learner.str.startswith("Decision tree")
    same, private = found.found == "same", found[~ordinary]
    assert f"{same[~ordinary].sum()} of {len(private)} cells of private algorithms are as published" in page("tables")
    lines = found[ordinary].groupby("data").found.nunique()
    assert f"one cell for all epsilons, {(lines == 1).sum()} of {len(lines)} are" in page("tables")
    assert set(found[ordinary].found) == {"same"}
    corrected = stored("tables_corrected_columns_of_the_comparators").iloc[:, 2:].stack()
    corrected = corrected[corrected.str.contains("(", regex=False)]
    first = found[found.epsilon.isin((0.01, 1)) & found.learner.str.contains("BDPT|DiffPrivLib|DPGDF|Decision tree")]
    n_same = (~corrected.str.contains("†")).sum()
    said = f"Of its cells {n_same} of {len(corrected)} are as measured here; of the first version's for the same, "
    assert f"{said}{(first.found == 'same').sum()} of {len(first)}." in page("tables")
    eighth = stored("tables_corrected_table_viii_privatree").differs
    assert f"{(eighth == '-').sum()} of {len(eighth)} are as measured here" in page("tables")


def test_pf_tree_leads_in_as_many_cells_as_the_page_says() -> None:
    spending = stored("accuracy")
    spending = spending[~spending.learner.str.contains("Decision tree|Majority")]
    place = ["data", "epsilon"]
    best = spending.loc[spending.groupby(place)["mean"].idxmax()].set_index(place)
    ours = spending[spending.learner == "PF-tree: holds"].set_index(place).loc[best.index]
    behind = best.index[ours["mean"] < best["mean"] - best.error]
    assert f"in {len(best) - len(behind)} of {len(best)} cells" in page("tables")
    listed = stored("tables_where_pf_tree_leads")
    assert set(behind) == set(zip(listed.data, listed.epsilon, strict=True))


def test_rivals_and_dp_ebm_lead_where_their_pages_say() -> None:
    table = stored("rivals_auc").set_index(["data", "epsilon"]).drop(columns="rows")
    means = table.apply(lambda column: estimates(column)[0])
    for (data, epsilon), line in means.iterrows():
        best = line.idxmax()
        words = f"{data} at {epsilon:g} ({best} {line[best]:.3f}, S-GBDT {line['S-GBDT']:.3f})"
        assert (words in page("rivals")) == (best not in ("S-GBDT", "PF-tree"))
    four = stored("dp_ebm_table").iloc[:, 3:].apply(lambda column: estimates(column)[0])
    ahead = four.idxmax(axis=1).str.startswith("DP-EBM").sum()
    assert f"is the largest in {ahead} of {len(four)} cells" in " ".join(page("dp_ebm").split())


def test_statements_of_the_forests_paper_and_the_lead_of_pf_forest_are_as_stored() -> None:
    n_found = stored("forests_what_the_paper_states").found.str.strip("*").value_counts()
    said = f"{n_found['yes']} are met here, {n_found['near']} are not met but near, {n_found['no']} are not found"
    assert f"Of {n_found.sum()} statements {said}, {n_found['reversed']} are reversed" in page("forests")
    table = stored("forests_accuracy").set_index("data")
    names = ("PF-forest", "PF-forest, 100 trees", "smooth forest: violated")
    (ours, spread), (hundred, _), (smooth, its_spread) = (estimates(table[name]) for name in names)
    assert f"as accurate as the smooth forest on {(ours >= smooth).sum()} of {len(table)} tables" in page("forests")
    assert (smooth - ours <= 2 * (spread**2 + its_spread**2) ** 0.5).all()
    leads = (hundred - smooth).round(1)
    others = leads.drop("Mushroom")
    said = (
        f"ahead on Mushroom, by {leads['Mushroom']} points, and elsewhere at most {others.max()} ahead and {-others.min()} behind"
    )
    assert said in page("forests")


def test_honest_leaves_cost_and_intervals_cover_what_the_page_says() -> None:
    table = stored("probabilities_table")
    cost = estimates(table["accuracy, labels"])[0] - estimates(table["accuracy, honest"])[0]
    said = f"{cost.mean():.4f} ± {cost.sem():.4f}"
    accuracy, auc, log_loss = table.covered.str.split(" / ", expand=True).astype(float).mean().round()
    assert f"their accuracy is {said} below that of" in page("probabilities")
    assert f"cover {accuracy:.0f} (accuracy), {auc:.0f} (AUC), {log_loss:.0f} (log loss) of 100" in " ".join(
        page("probabilities").split()
    )
    assert f"Honest leaves cost {said} of accuracy" in (ROOT / "docs" / "explanation" / "pf-tree.md").read_text(encoding="utf-8")


def test_numbers_of_the_boosting_paper_are_reached_as_often_as_the_page_says() -> None:
    reached = ("better", "as stated")
    table = stored("boosting_what_is_stated")
    best = table[table.what.str.contains("S-GBDT as published, best at each epsilon")]
    n_numbers = {}
    for source, of in (
        ("paper", "that the paper states for S-GBDT itself"),
        ("released later", "that its authors released later"),
    ):
        lines = best[best.source == source]
        here, redesigned = (lines.iloc[:, at].isin(reached).sum() for at in (6, 8))
        said = f"Of {len(lines)} numbers {of}, {here} are reached here as published and {redesigned} by the redesign."
        assert said in page("boosting")
        n_numbers[source] = len(lines)
    n_printed, n_later = n_numbers["paper"], n_numbers["released later"]
    with_printed_noise = stored("printed_noise").groupby("source").compared.agg(["size", lambda words: words.isin(reached).all()])
    assert with_printed_noise.loc[["paper", "released later"]].to_numpy().tolist() == [[n_printed, True], [n_later, True]]
    assert f"all {n_printed} numbers of the paper and all {n_later} released later" in page("boosting")
    for name, aims in (("adult_auc", (0.9, 0.915)), ("abalone_r2", (0.36, 0.44))):
        reruns = stored(f"boosting_{name}").set_index("epsilon (add/remove one row)")["S-GBDT, redesigned"]
        assert all(mean < aim for mean, aim in zip(estimates(reruns[[0.1, 0.5]])[0], aims, strict=True))


def test_poisoning_guarantees_differ_from_the_papers_in_as_many_rows_as_are_listed() -> None:
    found = re.search(r"On (\d+) of (\d+) rows all printed guarantees are within two standard errors", page("poisoning"))
    assert found is not None
    assert int(found[2]) - int(found[1]) == len(stored("poisoning_privatree_measured_again"))


def test_the_others_lead_the_redesign_on_as_many_tables_as_the_page_of_trials_says() -> None:
    said = " ".join((ROOT / "docs" / "project" / "tuning.md").read_text(encoding="utf-8").split())
    table = stored("boosting_other_tables")
    lead, error = estimates(table["lead of the best other"])
    fresh, ahead = table.data.str.contains(" *: ", regex=False), lead > 2 * error
    assert f"at {ahead[fresh].sum()} of {fresh.sum()} places on tables with *" in said
    assert f"at {ahead[~fresh].sum()} of {(~fresh).sum()} places on the rest" in said


@pytest.mark.parametrize(("name", "table"), [("tables", "accuracy"), ("poisoning", "poisoning_epsilon_0.1")])
def test_a_page_says_that_constants_were_chosen_on_its_tables(name: str, table: str) -> None:
    assert "which flatters it there: of two levels at once on those with a star in [lookahead]" in page(name)
    lookahead = stored("lookahead").data
    assert set(lookahead[lookahead.str.endswith("*")].str.rstrip("*")) & set(stored(table).data)


def test_as_many_tables_of_the_papers_as_the_page_says_were_measured() -> None:
    found = re.search(r"Of the (\d+) that the papers measure, (\d+) are not here", page("tables"))
    assert found is not None
    here = f"{int(found[1]) - int(found[2])} of {found[1]} data sets"
    items = stored("papers_items")
    items = items[items.paper.str.startswith("PrivaTree")].set_index("item").differs
    assert all(items[name].startswith(here) for name in ("Table II", "Table VI", "Table VII"))


def test_tables_of_pages_are_filled_from_their_files() -> None:
    for path in PAGES.glob("*.md"):
        text = fill_tables(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())
        assert "| --- |" in text, path
    rows = [{"e": e, "data": d, "x": x, "mean": "0.5", "error": ""} for e, d, x in product("12", "ab", "xy")][:-1]
    rows[0] |= {"error": "0.0123", "printed": ".4", "printed_error": "", "found": "differs"}
    assert pivot(rows, "e = 1; data by x") == [
        ["data", "x", "y"],
        ["a", "0.500 ± 0.012 (0.400) †", "0.500"],
        ["b", "0.500", "0.500"],
    ]
    assert pivot(rows, "e, data by x")[-1] == ["2", "b", "0.500", "-"]
    with pytest.raises(SystemExit):
        pivot(rows, "e = 3; data by x")
    assert markdown([["a", "b"], ["x|y", "1"]]) == "| a | b |\n| --- | ---: |\n| x\\|y | 1 |"
