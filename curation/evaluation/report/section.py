"""How the sections of a report write figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from curation.core.reports.charts import Mark
from curation.core.reports.page import Table
from curation.core.statistics.estimate import Estimate
from curation.core.text import decimal, percent
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.means import MeasureFigure
from curation.evaluation.scoring.measure_names import measures_named

MAX_COLUMNS = 6
"""Systems that are columns of a table."""
NDCG_FORMS = {"ndcg_exp": "ndcg", "ndcg": "ndcg_exp"}
"""nDCG by one gain → by the other."""


class _Ends(Protocol):
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


class _Figure(_Ends, Protocol):
    @property
    def value(self) -> float | None: ...


class _CountedFigure(_Figure, Protocol):
    @property
    def n(self) -> int: ...


def interval(figure: _Ends) -> str:
    """A 95 % interval in words, a dash without one."""
    if figure.low is None or figure.high is None:
        return "–"
    return f"{figure_text(figure.low)}\u00a0to\u00a0{figure_text(figure.high)}"


def with_interval(figure: _Figure) -> str:
    """A figure with its interval, a dash where it is unknown."""
    if figure.value is None:
        return "–"
    return figure_text(figure.value) + ("" if figure.low is None else f" ({interval(figure)})")


def with_own_n(figure: _CountedFigure, queries: int) -> str:
    """A figure with its interval, and with its own number of queries where the table names another one."""
    size_text = "" if figure.value is None or figure.n == queries else f", n\u00a0=\u00a0{figure.n:,}"
    return with_interval(figure) + size_text


def figure_text(value: float) -> str:
    """A figure with three decimals; a total or a number of words, which alone are above 1, without any."""
    return f"{value:,.0f}" if isinstance(value, int) or value > 1 else decimal(value)


def headline_measures(evaluation: Evaluation) -> list[str]:
    """The first measure, and the other form of nDCG where that was asked for and grades make them differ."""
    first = measures_named(evaluation.measures[:1])[0]
    if first.kind not in NDCG_FORMS or len(evaluation.scale) <= 2:
        return [first.name]
    other = first._replace(kind=NDCG_FORMS[first.kind]).name
    return [first.name, *([other] if other in evaluation.measures else [])]


def gains_sentence(evaluation: Evaluation) -> str:
    """Which gain nDCG has, where more than two grades make the two forms differ; else nothing."""
    first = measures_named(evaluation.measures[:1])[0]
    if first.kind not in NDCG_FORMS or len(evaluation.scale) <= 2:
        return ""
    linear = first._replace(kind="ndcg").name
    exponential = first._replace(kind="ndcg_exp").name
    missing = "" if len(headline_measures(evaluation)) == 2 else " Ask for both measures to compare."
    return (
        f"{exponential} has the gain 2^grade − 1, {linear} the grade itself, as trec_eval, BEIR and MTEB "
        f"have it: compare like with like.{missing}"
    )


def by_measure(caption: str, evaluation: Evaluation, cell: Callable[[MeasureFigure], object]) -> Table:
    """A table of all measures and systems; the systems are its columns unless there are many."""
    rows = [
        (system.name, *(cell(system.overall[name]) for name in evaluation.measures))
        for system in evaluation.runs
    ]
    if len(rows) > MAX_COLUMNS:
        return Table(caption, ("system", *evaluation.measures), tuple(rows))
    turned = tuple(zip(("measure", *evaluation.measures), *rows, strict=True))
    return Table(caption, tuple(map(str, turned[0])), turned[1:])


def mark(name: str, figure: _Figure | None, note: str = "") -> Mark:
    """A figure to draw; `note` says why the figure is missing."""
    if figure is None or figure.value is None:
        return Mark(name, Estimate(why=note or "no query with a value"))
    return Mark(name, Estimate(figure.value, figure.low, figure.high, why=note))


def share(value: float | None) -> str:
    """A share as a percentage, a dash where it is unknown."""
    return percent(value, 1)
