"""What is on paper: the plan of the hour, and an exercise sheet as one HTML file with nothing to fetch."""

import re
from html import escape
from pathlib import Path

from dpviz.app.learn.course import LESSONS, Lesson
from dpviz.app.learn.desk import options_of
from dpviz.app.prose import prose

#: Minutes of a class hour.
OPENING, LESSON, CLOSING = 5, 5, 5
_TEXTS = "learn/class"
_STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8").strip()


def plan_rows() -> list[dict[str, str]]:
    """The parts of the hour: from which minute to which, and what happens."""
    parts = [("Opening", OPENING, prose(_TEXTS, "opening"))]
    parts += [(lesson.name, LESSON, claim(lesson)) for lesson in LESSONS]
    parts += [("Summary", CLOSING, prose(_TEXTS, "closing"))]
    rows, now = [], 0
    for name, minutes, what in parts:
        rows.append({"Minutes": f"{now} to {now + minutes}", "Part": name, "What happens": " ".join(what.split())})
        now += minutes
    return rows


def claim(lesson: Lesson) -> str:
    """The first, bold sentence of a lesson's claim."""
    found = re.search(r"\*\*(.+?)\*\*", prose(f"learn/{lesson.text}", "claim"), re.DOTALL)
    return " ".join(found[1].split()) if found else lesson.name


def sheet(link: str | None) -> str:
    """The sheet of a class: every question with its answers to tick and lines to say why; the link where there is one."""
    code = f"{qr_code(link)}<p>{escape(link)}</p>" if link else ""
    body = "".join(map(_exercise, LESSONS))
    head = f'<meta charset="utf-8"><title>Lessons</title><style>{_STYLE}</style>'
    words = html_of(prose(_TEXTS, "paper"))
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{code}<h1>Lessons</h1><p>{words}</p>{body}</body></html>'


def qr_code(link: str) -> str:
    """The link as a picture in HTML, dark on light in every theme."""
    import segno  # only this needs it

    drawn = segno.make(link, error="m", micro=False).svg_data_uri(light="white", scale=8)
    return f'<img alt="QR code of the link of the class" src="{drawn}" style="width: 100%; max-width: 24rem">'


def _exercise(lesson: Lesson) -> str:
    numbers = lesson.question()
    said = html_of(prose(f"learn/{lesson.text}", "claim"))
    question = html_of(prose(f"learn/{lesson.text}", "question", **numbers))
    options = "".join(f"<li>☐ {html_of(words)}</li>" for words in options_of(lesson.text, numbers).values())
    title = html_of(prose(f"learn/{lesson.text}", "title"))
    lines = '<p>Why?</p><div class="line"></div><div class="line"></div>'
    return f"<section><h2>{title}</h2><p>{said}</p><p>{question}</p><ul>{options}</ul>{lines}</section>"


def html_of(text: str) -> str:
    """Our own Markdown, of which the lessons use bold and italics only, as HTML."""
    bold = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(text), flags=re.DOTALL)
    return re.sub(r"\*(.+?)\*", r"<em>\1</em>", bold, flags=re.DOTALL)
