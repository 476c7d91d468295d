"""Operations that people start from a command or a page: the check of a request, its work, and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from curation.core.progress import Progress
from curation.core.request import read_request

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Cursor

    from curation.core.reports.tables import Table


class Result(Protocol):
    """The result of an operation, for a terminal, a page and JSON (`cli.output.show`, `app.ui`).

    A result with figures for people also has the attribute `tables`, a sequence of `Table`s.
    """

    @property
    def sentences(self) -> Sequence[str]:
        """Say in sentences what was done and what was left out; the first sentence is a summary."""


class PlainResult(NamedTuple):
    """A result that consists only of sentences and tables."""

    sentences: tuple[str, ...]
    tables: tuple[Table, ...] = ()


def get_tables(result: Result) -> Sequence[Table]:
    """Return the tables of a result, or an empty sequence if the result has only sentences."""
    tables: Sequence[Table] = getattr(result, "tables", ())
    return tables


class Operation(NamedTuple):
    """An operation that a command and a page can start.

    Attributes
    ----------
    request: the dataclass of the request.
    run: function that does the work of a request for the named person.
    in_progress: the ongoing work in words, such as "building the pool".
    on_interrupt: sentence on the results that remain after an interruption.
    check: function that raises errors that are known before the work; a request of None stands for any
        request.
    roles: roles of people who may start the operation.
    first_step: name of the first step, until the work reports its progress, such as "reading the corpus".
    stage: the workflow stage on Home that the operation belongs to; '' for an operation that only reads.
    """

    request: type[Any]
    run: Callable[[Any, Any, Progress, str], Result]
    in_progress: str
    on_interrupt: str
    check: Callable[[Cursor, Any], None] = lambda _cursor, _request: None
    roles: tuple[str, ...] = ("lead",)
    first_step: str = "reading the project"
    stage: str = ""

    def refuse(self, cursor: Cursor, parameters: Mapping[str, Any] | None) -> None:
        """Raise the errors that the operation's work would certainly raise, without doing the work."""
        self.check(cursor, None if parameters is None else read_request(self.request, parameters))

    def work(self, store: Any, parameters: Mapping[str, Any], progress: Progress, author: str) -> str:
        """Do the work that a job's parameters describe, and return the result's sentences."""
        request = read_request(self.request, parameters)
        return "\n".join(self.run(store, request, progress, author).sentences)
