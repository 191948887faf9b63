from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.__main__ import main
from dpviz.app import prose
from dpviz.app.learn.lessons import ANSWERED, LESSONS, MAX_SEED
from dpviz.cli import app
from dpviz.cli.app import LESSONS_SCRIPT
from dpviz.errors import RegisterError
from dpviz.evaluation.lessons import BROKEN, COMPLETE
from dpviz.installation import LESSONS_ONLY
from dpviz.io.samples import samples
from dpviz.release.register import Register
from tests.support.pages import button, click, open_page, page_text, texts
from tests.support.paths import ROOT, SOON

NAMES = [lesson.name for lesson in LESSONS]
#: What the control of a lesson is moved to; it is epsilon in the others.
MOVED = {"Adding up": ("features", "3")}
BY_NAME = {lesson.name: lesson for lesson in LESSONS}


def lesson_page(name, **url):
    return open_page("learn", lesson=name, **url)


#: The page of a lesson, opened once for all who only look at it.
seen = cache(lesson_page)


def guess(test, option="right"):
    test.radio[0].set_value(option).run()
    assert not test.exception, [found.message for found in test.exception]
    return test


def sliders(test):
    """What the view of every slider holds, by the key of its value."""
    views = [view for view in test.main.get("bidi_component") if view.key.endswith("-slider")]
    return {view.key.removesuffix("-slider"): json.loads(view.proto.json) for view in views}


def moved(test, key, value):
    test.session_state[key] = value
    return test.run()


def are_disabled(test):
    """Of everything a lesson's picture follows."""
    widgets = [found for kind in (test.number_input, test.button_group) for found in kind if found.key != "lesson"]
    return {data["disabled"] for data in sliders(test).values()} | {found.disabled for found in widgets}


def charts(test):
    return test.get("plotly_chart")


@pytest.mark.slow
def test_permute_and_flip_is_played_coin_by_coin():
    test = guess(lesson_page("Choosing"))
    assert len(charts(test)) == 1
    for n_coins in range(1, 5):
        click(test, "Flip the next coin")
        assert texts(test).count("of flips. It shows") == n_coins
        if "is chosen" in texts(test):
            break
    assert "is chosen" in texts(test)
    assert button(test, "Flip the next coin").disabled
    assert len(charts(click(test, "Another choice"))) == 1


def sample_link(test):
    return [urlsplit(found.proto.url) for found in test.get("link_button")]


@pytest.mark.slow
def test_of_two_tables_one_is_ones_own_and_two_missing_rows_double_the_exponent():
    test = guess(lesson_page("Noise"))
    test.button_group(key="noise.late").set_value(["1"]).run()
    assert "True counts 1 and 1" in charts(test)[0].proto.alt
    assert "noise.late" not in test.query_params, "it stays out of the link"
    test.button_group(key="noise.missing").set_value(["3", "5"]).run()
    assert "not neighbours" in texts(test)
    assert "7.39" in charts(test)[0].proto.alt
    test.button_group(key="noise.missing").set_value([]).run()
    assert "The tables are the same." in texts(test)


@pytest.mark.slow
def test_the_tables_that_refute_the_proof_are_shown_from_two_features_on():
    test = guess(lesson_page("Adding up"))
    moved(test, "adding.features", 1)
    assert "The tree that tells them apart" not in texts(test)
    before = len(test.dataframe)
    moved(test, "adding.features", 4)
    assert len(test.dataframe) > before
    assert "**The tree that tells them apart**" in texts(test)


@pytest.mark.slow
def test_the_step_button_draws_node_after_node_and_stops():
    test = guess(lesson_page("Growing"))
    for step in (1, 2, 3):
        click(test, "Draw the next node")
        assert sliders(test)["growing.steps"]["epsilon"] == step
        assert "drawn:" in charts(test)[0].proto.alt
    assert button(test, "Draw the next node").disabled
    assert "One person has paid ε = 2 (add/remove one person) in all." in texts(test)


def test_the_seed_of_a_tree_stands_in_the_way_to_the_sample_digit_for_digit():
    test = guess(lesson_page("Growing"))
    for seed in (1_234, MAX_SEED):
        test.number_input(key="growing.seed").set_value(seed).run()
        assert not test.exception
        (link,) = sample_link(test)
        assert dict(parse_qsl(link.query))["draw"] == str(seed)


