"""A server with the lessons only: which pages it has, what it refuses, and a class whose guesses it counts."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.__main__ import main
from dpviz.app.learn.classroom import hour, seat, sheet
from dpviz.app.learn.classroom.room import MOST_CLASSES, MOST_GUESSES, Rooms
from dpviz.app.learn.course import LESSONS
from dpviz.app.learn.desk import option_names
from dpviz.commands.app import LESSONS_SCRIPT
from dpviz.errors import ClassroomError, RegisterError
from dpviz.installation import LESSONS_ONLY
from dpviz.release.register import ReleaseRegister
from tests.conftest import ROOT
from tests.pages.opened import texts


@pytest.fixture
def lessons_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LESSONS_ONLY, "1")


def served(**url: str) -> AppTest:
    at = AppTest.from_file(str(LESSONS_SCRIPT), default_timeout=60)
    for name, value in url.items():
        at.query_params[name] = value
    return at.run()


# --- the command


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines that would have become the server. What a start changes in this process is put back."""
    lines: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, words: lines.append(words))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.chdir(Path.cwd())
    return lines


@pytest.mark.parametrize(("address", "origin"), [("192.168.1.20", "http://192.168.1.20"), ("fd00::2", "http://[fd00::2]")])
def test_a_server_for_lessons_takes_no_upload_and_asks_nobody(started: list[list[str]], address: str, origin: str) -> None:
    assert main(["app", "--lessons", "--address", address, "--port", "8600"]) is None
    config = {"server.maxUploadSize": 0, "server.port": 8600, "server.address": address}
    assert started[0][-1].endswith(f"serve({str(LESSONS_SCRIPT)!r}, {origin!r}, {config!r})")
    assert os.environ[LESSONS_ONLY] == os.environ["DPVIZ_OFFLINE"] == "1"
    assert Path(".streamlit/config.toml").is_file()


def test_without_an_address_it_is_this_computer_only(started: list[list[str]]) -> None:
    assert main(["app", "--lessons"]) is None
    assert started[0][-1].endswith(f"serve({str(LESSONS_SCRIPT)!r}, None, {{'server.maxUploadSize': 0}})")


def test_the_whole_dashboard_gets_no_address_on_the_network(capsys: Any, started: list[list[str]]) -> None:
    assert main(["app", "--address", "192.168.1.20"]) == 2
    assert "listens on this computer only" in capsys.readouterr().err
    assert started == []
    assert LESSONS_ONLY not in os.environ


@pytest.mark.parametrize("address", ["school", "0.0.0.0", "::", "1.2.3", ""])
def test_an_address_that_no_link_can_hold_is_refused(capsys: Any, started: list[list[str]], address: str) -> None:
    assert main(["app", "--lessons", "--address", address]) == 2
    assert "--address" in capsys.readouterr().err
    assert started == []


# --- the pages


def test_its_pages_are_the_lessons_the_epsilons_and_the_hour() -> None:
    assert not (LESSONS_SCRIPT.parent / "pages").exists()  # Streamlit would serve them
    source = LESSONS_SCRIPT.read_text(encoding="utf-8")
    assert len(re.findall(r"st\.Page\(", source)) == 3
    assert re.findall(r"pages/(\w+)\.py", source) == ["epsilon"]


def test_the_script_does_not_run_as_a_whole_dashboard() -> None:
    at = served()
    assert len(at.exception) == 1
    assert not at.title


@pytest.mark.usefixtures("lessons_only")
def test_it_starts_with_the_first_lesson_and_leads_nowhere_else() -> None:
    at = served()
    assert not at.exception
    assert at.title[0].value == "Learn"
    at.radio[0].set_value("right").run()
    assert at.success
    assert not at.get("link_button")  # "Open this on a sample": there is no such page here
    assert not at.get("file_uploader")


@pytest.mark.usefixtures("lessons_only")
def test_no_page_of_the_dashboard_exists_there() -> None:
    at = served()
    others = [file for file in sorted((ROOT / "pages").glob("*.py")) if file.stem != "epsilon"]
    assert len(others) == 11
    for file in others:
        with pytest.raises(ValueError, match=r"(?i)page"):
            at.switch_page(str(file)).run()


@pytest.mark.usefixtures("lessons_only")
def test_it_refuses_to_read_or_write_a_register(tmp_path: Path) -> None:
    for use in (lambda book: book.data_sets(), lambda book: book.declare("x", epsilon_cap=1.0)):
        with pytest.raises(RegisterError) as problem:
            use(ReleaseRegister(tmp_path / "releases.db"))
        assert problem.value.code == "lessons"
    assert list(tmp_path.iterdir()) == []


# --- the room


def rooms() -> Rooms:
    return Rooms({"odds": 4, "noise": 3})


def test_guesses_are_counted_and_a_second_thought_replaces_the_first() -> None:
    them = rooms()
    room, other = them.start(), them.start()
    assert len({room.name, room.teacher, other.name, other.teacher}) == 4
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in (room.name, room.teacher))
    for option in (0, 1, 1, 3):
        them.guess(room.name, "odds", option)
    them.guess(room.name, "odds", 2, instead_of=1)
    assert them.counts(room.teacher, "odds") == (1, 1, 1, 1)
    assert them.counts(room.teacher, "noise") == (0, 0, 0)
    assert them.counts(other.teacher, "odds") == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("question", "option", "before"),
    [
        ("odds", 4, None),
        ("odds", -1, None),
        ("odds", True, None),
        ("odds", "1", None),
        ("odds", 1.0, None),
        ("odds", None, None),
        ("other", 0, None),
        ("odds", 0, 9),
        ("odds", 0, -1),
        ("odds", 0, 3),  # nobody has guessed 3
    ],
)
def test_a_forged_guess_is_refused_and_counts_nothing(question: str, option: Any, before: Any) -> None:
    them = rooms()
    room = them.start()
    them.guess(room.name, "odds", 1)
    with pytest.raises(ClassroomError) as problem:
        them.guess(room.name, question, option, instead_of=before)
    assert problem.value.code == "guess"
    assert problem.value.remedy
    assert them.counts(room.teacher, "odds") == (0, 1, 0, 0)


