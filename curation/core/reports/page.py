"""Tables, sections and the HTML page of a report: no scripts, no network.

Terminal and app show the same sections. The templates of pages and charts are filled here, which settles how
they write numbers. Jinja escapes every value that is not `Markup`; only charts, which escaped their own
values, are `Markup`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from curation.core.text import TINY_P, decimal, ends, percent

if TYPE_CHECKING:
    from jinja2 import Environment

NOT_JUDGED = "not judged"


def render(template: str, **values: object) -> Markup:
    """A template of this room with its values filled in, escaped."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("curation.core.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.tests["figure"] = is_figure
    environment.filters |= {
        "cell": cell_text,
        "count": "{:,}".format,
        "figure": decimal,
        "percent": percent,
        "pixels": "{:.1f}".format,
        "plain": _plain,
        "shorten": _shorten,
    }
    return environment


class BarCell(NamedTuple):
    """A cell that draws a share of a whole; a percentage in a terminal."""

    part: int
    whole: int


class NumberCell(NamedTuple):
    """A cell with a figure to so many decimal places, a dash where it is not known."""

    value: float | None
    places: int


class ShareCell(NamedTuple):
    """A cell with a share as a percentage, a dash where it is not known."""

    value: float | None
    places: int = 0


class IntervalCell(NamedTuple):
    """A cell that draws a figure and its interval on a scale from 0 to 1; values outside are at its ends.

    A terminal has it in the column before.
    """

    value: float
    low: float | None
    high: float | None


class QueryName(str):
    """A cell that names a query or a pair: in the app it opens the page of the query."""

    query_id: str
    document_id: str

    def __new__(cls, words: str, query_id: str = "", document_id: str = "") -> QueryName:
        name = super().__new__(cls, words)
        name.query_id, name.document_id = query_id, document_id
        return name


class GradeCell(NamedTuple):
    """A cell with a grade in its colour of the guide; `lacking` says why there is none."""

    grade: int | None
    colour: str
    lacking: str = NOT_JUDGED


def cell_text(value: object) -> str:
    """What a table shows of a value: None is unknown, fractions have three places, times end with minutes."""
    if value is None:
        return "–"
    if isinstance(value, NumberCell):
        return decimal(value.value, value.places)
    if isinstance(value, ShareCell):
        return percent(value.value, value.places)
    if isinstance(value, BarCell):
        return percent(value.part / value.whole if value.whole else 0.0)
    if isinstance(value, IntervalCell):
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
    """Whether a cell is right-aligned: a number, what is unknown, and a p too small for three decimals."""
    return value is None or isinstance(value, int | float | NumberCell | ShareCell) or value == TINY_P


def _plain(value: float) -> str:
    """A number of a scale, without zeros that say nothing."""
    return f"{value:g}".replace("-", "\u2212")


def _shorten(name: str, letters: int = 27) -> str:
    """The beginning of a long name; the chart's tooltip has all of it."""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


@dataclass(frozen=True)
class Table:
    """A table for people: None is unknown; `words` says that cells hold sentences."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    words: bool = False


def figure_row(
    label: str, value: float | None, low: float | None, high: float | None, n: int, why: str | None
) -> tuple[object, ...]:
    """A figure with its interval, or why there is none, for `figure_table`."""
    if why or value is None:
        return (label, "–", "–", "", n, why or "")
    return (label, decimal(value), ends(low, high), IntervalCell(value, low, high), n, "")


def figure_table(caption: str, columns: tuple[str, str, str], rows: Iterable[tuple[object, ...]]) -> Table:
    """A table of rows of `figure_row`; the reasons have a column where there are any.

    Parameters
    ----------
    columns: what the row is about, the figure, and what n counts.
    """
    label, value, n = columns
    shown: tuple[str, ...] = (label, value, "95 % interval", "From 0 to 1", n, "Why no figure")
    found = tuple(rows)
    if not any(row[-1] for row in found):
        shown, found = shown[:-1], tuple(row[:-1] for row in found)
    return Table(caption, shown, found)


@dataclass(frozen=True)
class Section:
    """A part of a report; `drawings` are charts, each line of `sentence` is a paragraph, `anchor` an id.

    `charted`: the figures of the charts, for a terminal, which has none.
    """

    heading: str
    sentence: str
    drawings: tuple[Markup, ...] = ()
    tables: tuple[Table, ...] = ()
    remark: str = ""
    anchor: str = ""
    charted: tuple[Table, ...] = ()


def html_page(
    title: str, findings: Iterable[str], sections: Iterable[Section], remark: str = "", lead: str = ""
) -> str:
    """A whole HTML page: a lead-in, the findings as a list, a quiet remark, then section by section."""
    values = {"title": title, "lead": lead, "findings": findings, "remark": remark}
    return str(render("page.html", **values, sections=list(sections)))
