"""The Audit page under every kind of stored run: whole, missing, broken; every verdict; a search, its progress, its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app import audit as audit_results
from dpviz.app import widgets
from dpviz.errors import Cancelled, UnsupportedError
from dpviz.evaluation.audit.evidence import AuditResult
from dpviz.evaluation.audit.verdicts import StoredRun, run_to_json, stored_run
from dpviz.learners import get_learner, learner_names
from dpviz.learners.papers import differences, statement_rows
from tests.support.audits import BOUND, BUG, HOLDS, IMPOSSIBLE, NONE, NOTHING, UNPROVEN, VIOLATED, facts, run_of
from tests.support.pages import after_work, alerts, buttons, click, page_text, texts
from tests.support.paths import ROOT, SOON

RUN = run_of(HOLDS, IMPOSSIBLE, VIOLATED, NONE)
PROOF = "The proof treats the features of a table like different people"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., AppTest]:
    """Opens the page over a run (or the text of a file, or no file); URL parameters by name."""

    def open_page(run: StoredRun | str | None = RUN, **url: str) -> AppTest:
        path = tmp_path / "verdicts.json"
        if run is not None:
            path.write_text(run if isinstance(run, str) else run_to_json(run), encoding="utf-8")
        monkeypatch.setattr(audit_results, "stored_run", lambda: stored_run(path))
        test = AppTest.from_file(str(ROOT / "pages" / "audit.py"), default_timeout=SOON)
        for name, value in url.items():
            test.query_params[f"audit-{name}"] = value
        return test.run()

    every_box_open = widgets.on_demand
    monkeypatch.setattr(widgets, "on_demand", lambda label, **more: every_box_open(label, **more | {"opened": True}))
    return open_page


def chosen(result: AuditResult) -> dict[str, str]:
    """URL parameters that choose a result's learner and flags."""
    return {"learner": get_learner(result.learner).title} | {f"{result.learner}.{flag}": "true" for flag in result.params}


def box(test: AppTest) -> tuple[str, str]:
    """Kind and text of the one box about a verdict."""
    assert not test.exception, [found.message for found in test.exception]
    ((kind, text),) = alerts(test)
    return kind, text.replace("\\", "")


@pytest.mark.parametrize(
    ("result", "kind", "proved", "searched"),
    [
        (HOLDS, "success", "holds", "within"),
        (UNPROVEN, "warning", "unproven", "within"),
        (VIOLATED, "error", "violated", "beyond"),
        (IMPOSSIBLE, "error", "violated", "beyond"),
        (BUG, "success", "holds", "beyond what its steps cost"),
        (NONE, "info", "nothing claimed", "nothing claimed"),
        (NOTHING, "warning", "unproven", "within"),
    ],
)
def test_every_fact_has_its_words_and_what_was_searched(page, result: AuditResult, kind: str, proved: str, searched: str) -> None:
    test = page(run_of(result), **chosen(result))
    assert box(test)[0] == kind
    assert box(test)[1].startswith(f"**Proved: {proved}.**")
    assert f"Searched: {searched}]" in texts(test)
    assert "Attacked: not attacked]" in texts(test)
    columns = [set(found.value.columns) for found in test.dataframe]
    assert sum("statement" in names for names in columns) == bool(statement_rows(result.learner))
    assert sum("neighbouring pairs" in names for names in columns) == 1
    pairs = [found for found in test.get("html") if "rows with the person" in found.proto.body]
    assert len(pairs) == (result.worst_pair is not None)
    said = [found.label for found in test.expander if found.label.startswith("Differences from the paper")]
    assert said == [f"Differences from the paper ({len(known)})" for known in [differences(result.learner)] if known]


def test_a_refusal_says_why_and_an_attack_says_what_it_showed(page: Callable[..., AppTest]) -> None:
    for bound in (BOUND, replace(BOUND, delta=1e-6)):
        entry = facts(HOLDS, bound, searched=None, places=(), not_searched="Too many trees.")
        said = page_text(page(StoredRun((entry,)), learner="PF-tree"))
        for words in ("Too many trees.", "Attacked: 1 is claimed and 0.9 could be shown", "2 of 3 guesses right, 20 draws"):
            assert words in said
        assert bound is BOUND or "ε ≥ 0.4, δ = 0.000001" in said
    (line,) = (
        line for line in audit_results.audit_lines(audit_results.AuditFacts(StoredRun((entry,)), {}), 1.0) if line.attacked
    )
    assert (line.verdict, line.search, line.attack, line.claimed) == ("holds", "not", "within", 1.0)


def search(test: AppTest) -> AppTest:
    return click(test, "Search again")


