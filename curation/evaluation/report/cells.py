"""The values of a report as text, with intervals and numbers of queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from curation.core.reports.charts import Mark
from curation.core.reports.tables import Table
from curation.core.statistics.estimate import Estimate
from curation.core.text import decimal
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.means import MeasureFigure

MAX_COLUMNS = 6
"""Maximum number of systems that are columns of a table."""


class _Ends(Protocol):
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


class _Figure(_Ends, Protocol):
    @property
    def value(self) -> float | None: ...


def format_interval(figure: _Ends) -> str:
    """Write a 95 % interval in words; a dash if there is no interval."""
    if figure.low is None or figure.high is None:
        return "–"
    return f"{format_value(figure.low)}\u00a0to\u00a0{format_value(figure.high)}"


def format_figure(figure: _Figure) -> str:
    """Write a value with its interval; a dash if the value is unknown."""
    if figure.value is None:
        return "–"
    return format_value(figure.value) + ("" if figure.low is None else f" ({format_interval(figure)})")


def format_with_n(figure: MeasureFigure | Estimate, queries: int) -> str:
    """Write a value with its interval, and with its number of queries if that differs from the table's
    number."""
    size_text = "" if figure.value is None or figure.n == queries else f", n\u00a0=\u00a0{figure.n:,}"
    return format_figure(figure) + size_text


def format_value(value: float) -> str:
    """Write a value with three decimals; totals and word counts, which can exceed 1, have no decimals."""
    return f"{value:,.0f}" if isinstance(value, int) or value > 1 else decimal(value)


def tabulate_measures(caption: str, evaluation: Evaluation, cell: Callable[[MeasureFigure], object]) -> Table:
    """Make a table of all measures and systems, with up to `MAX_COLUMNS` systems as columns."""
    rows = [(run.name, *(cell(run.overall[name]) for name in evaluation.measures)) for run in evaluation.runs]
    if len(rows) > MAX_COLUMNS:
        return Table(caption, ("system", *evaluation.measures), tuple(rows))
    turned = tuple(zip(("measure", *evaluation.measures), *rows, strict=True))
    return Table(caption, tuple(map(str, turned[0])), turned[1:])


def make_mark(name: str, figure: _Figure | None, note: str = "") -> Mark:
    """Make the mark that shows a value in a drawing; `note` explains a missing value."""
    if figure is None or figure.value is None:
        return Mark(name, Estimate(why=note or "no query with a value"))
    return Mark(name, Estimate(figure.value, figure.low, figure.high, why=note))
