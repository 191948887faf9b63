"""What the owner must hear before epsilon is spent on few of the rows; private, for it follows from the rows."""

from collections.abc import Iterable

from dpviz.release.records import Exploration
from dpviz.training.counting.contract import Rows

#: Shares of the rows, in percent: the smallest that exceeds what is used unchanged is said, never the exact one.
SHARES = (10, 25, 50, 75, 90)
#: The used row count is far from the declared one beyond this factor, either way.
FAR = 1.25
#: What the register calls it when somebody asked how private rows fit, and when somebody had to be told: that there is a warning
#: follows from the rows, so only their owner may know of it.
LOOK, WARNED = "how the rows fit the schema", "a warning about how the rows fit the schema"


def for_others(looks: Iterable[Exploration]) -> tuple[Exploration, ...]:
    """The looks that people without the rows may know of."""
    return tuple(look for look in looks if look.what != WARNED)


def doubts(*parts: Rows) -> tuple[str, ...]:
    """Sentences: few rows are used as they are, or far fewer or more than were declared; none where all is well. Private.

    Of a table in several parts, each part is asked for the first, and all of them together for the second.
    """
    count = _of_count(parts[0].schema.n_public, sum(part.n_rows for part in parts))
    return tuple(dict.fromkeys(filter(None, (*map(_of_share, parts), count))))


def _of_share(data: Rows) -> str:
    report = data.report
    if report is None or report.unchanged is None or not report.rows_read + report.malformed:
        return ""
    used = 100 * report.unchanged / (report.rows_read + report.malformed)
    share = next((share for share in SHARES if used < share), None)
    return f"Fewer than {share}% of the rows are used unchanged; the others are dropped, clipped or replaced." if share else ""


def _of_count(declared: int | None, n_rows: int) -> str:
    if declared is None or declared / FAR <= n_rows <= declared * FAR:
        return ""
    which = "fewer" if n_rows < declared else "more"
    return f"Far {which} rows are used than the {declared:,} that are declared; depth and budget were chosen for those."