def finish(test: AppTest) -> AppTest:
    """Wait for the search, then run the page again."""
    return after_work(test, audit_results.SLOT)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """A search that waits until it is let go or stopped, and then finds `found` or raises it."""
    state: dict[str, Any] = {"go": Event(), "found": (HOLDS,), "asked": None}

    def verify_each(learner: str, **asked: Any) -> list[AuditResult]:
        state["asked"] = {"learner": learner, **asked}
        while not state["go"].wait(0.01):
            if asked["stop"]():
                raise Cancelled
        if isinstance(state["found"], Exception):
            raise state["found"]
        return list(state["found"])

    monkeypatch.setattr(audit_results, "verify_each", verify_each)
    yield state
    state["go"].set()


@pytest.mark.slow
def test_cancel_ends_the_search_and_keeps_what_was_shown(page: Callable[..., AppTest], held: dict[str, Any]) -> None:
    test = click(search(page(**chosen(IMPOSSIBLE))), "Cancel")
    said = texts(finish(test))
    assert "Stopped" in said
    assert "From the stored run" in said
    assert held["asked"]["stop"]()


def test_a_refuted_proof_is_explained_with_the_numbers_on_screen_and_a_claim_without_a_text_gives_its_reason(page) -> None:
    said = texts(page(**chosen(VIOLATED)))
    for words in (
        PROOF,
        "to ε = 1.5, not 1 (add/remove one person)",
        "4 times as likely (1 in 156 instead of 1 in 625)",
        "Theorem 3",
    ):
        assert words in said
    said = texts(page(run_of(replace(VIOLATED, learner="pf-tree", params={}, because="Some reason."))))
    assert PROOF not in said
    assert "Some reason\\. On screen, adding the marked person makes one tree 4 times as likely" in said


def test_the_lead_counts_what_the_file_says_and_a_violated_claim_is_shown_first(page: Callable[..., AppTest]) -> None:
    test = page()
    said = texts(test)
    assert "1 of 2 private algorithms provably keep the ε they claim: 1 violated." in said
    assert "dpviz 9\\.8\\.7 on 2030\\-" in said
    assert "one that they do not find proves nothing" in said
    assert test.selectbox(key="audit-learner").value == IMPOSSIBLE.learner
    assert page(run_of(HOLDS)).selectbox(key="audit-learner").value == learner_names()[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "what"),
    [
        (None, "There is no stored run"),
        ("{", "JSON"),
        ('{"format": "dpviz-verdicts/99"}', "dpviz-verdicts/99"),
        (run_to_json(RUN).replace('"log_ratio": 0.5', '"log_ratio": "half"'), "facts"),
    ],
)
def test_without_a_stored_run_the_problem_is_said_and_a_search_works(
    page: Callable[..., AppTest], held: dict[str, Any], file: str | None, what: str
) -> None:
    test = page(file)
    assert what in page_text(test)
    assert "Nothing is stored yet." in page_text(test)
    held["go"].set()
    assert "Searched now" in texts(finish(search(test)))


@pytest.mark.slow
def test_a_search_replaces_the_stored_line_of_its_settings_and_nothing_that_is_proved(
    page: Callable[..., AppTest], held: dict[str, Any]
) -> None:
    test = page(**chosen(IMPOSSIBLE))
    search(test)
    assert "From the stored run" in texts(test)
    assert "Cancel" in buttons(test)
    held["found"] = (UNPROVEN,)
    held["go"].set()
    said = texts(finish(test))
    assert "Searched now, at ε = 1" in said
    assert "1 violated" in said
    assert box(test)[1].startswith("**Proved: violated.**")
    assert "Searched: within]" in said
    assert "Cancel" not in buttons(test)
    test.select_slider(key="audit-epsilon").set_value(0.1).run()
    assert "Stale for ε = 0.1" in texts(test)
    test = page(**chosen(VIOLATED), universe="2", epsilon="0.1")
    held["found"] = UnsupportedError("It cannot be listed.", remedy="Search elsewhere.")
    finish(search(test))
    assert "It cannot be listed." in page_text(test)
    asked = held["asked"]
    assert (asked["learner"], asked["epsilon"], asked["universes"]) == (VIOLATED.learner, 0.1, (audit_results.PLACES[1],))
    assert asked["grow_complete"] is True


@pytest.mark.slow
def test_the_real_search_is_run(page: Callable[..., AppTest]) -> None:
    test = page(universe="1", **chosen(HOLDS))
    assert "Searched now, at ε = 1." in texts(finish(search(test)))
    assert box(test)[0] == "success"