def test_an_unknown_class_is_refused_and_no_name_gives_both_powers() -> None:
    them = rooms()
    room = them.start()
    for use in (
        lambda: them.guess("0" * 32, "odds", 0),
        lambda: them.guess(room.teacher, "odds", 0),
        lambda: them.counts(room.name, "odds"),
        lambda: them.end(room.name),
    ):
        with pytest.raises(ClassroomError) as problem:
            use()
        assert problem.value.code == "unknown"
        assert room.name not in str(problem.value)
    them.end(room.teacher)
    with pytest.raises(ClassroomError):
        them.enter(room.name)


def test_classes_and_guesses_are_bounded() -> None:
    them = rooms()
    room = them.start()
    for _ in range(MOST_CLASSES - 1):
        them.start()
    with pytest.raises(ClassroomError) as problem:
        them.start()
    assert problem.value.code == "full"
    for _ in range(MOST_GUESSES):
        them.guess(room.name, "odds", 0)
    with pytest.raises(ClassroomError):
        them.guess(room.name, "odds", 0)
    them.guess(room.name, "odds", 1, instead_of=0)  # a second thought is no further guess
    assert them.counts(room.teacher, "odds") == (MOST_GUESSES - 1, 1, 0, 0)
    them.end(room.teacher)
    them.start()


# --- the class on screen


@pytest.fixture
def room(lessons_only: None) -> Any:
    started = seat.ROOMS.start()
    yield started
    seat.ROOMS.end(started.teacher)


def test_a_pupils_guess_reaches_the_teachers_screen_once(room: Any) -> None:
    at = served(**{"class": room.name})
    assert sum(seat.ROOMS.counts(room.teacher, "odds")) == 0
    for option in ("low", "right"):
        at.radio[0].set_value(option).run()
    at.run()
    place = option_names("odds").index("right")
    assert list(seat.ROOMS.counts(room.teacher, "odds")) == [int(i == place) for i in range(4)]
    assert "without your name" in texts(at)
    screen = served(teacher=room.teacher)
    assert "**1** guessed so far." in texts(screen)
    assert room.name not in texts(screen)
    assert "1 of 1 guessed right" in hour.summary(room.teacher)


def test_a_session_in_two_classes_has_a_guess_in_each_and_replaces_nobody_elses(room: Any) -> None:
    other = seat.ROOMS.start()
    low, right = (option_names("odds").index(name) for name in ("low", "right"))
    first = served(**{"class": other.name})
    first.radio[0].set_value("low").run()
    moving = served(**{"class": room.name})
    moving.radio[0].set_value("low").run()
    moving.query_params["class"] = other.name
    moving.radio[0].set_value("right").run()
    first.run()
    counts = [seat.ROOMS.counts(each.teacher, "odds") for each in (room, other)]
    assert [(each[low], each[right], sum(each)) for each in counts] == [(1, 0, 1), (1, 1, 2)]
    assert "**1** guessed so far." in texts(served(teacher=room.teacher))
    seat.ROOMS.end(other.teacher)
    assert sum(seat.ROOMS.counts(room.teacher, "odds")) == 1


def test_a_class_that_is_not_there_is_an_error_and_the_lessons_go_on(lessons_only: None) -> None:
    at = served(**{"class": "f" * 32})
    assert "no such class" in at.error[0].value
    at.radio[0].set_value("right").run()
    assert at.success
    assert "no such class" in served(teacher="f" * 32).error[0].value


def test_without_a_class_nothing_is_counted(room: Any) -> None:
    served().radio[0].set_value("right").run()
    assert sum(seat.ROOMS.counts(room.teacher, "odds")) == 0


# --- link and paper


def test_the_link_holds_the_class_and_nothing_of_the_teacher() -> None:
    link = hour.class_link("http://192.168.1.20:8501/hour?teacher=secret#x", "abc")
    assert link == "http://192.168.1.20:8501/?class=abc"


def test_the_plan_fills_one_class_hour_without_a_gap() -> None:
    rows = sheet.plan_rows()
    ends = [tuple(map(int, row["Minutes"].split(" to "))) for row in rows]
    assert ends[0][0] == 0
    assert ends[-1][1] == 45
    assert all(before[1] == after[0] for before, after in pairwise(ends))
    assert [row["Part"] for row in rows[1:-1]] == [lesson.name for lesson in LESSONS]


@pytest.mark.slow
def test_the_sheet_asks_every_question_and_fetches_nothing() -> None:
    paper = sheet.sheet("http://192.168.1.20:8501/?class=abc")
    assert paper.count("<section>") == len(LESSONS)
    assert paper.count("☐") == sum(len(option_names(lesson.text)) for lesson in LESSONS)
    assert "?class=abc" in paper
    assert paper.count("<img") == 1
    assert re.findall(r'src="([^,"]*)', paper) == ["data:image/svg+xml;charset=utf-8"]
    assert not re.search(r"href=|url\(|@import|<script|\*", paper)
    assert "<img" not in sheet.sheet(None)
