import json
import re
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from dpviz.app import prose
from dpviz.app.learn import course
from dpviz.app.learn.course import LESSONS, teacher_link
from dpviz.app.learn.desk import ANSWERED
from dpviz.evaluation.learn.lessons import COMPLETE, broken_proof
from dpviz.io.samples import samples
from tests.support.pages import opened, texts

TEXTS = Path(prose.__file__).parent / "texts" / "learn"
NAMES = [lesson.name for lesson in LESSONS]
#: What the control of a lesson is moved to; it is epsilon in the others.
MOVED = {"Adding up": ("features", "3")}
BY_NAME = {lesson.name: lesson for lesson in LESSONS}


def lesson_page(name, **url):
    return opened("learn", lesson=name, **url)


#: The page of a lesson, opened once for all who only look at it.
seen = cache(lesson_page)
#: What every lesson does by the same code: two of them in the fast tests.
LIKE_THE_OTHERS = [pytest.param(name, marks=[] if name in ("Epsilon", "Growing") else pytest.mark.slow) for name in NAMES]


def guess(test, option="right"):
    test.radio[0].set_value(option).run()
    assert not test.exception, [found.message for found in test.exception]
    return test


def controls(test):
    """Everything a lesson's picture follows."""
    kinds = (test.select_slider, test.number_input, test.button_group)
    return [found for kind in kinds for found in kind if found.key != "lesson"]


def charts(test):
    return test.get("plotly_chart")


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name == "Adding up" else name for name in NAMES])
def test_a_lesson_opens_with_its_claim_its_question_and_its_picture(name):
    test = seen(name)
    said = texts(test)
    assert test.title[0].value == "Learn"
    assert "Guess first." in said
    assert "made up" in said
    assert len(charts(test)) == 1
    assert "add/remove one row" in "".join((said, charts(test)[0].proto.spec, *(found.label for found in controls(test))))
    assert "add/remove one row" in charts(test)[0].proto.alt
    assert len(test.dataframe) >= 1
    assert all(len(table.value) for table in test.dataframe)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_before_a_guess_no_answer_is_given_and_no_control_moves(name):
    test = seen(name)
    assert test.radio[0].value is None
    assert not test.success
    assert not test.info
    assert controls(test)
    assert all(found.disabled for found in controls(test))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_a_right_guess_is_praised_with_the_number_and_frees_the_controls(name):
    test = guess(lesson_page(name))
    right = BY_NAME[name].question()
    assert test.success[0].value.startswith("Yes")
    assert any(value in test.success[0].value for key, value in right.items() if key in ("right", "found", "two"))
    assert "**Try it.**" in texts(test)
    assert charts(test)[0].proto.alt in texts(test)
    assert not any(found.disabled for found in controls(test))
    assert test.session_state[ANSWERED] == {BY_NAME[name].text}
    assert f"1 of {len(LESSONS)} questions answered" in texts(test)


