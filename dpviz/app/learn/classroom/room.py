"""The guesses of classes, as counts. They live in the server's memory and hold nothing about a person.

A class has two unguessable names: one for the class, which lets a guess in, and one for its teacher, which shows the counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

from dpviz.errors import ClassroomError
from dpviz.randomness import random_128_bits

#: Classes on one server, and guesses at one question of a class.
MOST_CLASSES, MOST_GUESSES = 20, 500


@dataclass(frozen=True, slots=True)
class Room:
    """One class: `name` is in its link, `teacher` in the address of the teacher's screen only, each 32 hexadecimal digits.

    `counts` says for each question how often each of its options was guessed.
    """

    name: str
    teacher: str
    counts: dict[str, list[int]]


class Rooms:
    """All classes of one server, which are asked these `questions`: name -> number of its options. Nothing else is taken."""

    def __init__(self, questions: Mapping[str, int]) -> None:
        self._questions = dict(questions)
        self._rooms: dict[str, Room] = {}
        self._lock = Lock()

    def start(self) -> Room:
        """A new class. Raises ClassroomError when there are too many."""
        name, teacher = (f"{random_128_bits():032x}" for _ in range(2))
        with self._lock:
            if len(self._rooms) >= MOST_CLASSES:
                remedy = "End one of them, or start the server again."
                raise ClassroomError("full", f"This server already holds {MOST_CLASSES} classes.", remedy=remedy)
            self._rooms[name] = Room(name, teacher, {question: [0] * count for question, count in self._questions.items()})
            return self._rooms[name]

    def end(self, teacher: str) -> None:
        """Forget a class and its counts. Raises ClassroomError when there is none."""
        room = self.of_teacher(teacher)
        with self._lock:
            self._rooms.pop(room.name, None)

    def of_teacher(self, teacher: str) -> Room:
        """The class of this teacher. Raises ClassroomError when there is none."""
        with self._lock:
            found = [room for room in self._rooms.values() if room.teacher == teacher]
        if not found:
            raise ClassroomError("unknown", "There is no such class on this server.", remedy="Start a class.")
        return found[0]

    def enter(self, name: str) -> Room:
        """The class of this name. Raises ClassroomError when there is none."""
        with self._lock:
            room = self._rooms.get(name)
        if room is None:
            remedy = "Ask for the link of your class."
            raise ClassroomError("unknown", "There is no such class on this server.", remedy=remedy)
        return room

    def guess(self, name: str, question: str, option: int, *, instead_of: int | None = None) -> None:
        """Count a guess, and no longer count the one that it replaces.

        Raises ClassroomError, and counts nothing, for an unknown class, for a guess that is none of the options, and when
        MOST_GUESSES are reached.
        """
        room = self.enter(name)
        with self._lock:
            self._check(room, question, option, instead_of)
            counts = room.counts[question]
            if instead_of is not None:
                counts[instead_of] -= 1
            counts[option] += 1

    def counts(self, teacher: str, question: str) -> tuple[int, ...]:
        """How often each option was guessed. Raises ClassroomError for an unknown class."""
        room = self.of_teacher(teacher)
        with self._lock:
            return tuple(room.counts[question])

    def _check(self, room: Room, question: str, option: int, instead_of: int | None) -> None:
        n_options = self._questions.get(question, 0)
        for number in (option,) if instead_of is None else (option, instead_of):
            if type(number) is not int or not 0 <= number < n_options:
                remedy = "Choose one of the answers on screen."
                raise ClassroomError("guess", "This is not one of the answers to the question.", remedy=remedy)
        counts = room.counts[question]
        if instead_of is not None and not counts[instead_of]:
            raise ClassroomError("guess", "The guess to be replaced was never counted.", remedy="Load the page again.")
        if instead_of is None and sum(counts) >= MOST_GUESSES:
            what = f"This question has {MOST_GUESSES} guesses already."
            raise ClassroomError("full", what, remedy="Ask your teacher to start another class.")
