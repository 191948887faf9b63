"""Page "Learn": six short lessons. Guess first, see the answer, then move the control."""

from dpviz.app import parts
from dpviz.app.learn import course

parts.page("Learn", "Why does it work? Six short lessons: guess, see the answer, then move the control.")

lesson = course.choose()
course.teach(lesson)