def options_of(name):
    return [line.partition(":")[0] for line in prose.sections(f"learn/{BY_NAME[name].text}")["options"].splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_one_option_is_right(name):
    assert options_of(name).count("right") == 1


def wrong_guesses():
    for name in NAMES:
        first, *others = (option for option in options_of(name) if option != "right")
        yield pytest.param(name, first, id=name)
        yield from (pytest.param(name, option, id=f"{name}-{option}", marks=pytest.mark.slow) for option in others)


@pytest.mark.parametrize(("name", "option"), list(wrong_guesses()))
def test_every_wrong_guess_is_answered_kindly_with_the_same_number(name, option):
    test = guess(lesson_page(name), option)
    assert not test.success
    assert not test.error
    assert "**" in test.info[0].value


@pytest.mark.parametrize("name", NAMES)
def test_the_options_of_a_question_differ(name):
    options = seen(name).radio[0].options
    assert len(options) >= 3
    assert len({re.sub(r"\W", "", option) for option in options}) == len(options)


@pytest.mark.parametrize("name", [name for name in NAMES if BY_NAME[name].asked])
def test_after_a_guess_the_picture_shows_what_was_asked(name):
    (control, value), *_ = BY_NAME[name].asked.items()
    key = f"{BY_NAME[name].text}.{control}"
    assert seen(name).select_slider(key=key).value != value
    test = guess(lesson_page(name))
    assert test.select_slider(key=key).value == value
    assert f"{value:g}" in charts(test)[0].proto.alt
    for link in ({"lock": control}, {"hide": "answer"}):  # the teacher decides
        assert guess(lesson_page(name, **link)).select_slider(key=key).value != value


def test_permute_and_flip_is_played_coin_by_coin():
    test = guess(lesson_page("Choosing"))

    def press(label):
        next(button for button in test.button if button.label == label).click().run()
        assert not test.exception

    assert len(charts(test)) == 1
    for n_coins in range(1, 5):
        press("Flip the next coin")
        assert len(json.loads(charts(test)[1].proto.spec)["data"]) == n_coins
        if "is chosen" in charts(test)[1].proto.alt:
            break
    assert "is chosen" in texts(test)
    assert next(button for button in test.button if button.label == "Flip the next coin").disabled
    press("Another choice")
    assert len(charts(test)) == 1


@pytest.mark.parametrize("name", LIKE_THE_OTHERS)
def test_a_question_can_be_skipped(name):
    test = lesson_page(name)
    next(button for button in test.button if button.label == "Skip").click().run()
    assert not any(found.disabled for found in controls(test))
    assert not test.success
    assert f"0 of {len(LESSONS)} questions answered" in texts(test)
    assert not [button for button in test.button if button.label == "Skip"]


@pytest.mark.slow
def test_buttons_walk_through_all_and_back():
    test = lesson_page(NAMES[0])
    for name in NAMES[1:]:
        next(button for button in test.button if button.label == f"Next: {name}").click().run()
        assert not test.exception
        assert test.header[0].value == prose.prose(f"learn/{BY_NAME[name].text}", "title")
    assert next(button for button in test.button if button.label == "Next").disabled
    next(button for button in test.button if button.label == f"Previous: {NAMES[-2]}").click().run()
    assert test.header[0].value == prose.prose(f"learn/{BY_NAME[NAMES[-2]].text}", "title")


@pytest.mark.slow
def test_answers_are_remembered_while_walking_on():
    test = guess(lesson_page(NAMES[0]))
    test = guess(next(button for button in test.button if button.label.startswith("Next:")).click().run(), "twice")
    assert f"2 of {len(LESSONS)} questions answered" in texts(test)


def sample_link(test):
    return [urlsplit(found.proto.url) for found in test.get("link_button")]


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name == "Adding up" else name for name in NAMES])
def test_after_the_guess_a_lesson_opens_on_a_sample(name):
    assert sample_link(seen(name)) == []
    (link,) = sample_link(guess(lesson_page(name)))
    given = dict(parse_qsl(link.query))
    test = opened(link.path, **given)
    use_sample = BY_NAME[name].sample
    assert not test.exception
    assert test.title[0].value.lower() == use_sample.page
    assert given["data"] in {sample.name for sample in samples()}
    assert test.selectbox(key="learner").value == use_sample.learner
    assert f"{test.session_state['epsilon']:g}" == given["epsilon"]
    if "draw" in given:
        assert test.number_input(key="draw").value == int(given["draw"])
    assert all(test.toggle(key=key).value for key, value in given.items() if value == "true")


def test_the_sample_opens_with_what_the_lesson_shows():
    (link,) = sample_link(guess(lesson_page("Growing", **{"growing.seed": "12", "growing.epsilon": "4"})))
    assert link.path == "tree"
    assert dict(parse_qsl(link.query)) == {"data": "loans", "learner": "PF-tree", "epsilon": "4", "draw": "12"}


def test_the_refuted_proof_of_the_lesson_is_refuted_on_the_sample():
    assert BY_NAME["Adding up"].sample.learner == broken_proof().name
    (settings,) = [set(BY_NAME["Adding up"].sample.settings) - {"epsilon"}]
    assert settings == {f"{broken_proof().name}.{COMPLETE}"}


# --- controls and links