# --- what every lesson does


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_asks_before_it_answers_and_opens_on_a_sample_after_it(name):
    """Without a sample chosen: a picture in words, a question no control answers, then the number, and the way to a real page."""
    lesson, test = BY_NAME[name], lesson_page(name)
    said = texts(test)
    assert "Guess first." in said
    assert "add/remove one person" in charts(test)[0].proto.alt
    assert all(len(table.value) for table in test.dataframe)
    assert test.radio[0].value is None
    assert not [*test.success, *test.info]
    assert are_disabled(test) == {True}
    assert sample_link(test) == []
    before = charts(test)[0].proto.alt
    guess(test)
    right = lesson.question()
    assert any(value in test.success[0].value for key, value in right.items() if key in ("right", "found", "two"))
    assert charts(test)[0].proto.alt in texts(test)
    assert are_disabled(test) == {False}
    assert test.session_state[ANSWERED] == {lesson.text}
    assert f"1 of {len(LESSONS)} questions answered" in texts(test)
    for control, value in lesson.settings.items():
        assert sliders(test)[f"{lesson.text}.{control}"]["epsilon"] == value
        assert charts(test)[0].proto.alt != before
    (link,) = sample_link(test)
    given = dict(parse_qsl(link.query))
    page = open_page(link.path, **given)
    assert not page.exception
    assert page.title[0].value.lower() == lesson.sample.page
    assert given["data"] in {sample.name for sample in samples()}
    assert page.selectbox(key="learner").value == lesson.sample.learner
    assert f"{page.session_state['epsilon']:g}" == given["epsilon"]
    if "draw" in given:
        assert page.number_input(key="draw").value == int(given["draw"])
    assert all(page.toggle(key=key).value for key, value in given.items() if value == "true")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_of_a_lesson_s_options_one_is_right_and_a_wrong_one_is_answered_with_the_number(name):
    options = [line.partition(":")[0] for line in prose.sections(f"learn/{BY_NAME[name].text}")["options"].splitlines()]
    assert options.count("right") == 1
    test = seen(name)
    assert len({re.sub(r"\W", "", option) for option in test.radio[0].options}) == len(options) >= 3
    test = guess(lesson_page(name), next(option for option in options if option != "right"))
    assert not [*test.success, *test.error]
    assert "**" in test.info[0].value


@pytest.mark.slow
@pytest.mark.parametrize("name", [NAMES[0], pytest.param("Adding up", marks=pytest.mark.slow), "Growing"])
def test_an_address_sets_the_controls_and_nonsense_in_it_gives_the_default(name):
    lesson = BY_NAME[name]
    control, value = MOVED.get(name, ("epsilon", "0.3" if name != "Epsilon" else "2"))
    key = f"{lesson.text}.{control}"
    shown = seen(name, **{key: value})
    assert f"{sliders(shown)[key]['epsilon']:g}" == value
    as_it_comes = charts(seen(name))[0].proto.alt
    assert as_it_comes != charts(shown)[0].proto.alt
    for nonsense in ("-1", "x", "99999999999", "", "1e9"):
        assert charts(seen(name, **{key: nonsense}))[0].proto.alt == as_it_comes


@pytest.mark.slow
def test_a_walk_through_all_lessons_remembers_answers_and_skips():
    test = guess(lesson_page(NAMES[0]))
    for name in NAMES[1:]:
        click(test, f"Next: {name}")
        assert test.header[0].value == prose.prose(f"learn/{BY_NAME[name].text}", "title")
    assert button(test, "Next").disabled
    click(test, "Skip")
    assert are_disabled(test) == {False}
    assert not test.success
    assert f"1 of {len(LESSONS)} questions answered" in texts(test)
    click(test, f"Previous: {NAMES[-2]}")
    assert test.header[0].value == prose.prose(f"learn/{BY_NAME[NAMES[-2]].text}", "title")


