"""What dpviz asks of an engine, and errors that quote nothing: what an engine says about a failure may hold a cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np
from sqlglot.expressions import Expression

from dpviz.engines.expressions import Words
from dpviz.engines.kinds import ColumnKind
from dpviz.engines.statements import joining, numbering, written
from dpviz.errors import DpvizError, EngineError, cells_stay_inside
from dpviz.randomness import random_128_bits

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
#: Rows that leave an engine at once, where it lets itself be told.
ROWS_AT_ONCE = 1 << 16


class Connection(Protocol):
    """A session in an engine."""

    words: ClassVar[Words]

    def kinds(self, table: Sequence[str]) -> dict[str, ColumnKind | str]:
        """Type of every column, in order; for a type that is not read, its name. Empty where there is no such table."""

    def make_encoded(self, encoding: Expression, names: Sequence[str], *, ordered: bool) -> str:
        """The encoded rows, columns of these `names`, numbered as stored or in the order of `o`; returns the temporary table."""

    def make_parts(self, encoded: str, parts: np.ndarray) -> str:
        """The usable rows, each with the part it is assigned to at random; returns the name of the temporary table."""
        assignment = self._make_assignment(parts)
        made = self._make(written(joining(encoded, assignment), self.words.dialect))
        self.drop(assignment)
        return made

    def _make_assignment(self, parts: np.ndarray) -> str:
        """The `blocks` of the random assignment; returns the temporary table."""

    def _make(self, select: str) -> str:
        """The rows of a statement; returns the temporary table."""

    def rows(self, statement: str | Expression) -> list[tuple[int, ...]]:
        """The few rows of a statement, which are counts."""

    def columns(self, statement: str | Expression) -> Sequence[np.ndarray]:
        """The columns of a statement whose rows are many: whole numbers, none missing."""

    def batches(self, statement: str | Expression) -> Iterator[pa.RecordBatch]:
        """The rows of a statement, whatever they hold, some at a time and in order."""

    def drop(self, table: str) -> None:
        """Drop a temporary table."""

    def close(self) -> None:
        """Drop all temporary tables and end the session; never raises."""


class SQLConnection(Connection, Protocol):
    """A session that takes statements one after another and keeps temporary tables in a schema of its own."""

    temporary: ClassVar[str]  #: The schema of temporary tables
    fence: ClassVar[str] = ""  #: Keeps the planner from putting expressions in the place of the names of encoded columns

    def _execute(self, statement: str, parameters: list[Any] | None = None) -> list[Any]:
        """The rows of a statement, in our words where it fails."""

    def make_encoded(self, encoding: Expression, names: Sequence[str], *, ordered: bool) -> str:
        """The encoded rows, numbered."""
        return self._make(numbering(f"{written(encoding, self.words.dialect)}{self.fence}", names, ordered=ordered))

    def _make(self, select: str) -> str:
        name = new_name()
        self._execute(f"CREATE TEMP TABLE {name} AS {select}")
        return name

    def rows(self, statement: str | Expression) -> list[tuple[int, ...]]:
        """Counts."""
        return self._execute(written(statement, self.words.dialect))

    def drop(self, table: str) -> None:
        """Drop a temporary table."""
        self._execute(f"DROP TABLE IF EXISTS {self.temporary}.{table}")


def new_name() -> str:
    """A name for a temporary table that says nothing and that no other table has."""
    return f"dpviz_{random_128_bits():032x}"


def asked(ask: Callable[[], T], cancel: Callable[[], None]) -> T:
    """`ask()`, which Ctrl-C ends by `cancel`: in the main thread DuckDB would not notice, and ADBC would call it a timeout."""
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(ask)
        try:
            return answer.result()
        except KeyboardInterrupt:
            cancel()
            raise


def in_our_words(engine: str, *lost: type[Exception]) -> AbstractContextManager[None]:
    """Whatever a driver raises becomes one error that quotes nothing; `lost` are types of a connection that is gone."""

    def in_words(error: Exception) -> DpvizError:
        if isinstance(error, lost):
            what = f"The connection to {engine} is lost, or could not be made."
            remedy = "Check that it is running and accepts your login, then try again. Temporary tables end with the connection."
            return EngineError("lost", what, remedy=remedy)
        what = f"{engine} could not do what was asked ({type(error).__name__})."
        remedy = "Its own log says why. It may lack rights, memory or room for temporary tables."
        return EngineError("failed", what, remedy=remedy)

    return cells_stay_inside(in_words)
