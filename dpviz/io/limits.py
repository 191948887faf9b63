"""How large a table may be: what this machine's memory holds, several times over.

The limits follow from the memory of the machine, or of the control group that the process is in, and from nothing in a file. They
can be said before anything is read, and belong to the declared domain of a table.
"""

import os
from pathlib import Path

from dpviz.errors import TableError

#: Where Linux says how much memory a control group may take: version 2, version 1.
_GROUPS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
#: Of a system that does not say how much memory it has.
_UNKNOWN = 4 << 30


def memory(groups: tuple[Path, ...] = _GROUPS) -> int:
    """Bytes of memory this process may take: those of the machine, or fewer where a control group says so."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a system with such names
        machine = _UNKNOWN
    return min([machine, *(limit for group in groups if (limit := _limit(group)) > 0)])


def _limit(group: Path) -> int:
    """The limit of a control group; 0 where there is none."""
    try:
        return int(group.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such group, or "max"
        return 0


def _round_down(count: int) -> int:
    """Two digits, rounded down: a limit that can be remembered."""
    unit = 10 ** max(0, len(str(count)) - 2)
    return count // unit * unit


_MEMORY = memory()
#: What a file, packed or unpacked, its texts, its columns and its encoded rows take together, at most, for each of its bytes.
MEMORY_PER_BYTE = 8
#: Most bytes of a file, packed and unpacked.
MAX_BYTES = _round_down(_MEMORY // MEMORY_PER_BYTE)
#: Most rows: encoded, read and trained on, a row of twenty columns takes about 400 bytes.
MAX_ROWS = _round_down(_MEMORY // 1_600)
MAX_COLUMNS = 2_000
#: Bytes of a schema or a codebook.
MAX_SCHEMA_BYTES = 10_000_000


def in_words() -> str:
    """The limits, in a sentence."""
    return (
        f"At most {MAX_BYTES / 1e6:,.0f} MB once unpacked, {MAX_ROWS:,} rows and {MAX_COLUMNS:,} columns, "
        f"for this machine has {_MEMORY / 2**30:,.1f} GB of memory."
    )


def require_bytes(which: str, n_bytes: int, max_bytes: int) -> None:
    """Raise TableError where there are more bytes than may be read."""
    if n_bytes > max_bytes:
        what = f"{which} is larger than {max_bytes / 1e6:,.4g} MB{_as_default(max_bytes == MAX_BYTES)}."
        raise TableError("too-many-bytes", what, remedy="Keep fewer rows or columns; in Python, raise max_bytes.")


def require_rows(n_rows: int, max_rows: int, unit: str = "rows") -> None:
    """Raise TableError where there are more rows than may be read."""
    if n_rows > max_rows:
        what = f"There are more than {max_rows:,} {unit}{_as_default(max_rows == MAX_ROWS)}."
        raise TableError("too-many-rows", what, remedy="Keep fewer rows; in Python, raise max_rows.")


def _as_default(is_default: bool) -> str:
    return f", the most for {_MEMORY / 2**30:,.1f} GB of memory" if is_default else ""
