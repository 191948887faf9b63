"""The lessons in one file: complete, with an answer for every guess and a picture for every value of a control."""

import json
import re

import pytest

from dpviz.app.learn.course import LESSONS
from dpviz.app.learn.desk import option_names
from dpviz.app.learn.handout import CONTROLS, handout

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page():
    return handout()


def test_every_lesson_has_its_question_its_answers_and_a_picture_for_every_value(page):
    pictures = json.loads(re.search(r'id="pictures">(.*?)</script>', page, re.DOTALL)[1])
    assert list(pictures) == [lesson.text for lesson in LESSONS]
    for lesson in LESSONS:
        frames = pictures[lesson.text]
        assert len(frames) == len(CONTROLS[lesson.text].values)
        assert all(frame["data"] and frame["words"] for frame in frames)
        assert len({json.dumps(frame["data"]) for frame in frames}) > 1
        section = page[page.index(f'<section id="{lesson.text}">') :]
        assert all(f'name="{lesson.text}" value="{name}"' in section for name in option_names(lesson.text))


def test_no_number_is_left_open_and_nothing_is_fetched(page):
    words = page[page.index("<main>") : page.index("</main>")]
    assert re.findall(r"\{\w+\}", words) == []
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert re.findall(r"(?:src|href|url)\s*[=(]", outside) == []