@pytest.mark.parametrize("name", NAMES)
def test_a_link_brings_back_a_setting_and_the_picture_follows(name):
    lesson = BY_NAME[name]
    control, value = MOVED.get(name, ("epsilon", "0.3" if name != "Epsilon" else "2"))
    test = lesson_page(name, **{f"{lesson.text}.{control}": value})
    assert f"{test.select_slider(key=f'{lesson.text}.{control}').value:g}" == value
    said = charts(test)[0].proto.alt
    assert charts(seen(name))[0].proto.alt != said


@pytest.mark.parametrize("name", LIKE_THE_OTHERS)
def test_a_locked_control_shows_its_value_and_stays_locked_after_the_guess(name):
    lesson = BY_NAME[name]
    control = lesson.controls[0]
    test = guess(lesson_page(name, lock=control))
    locked = [found for found in controls(test) if found.key == f"{lesson.text}.{control}"]
    assert [found.disabled for found in locked] == [True]
    assert all(not found.disabled for found in controls(test) if found.key != f"{lesson.text}.{control}")


@pytest.mark.parametrize("name", LIKE_THE_OTHERS)
def test_a_hidden_control_keeps_what_the_link_says(name):
    lesson = BY_NAME[name]
    control, value = MOVED.get(name, ("epsilon", "1"))
    link = {f"{lesson.text}.{control}": value}
    shown, hidden = seen(name, **link), lesson_page(name, **link, hide=control)
    assert not [found for found in controls(hidden) if found.key == f"{lesson.text}.{control}"]
    assert charts(hidden)[0].proto.alt == charts(shown)[0].proto.alt


@pytest.mark.parametrize(("hide", "link"), [("seed", {"growing.seed": "7"}), ("steps", {"growing.steps": "2"})])
def test_seed_and_steps_can_be_hidden_too(hide, link):
    shown, hidden = lesson_page("Growing", **link), lesson_page("Growing", **link, hide=hide)
    assert charts(hidden)[0].proto.alt == charts(shown)[0].proto.alt
    assert len(hidden.button) == len(shown.button) - 1  # the button that would move it is gone too


@pytest.mark.parametrize("nonsense", ["-1", "0", "x", "99999999999", "", "1e9"])
def test_nonsense_for_a_hidden_control_gives_its_default(nonsense):
    plain = seen("Growing", hide="seed,epsilon")
    test = lesson_page("Growing", hide="seed,epsilon", **{"growing.seed": nonsense, "growing.epsilon": nonsense})
    assert not test.exception
    assert charts(test)[0].proto.alt == charts(plain)[0].proto.alt


@pytest.mark.parametrize("name", LIKE_THE_OTHERS)
def test_a_teacher_can_keep_the_answer(name):
    test = guess(lesson_page(name, hide="answer"))
    assert not test.success
    assert "keeps the answer" in test.info[0].value
    assert not any(found.disabled for found in controls(test))


@pytest.mark.parametrize("name", LIKE_THE_OTHERS)
def test_without_a_question_the_controls_are_free_at_once(name):
    test = lesson_page(name, hide="question")
    assert not test.radio
    assert not any(found.disabled for found in controls(test))


def links_in(test):
    return [found for found in test.code if found.language == "plaintext"]


def test_the_teachers_link_is_offered_unless_the_link_is_one():
    assert len(links_in(lesson_page("Growing"))) == 1
    assert not links_in(lesson_page("Growing", lock="seed"))
    assert not links_in(lesson_page("Growing", hide="answer"))


def test_the_teachers_link_holds_lesson_settings_seed_locks_and_no_guess():
    test = guess(lesson_page("Growing", **{"growing.seed": "12"}))
    test.multiselect(key="_teacher_lock_growing").set_value(["epsilon", "seed"])
    test.multiselect(key="_teacher_hide_growing").set_value(["answer"]).run()
    link = test.code[0].value
    for part in ("lesson=Growing", "growing.seed=12", "growing.epsilon=2", "lock=epsilon,seed", "hide=answer"):
        assert part in link
    assert "guess" not in link


