"""Report, query by query: two systems as points, or the lowest and highest queries of one system."""

from __future__ import annotations

from typing import NamedTuple

from curation.core.reports.page import QueryName, Section, Table
from curation.core.reports.plots import PlotPoint, scatter
from curation.core.text import amount
from curation.evaluation.evaluation import Evaluation

QUERY_BY_QUERY = "Query by query"
RESULTS = ("won", "lost", "tied", "zero")
NAMED = 5
"""Queries that are named at either end."""


class QueryValues(NamedTuple):
    """A query with the values of two systems; of one system alone the first value is 0."""

    query_id: str
    text: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        return self.second - self.first

    @property
    def result(self) -> str:
        """Of the second system, out of `RESULTS`; `zero` is 0 for both."""
        if not (self.first or self.second):
            return "zero"
        return "won" if self.difference > 0 else "lost" if self.difference < 0 else "tied"


def write_queries(evaluation: Evaluation) -> list[Section]:
    if evaluation.query_ids is None:
        return []
    return [_of_one(evaluation) if len(evaluation.runs) == 1 else _of_two(evaluation)]


def _of_two(evaluation: Evaluation) -> Section:
    """The first two systems; the others are compared in the section on pairs."""
    first, second = (system.name for system in evaluation.runs[:2])
    headline, rows = evaluation.measures[0], _values(evaluation, 0, 1)
    by_difference = sorted(rows, key=lambda row: (row.difference, row.query_id))
    worse = [row for row in by_difference[:NAMED] if row.difference < 0]
    better = [row for row in by_difference[::-1][:NAMED] if row.difference > 0]
    labels = {row.query_id: str(number) for number, row in enumerate([*better, *worse], 1)}
    points = [
        PlotPoint(
            row.first,
            row.second,
            f"{row.text}: {row.first:.3f}, {row.second:.3f}",
            labels.get(row.query_id, ""),
        )
        for row in rows
    ]
    equal = sum(row.difference == 0 for row in rows)
    sentence = (
        f"Each point is a query: {headline} of {first} across, of {second} up. Above the line {second} is "
        f"better. {equal:,} of {amount(len(rows), 'query', 'queries')} are equal."
    )
    if len(evaluation.runs) > 2:
        sentence += f"\nThe first two of {len(evaluation.runs):,} systems are drawn."
    columns = ("number", "query", "query id", first, second, "difference")
    tables = [
        Table(
            caption,
            columns,
            tuple((int(labels[r.query_id]), *_cells(r), r.difference) for r in chosen),
        )
        for caption, chosen in ((f"{second} gains most", better), (f"{second} loses most", worse))
        if chosen
    ]
    drawing = scatter(f"{headline}, query by query", first, second, points)
    return Section(QUERY_BY_QUERY, sentence, (drawing,), tuple(tables))


def _of_one(evaluation: Evaluation) -> Section:
    name, headline, rows = evaluation.runs[0].name, evaluation.measures[0], _values(evaluation, 0, 0)
    ordered = sorted(rows, key=lambda row: (row.first, row.query_id))
    columns = ("query", "query id", headline)
    tables = tuple(
        Table(
            caption,
            columns,
            tuple((QueryName(row.text, row.query_id), row.query_id, row.first) for row in chosen),
        )
        for caption, chosen in (
            (f"Lowest of {name}", ordered[:NAMED]),
            (f"Highest of {name}", ordered[::-1][:NAMED]),
        )
    )
    zero = sum(row.first == 0 for row in rows)
    return Section(QUERY_BY_QUERY, f"{zero:,} of {amount(len(rows), 'query', 'queries')} have 0.", (), tables)


def _values(evaluation: Evaluation, first: int, second: int) -> list[QueryValues]:
    """Queries with a value of both systems by the headline measure."""
    headline, texts = evaluation.measures[0], evaluation.query_texts or ()
    one, other = ((evaluation.runs[place].per_query or {})[headline] for place in (first, second))
    rows = zip(evaluation.query_ids or (), texts, one, other, strict=True)
    return [QueryValues(name, text, x, y) for name, text, x, y in rows if x is not None and y is not None]


def _cells(row: QueryValues) -> tuple[QueryName, str, float, float]:
    return QueryName(row.text, row.query_id), row.query_id, row.first, row.second
