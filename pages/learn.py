"""Page "Learn": short lessons. Guess first, see the answer, then move the control."""

from functools import partial

from dpviz.app import frame, parts
from dpviz.app.learn import course

parts.page("Learn", "All rows are made up.")

lesson = course.choose()
shown = course.teach(lesson)
frame.go_on("learn")
frame.as_python(partial(course.as_python, lesson, shown))