@pytest.mark.slow
def test_the_refuted_proof_is_the_sample_s_and_the_answer_is_the_number_of_the_picture():
    sample = BY_NAME["Adding up"].sample
    assert sample.learner == BROKEN
    assert set(sample.settings) - {"epsilon"} == {f"{BROKEN}.{name}" for name in COMPLETE}
    poison = guess(lesson_page("Poisoning", **{"poisoning.epsilon": "0.1"}))
    assert f"up to {BY_NAME['Poisoning'].question()['right']} rows" in charts(poison)[0].proto.alt


@pytest.mark.slow
def test_what_others_published_with_follows_its_slider_and_names_its_sources():
    test = open_page("learn", lesson="What others use", **{"good-epsilon": "2"})
    said = page_text(test).replace("\n", " ")
    for words in (
        "ε = 2 (add/remove one person): odds of 7.39 to 1 at most",
        "entries give an ε",
        "nobody has reviewed them yet",
    ):
        assert words in said
    assert len(charts(test)) == 2
    assert all(chart.proto.alt for chart in charts(test))
    test.select_slider(key="good-epsilon").set_value(0.1).run()
    assert "of them are below 0.1" in page_text(test)


# --- a server with the lessons only: which pages it has, and what it refuses.


@pytest.fixture
def lessons_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LESSONS_ONLY, "1")


def served(**url: str) -> AppTest:
    at = AppTest.from_file(str(LESSONS_SCRIPT), default_timeout=SOON)
    for name, value in url.items():
        at.query_params[name] = value
    return at.run()


# --- the command


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines that would have become the server. What a start changes in this process is put back."""
    lines: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, words: lines.append(words))
    monkeypatch.setattr(app, "_require_own", lambda address: None)  # any address is one of this computer's
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.chdir(Path.cwd())
    return lines


@pytest.mark.parametrize(
    ("address", "origin"),
    [(None, None), ("192.168.1.20", "http://192.168.1.20"), ("fd00::2", "http://[fd00::2]")],
)
def test_a_server_for_lessons_takes_no_upload_and_asks_nobody(started: list[list[str]], address: str, origin: str) -> None:
    assert main(["app", "--lessons", *(("--address", address, "--port", "8600") if address else ())]) is None
    config = {"server.maxUploadSize": 0} | ({"server.port": 8600, "server.address": address} if address else {})
    assert started[0][-1].endswith(f"serve({str(LESSONS_SCRIPT)!r}, {origin!r}, {config!r})")
    assert os.environ[LESSONS_ONLY] == "1"
    assert Path(".streamlit/config.toml").is_file()


@pytest.mark.parametrize("address", ["school", "0.0.0.0", "::", "1.2.3", "", "192.168.1.20"])
def test_neither_an_address_that_no_link_can_hold_nor_one_of_the_whole_dashboard_is_served(capsys, started, address) -> None:
    assert main(["app", *(["--lessons"] if address != "192.168.1.20" else []), "--address", address]) == 2
    assert "--address" in capsys.readouterr().err
    assert started == []
    assert LESSONS_ONLY not in os.environ


# --- the pages


def test_the_script_does_not_run_as_a_whole_dashboard() -> None:
    at = served()
    assert len(at.exception) == 1
    assert not at.title


@pytest.mark.usefixtures("lessons_only")
def test_it_starts_with_the_first_lesson_leads_nowhere_else_and_has_no_register(tmp_path: Path) -> None:
    at = served()
    assert not at.exception
    assert at.title[0].value == "Learn"
    at.radio[0].set_value("right").run()
    assert at.success
    assert not at.get("link_button")  # "Open this on a sample": there is no such page here
    assert not at.get("file_uploader")
    others = [file for file in sorted((ROOT / "pages").glob("*.py")) if file.stem != "learn"]
    assert len(others) >= 5
    for file in others:
        with pytest.raises(ValueError, match=r"(?i)page"):
            at.switch_page(str(file)).run()
    for use in (lambda book: book.data_sets(), lambda book: book.declare("x", epsilon_cap=1.0)):
        with pytest.raises(RegisterError) as problem:
            use(Register(tmp_path / "releases.db"))
        assert problem.value.code == "lessons"
    assert list(tmp_path.iterdir()) == []
