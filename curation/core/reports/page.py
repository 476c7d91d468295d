"""Tables, sections and the HTML page of a report, without scripts or network; tables as CSV, Markdown,
LaTeX.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from curation.core.characters import printable, quote_formula
from curation.core.errors import InputError
from curation.core.statistics.estimate import Estimate
from curation.core.text import TINY_P, decimal, percent

if TYPE_CHECKING:
    from jinja2 import Environment

NOT_JUDGED = "not judged"
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~$&!])")
_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": "$<$", ">": "$>$", "|": r"\textbar{}", '"': r"\char34{}"},
    **{"[": "{[}", "*": "{*}"},  # after the end of a row both would be arguments of it
    **{"\u2212": "$-$", "\u2191": r"$\uparrow$", "\u2193": r"$\downarrow$", "τ": r"$\tau$"},
    **{"\u00a0": "~", "–": "--", "…": r"\dots{}", "\n": " ", "\t": " "},
}


def render(template: str, **values: object) -> Markup:
    """Render a template of this package with escaped values."""
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
    """A cell that draws a share as a bar; a terminal shows a percentage."""

    part: int
    whole: int


class NumberCell(NamedTuple):
    """A cell with a figure and its number of decimal places; a dash if the figure is unknown."""

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
    """A cell with a grade in its colour of the guide; `lacking` is the reason for a missing grade."""

    grade: int | None
    colour: str
    lacking: str = NOT_JUDGED


def cell_text(value: object) -> str:
    """Write a value as a table shows it: None as a dash, fractions with three places, times to the minute.

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
    """Check whether a cell is right-aligned: a number, an unknown value, or a p value below 0.001."""
    return value is None or isinstance(value, int | float | NumberCell | ShareCell) or value == TINY_P


def _plain(value: float) -> str:
    """Write a number of a scale without trailing zeros."""
    return f"{value:g}".replace("-", "\u2212")


def _shorten(name: str, letters: int = 27) -> str:
    """Shorten a long name; the chart's tooltip has the whole name."""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


@dataclass(frozen=True)
class Table:
    """A table for people. A cell of None is unknown; `words` is True if the cells contain sentences."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    words: bool = False


def figure_row(label: str, estimate: Estimate) -> tuple[object, ...]:
    """Make a row of `figure_table`: a figure with its interval, or the reason why the figure is missing."""
    if estimate.value is None:
        return (label, "–", "–", "", estimate.n, estimate.why or "")
    return (label, decimal(estimate.value), estimate.interval(), estimate, estimate.n, "")


def figure_table(caption: str, columns: tuple[str, str, str], rows: Iterable[tuple[object, ...]]) -> Table:
    """Make a table from rows of `figure_row`; the column of reasons is left out if it is empty.

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


@dataclass(frozen=True)
class Section:
    """A part of a report; `drawings` are charts, each line of `sentence` is a paragraph, `anchor` an id.

    `charted` has the figures of the charts as tables for a terminal, which draws no charts.
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
    """Make an HTML page: a lead-in, the list of findings, a remark, and the sections."""
    values = {"title": title, "lead": lead, "findings": findings, "remark": remark}
    return str(render("page.html", **values, sections=list(sections)))


def csv_table(table: Table) -> str:
    """Write a table as CSV with a header (RFC 4180), line feeds, and cells that no spreadsheet reads as
    formulas.
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rows = [table.columns, *table.rows]
    writer.writerows([quote_formula(c) if isinstance(c, str) else c for c in row] for row in rows)
    return text.getvalue()


def markdown_table(table: Table) -> str:
    """Write a table in GitHub Flavored Markdown, with right-aligned figures and the caption below."""
    rules = ["---:" if figures else "---" for figures in _figures(table)]
    lines = [_markdown_line(map(markdown_text, table.columns)), _markdown_line(rules)]
    lines += [_markdown_line(markdown_text(cell_text(value)) for value in row) for row in table.rows]
    return "\n".join([*lines, "", markdown_text(table.caption), ""])


def latex_table(table: Table) -> str:
    """Write a table in LaTeX that needs no package."""
    places = "".join("r" if figures else "l" for figures in _figures(table))
    rows = [[_latex(cell_text(value)) for value in row] for row in table.rows]
    head = [_latex(column) for column in table.columns]
    lines = [r"\begin{table}", r"\centering", f"\\caption{{{_latex(table.caption)}}}"]
    lines += [f"\\begin{{tabular}}{{{places}}}", r"\hline", _latex_line(head), r"\hline"]
    lines += [*map(_latex_line, rows), r"\hline", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)


WRITERS: dict[str, Callable[[Table], str]] = {".csv": csv_table, ".md": markdown_table, ".tex": latex_table}
"""Extension of a file name → the function that writes a table."""


def writer_for(path: Path, option: str) -> Callable[[Table], str]:
    """Find the function that writes a table to this path.

        Raises
        ------
    InputError: the extension is unknown; the message names the option.
    """
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InputError(f"{option} {path}: expected a name that ends in one of {', '.join(WRITERS)}.")
    return writer


def _figures(table: Table) -> list[bool]:
    """Mark the columns that hold only figures."""
    columns = zip(*table.rows, strict=True) if table.rows else ([""] for _ in table.columns)
    return [all(value is None or isinstance(value, int | float) for value in column) for column in columns]


def markdown_text(text: str) -> str:
    """Escape Markdown, and join lines."""
    return _MARKDOWN.sub(r"\\\1", " ".join(printable(text).splitlines()))


def _markdown_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in printable(text))


def _latex_line(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
