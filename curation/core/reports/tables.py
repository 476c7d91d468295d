"""Human-readable tables: captions, columns, and cells with numbers, shares, bars, grades and names.

Terminals, pages of the app, HTML reports and files show the same `Table`. `cell_text` writes a cell as text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from curation.core.statistics.estimate import Estimate
from curation.core.text import TINY_P, decimal, percent

NOT_JUDGED = "not judged"


class BarCell(NamedTuple):
    """A cell that draws a share as a bar; a terminal shows a percentage."""

    part: int
    whole: int


class NumberCell(NamedTuple):
    """A cell with a number and its decimal places; a dash if the number is unknown."""

    value: float | None
    places: int


class ShareCell(NamedTuple):
    """A cell with a share as a percentage; a dash if the share is unknown."""

    value: float | None
    places: int = 0


class QueryName(str):
    """A cell that names a query or a pair; in the app the cell links to the query's page."""

    query_id: str
    document_id: str

    def __new__(cls, words: str, query_id: str = "", document_id: str = "") -> QueryName:
        name = super().__new__(cls, words)
        name.query_id, name.document_id = query_id, document_id
        return name


class GradeCell(NamedTuple):
    """A cell with a grade in the guide's colour; `lacking` is the reason for a missing grade."""

    grade: int | None
    colour: str
    lacking: str = NOT_JUDGED


def cell_text(value: object) -> str:
    """Format a value for a table: None as a dash, fractions with three decimals, times to the minute.

    An estimate becomes '' because only the app draws estimates, on a scale from 0 to 1; other columns have
    the figures.
    """
    if value is None:
        return "–"
    if isinstance(value, NumberCell):
        return decimal(value.value, value.places)
    if isinstance(value, ShareCell):
        return percent(value.value, value.places)
    if isinstance(value, BarCell):
        return percent(value.part / value.whole if value.whole else 0.0)
    if isinstance(value, Estimate):
        return ""
    if isinstance(value, GradeCell):
        return value.lacking if value.grade is None else str(value.grade)
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, float):
        return decimal(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def is_figure(value: object) -> bool:
    """Return whether a cell is right-aligned: a number, an unknown value, or a p value below 0.001."""
    return value is None or isinstance(value, int | float | NumberCell | ShareCell) or value == TINY_P


@dataclass(frozen=True)
class Table:
    """A human-readable table; a cell of None is unknown, and `words` says whether the cells contain
    sentences."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    words: bool = False


def figure_row(label: str, estimate: Estimate) -> tuple[object, ...]:
    """Make a row of `figure_table`: a value with its interval, or the reason why the value is missing."""
    if estimate.value is None:
        return (label, "–", "–", "", estimate.n, estimate.why or "")
    return (label, decimal(estimate.value), estimate.interval(), estimate, estimate.n, "")


def figure_table(caption: str, columns: tuple[str, str, str], rows: Iterable[tuple[object, ...]]) -> Table:
    """Make a table from rows of `figure_row`; an empty column of reasons is left out.

    Parameters
    ----------
    columns: three headings: for the names of the rows, for the figure, and for the number n.
    """
    label, value, n = columns
    shown: tuple[str, ...] = (label, value, "95 % interval", "From 0 to 1", n, "Why no figure")
    table_rows = tuple(rows)
    if not any(row[-1] for row in table_rows):
        shown, table_rows = shown[:-1], tuple(row[:-1] for row in table_rows)
    return Table(caption, shown, table_rows)