def test_the_persons_own_table_stays_out_of_the_link():
    test = guess(lesson_page("Noise"))
    test.button_group(key="noise.late").set_value(["1"]).run()
    assert "True counts 1 and 1" in charts(test)[0].proto.alt
    assert "late" not in test.code[0].value
    assert "noise.missing=3" in test.code[0].value


def test_a_link_replaces_what_the_address_said_before():
    link = teacher_link("http://localhost:1/learn?lesson=Noise&lock=x#y", LESSONS[0], {"odds.epsilon": ["1"]}, [], [])
    assert link == "http://localhost:1/learn?lesson=Epsilon&odds.epsilon=1"


# --- single lessons


def test_two_missing_rows_are_no_neighbours_and_double_the_exponent():
    test = guess(lesson_page("Noise"))
    test.button_group(key="noise.missing").set_value(["3", "5"]).run()
    said = texts(test)
    assert "not neighbours" in said
    assert "7.39" in charts(test)[0].proto.alt
    test.button_group(key="noise.missing").set_value([]).run()
    assert "The tables are the same." in texts(test)


def test_counts_of_the_person_are_chosen_from():
    test = guess(lesson_page("Choosing"))
    test.select_slider(key="choosing.epsilon").set_value(0.1)
    test.number_input(key="choosing.poems").set_value(100).run()
    assert "over 99.9%" in charts(test)[0].proto.alt


def test_the_tables_that_refute_the_proof_are_shown_from_two_features_on():
    test = guess(lesson_page("Adding up"))
    test.select_slider(key="adding.features").set_value(1).run()
    assert "have a chance" not in texts(test)
    before = len(test.dataframe)
    test.select_slider(key="adding.features").set_value(4).run()
    assert len(test.dataframe) > before
    assert "**The tree that tells them apart**" in texts(test)


def test_the_step_button_draws_node_after_node_and_stops():
    test = guess(lesson_page("Growing"))
    for step in (1, 2, 3):
        draw = next(button for button in test.button if button.label == "Draw the next node")
        assert not draw.disabled
        draw.click().run()
        assert not test.exception
        assert test.select_slider(key="growing.steps").value == step
        assert "drawn:" in charts(test)[0].proto.alt
    assert next(button for button in test.button if button.label == "Draw the next node").disabled
    assert "The tree is complete. One row has paid ε = 2 (add/remove one row) in all." in texts(test)


def test_another_seed_is_another_tree():
    drawn = set()
    for seed in range(1, 6):
        drawn.add(charts(lesson_page("Growing", **{"growing.steps": "1", "growing.seed": str(seed)}))[0].proto.alt)
    assert len(drawn) > 2
    test = guess(lesson_page("Growing"))
    next(button for button in test.button if button.label == "Another seed").click().run()
    assert test.number_input(key="growing.seed").value == 2


def test_the_poison_question_is_answered_by_the_bound_on_screen():
    test = guess(lesson_page("Poisoning", **{"poisoning.epsilon": "0.1"}))
    right = BY_NAME["Poisoning"].question()["right"]
    assert f"up to {right} rows" in charts(test)[0].proto.alt


# --- texts


@pytest.mark.parametrize("file", sorted(TEXTS.glob("*.md")), ids=lambda file: file.stem)
def test_no_number_is_written_into_the_texts(file):
    assert re.findall(r"\d", file.read_text(encoding="utf-8")) == []


def test_every_lesson_has_its_texts_and_uses_all_its_numbers():
    for lesson in LESSONS:
        sections = prose.sections(f"learn/{lesson.text}")
        assert {"title", "claim", "question", "options", "answer", "try"} <= set(sections)
        named = set(re.findall(r"{(\w+)}", "".join(sections.values())))
        assert set(lesson.question()) <= named


def test_lessons_have_names_of_their_own():
    assert len(LESSONS) == len(set(NAMES)) == len({lesson.text for lesson in LESSONS})
    assert {file.stem for file in TEXTS.glob("*.md")} == {"page", *(lesson.text for lesson in LESSONS)}
    assert {path.stem for path in Path(course.__file__).parent.glob("*.py")} >= {lesson.text for lesson in LESSONS}
