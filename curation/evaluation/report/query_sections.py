"""The report's section on individual queries, which compares the first two systems query by query."""

from __future__ import annotations

from typing import NamedTuple

from curation.core.reports.page import Section
from curation.core.reports.plots import PlotPoint, draw_scatter_plot
from curation.core.reports.tables import QueryName, Table
from curation.core.text import pluralize
from curation.evaluation.evaluation import Evaluation

QUERY_BY_QUERY = "Query by query"
QUERY_RESULTS = ("won", "lost", "tied", "zero")
NAMED_QUERIES = 5
"""The report names this many queries with the largest gains, and as many with the largest losses."""


class QueryValues(NamedTuple):
    """A query with the values of two systems; the first value is 0 if there is only one system."""

    query_id: str
    text: str
    first: float
    second: float

    @property
    def name(self) -> QueryName:
        """Return the query's name in the report: its text and its id."""
        return QueryName(self.text, self.query_id)

    @property
    def difference(self) -> float:
        """Return the second system's value minus the first's."""
        return self.second - self.first

    @property
    def result(self) -> str:
        """Return the second system's result, one of `QUERY_RESULTS`; `zero` means 0 for both systems."""
        if not (self.first or self.second):
            return "zero"
        return "won" if self.difference > 0 else "lost" if self.difference < 0 else "tied"


def write_queries(evaluation: Evaluation) -> list[Section]:
    """Compare the first two systems query by query, or show one system; no section for sealed parts."""
    if evaluation.query_ids is None:
        return []
    return [_show_one_system(evaluation) if len(evaluation.runs) == 1 else _compare_two_systems(evaluation)]


def _compare_two_systems(evaluation: Evaluation) -> Section:
    """Show the comparison of the first two systems; the comparison section has all pairs."""
    first, second = (system.name for system in evaluation.runs[:2])
    headline, rows = evaluation.measures[0], _collect_query_values(evaluation, 0, 1)
    by_difference = sorted(rows, key=lambda row: (row.difference, row.query_id))
    worse = [row for row in by_difference[:NAMED_QUERIES] if row.difference < 0]
    better = [row for row in by_difference[::-1][:NAMED_QUERIES] if row.difference > 0]
    labels = {row.query_id: str(number) for number, row in enumerate([*better, *worse], 1)}
    points = []
    for row in rows:
        text = f"{row.text}: {row.first:.3f}, {row.second:.3f}"
        points.append(PlotPoint(row.first, row.second, text, labels.get(row.query_id, "")))
    equal_count = sum(row.difference == 0 for row in rows)
    sentence = (
        f"Each point is a query: {headline} of {first} is on the horizontal axis, and of {second} on the "
        f"vertical axis. For queries above the line, {second} is better. {equal_count:,} of "
        f"{pluralize(len(rows), 'query', 'queries')} have equal values."
    )
    if len(evaluation.runs) > 2:
        sentence += f"\nThe chart shows the first two of {len(evaluation.runs):,} systems."
    columns = ("number", "query", "query id", first, second, "difference")
    tables = []
    for caption, named_rows in ((f"{second} gains most", better), (f"{second} loses most", worse)):
        cells = []
        for row in named_rows:
            values = (row.first, row.second, row.difference)
            cells.append((int(labels[row.query_id]), row.name, row.query_id, *values))
        tables += [Table(caption, columns, tuple(cells))] if cells else []
    drawing = draw_scatter_plot(f"{headline}, query by query", first, second, points)
    return Section(QUERY_BY_QUERY, sentence, (drawing,), tuple(tables))


def _show_one_system(evaluation: Evaluation) -> Section:
    headline, rows = evaluation.measures[0], _collect_query_values(evaluation, 0, 0)
    ascending = sorted(rows, key=lambda row: (row.first, row.query_id))
    cells = [(row.name, row.query_id, row.first) for row in ascending]
    columns, name = ("query", "query id", headline), evaluation.runs[0].name
    lowest = Table(f"Lowest values of {name}", columns, tuple(cells[:NAMED_QUERIES]))
    highest = Table(f"Highest values of {name}", columns, tuple(cells[::-1][:NAMED_QUERIES]))
    zero_count = sum(row.first == 0 for row in rows)
    sentence = f"{zero_count:,} of {pluralize(len(rows), 'query', 'queries')} have the value 0."
    return Section(QUERY_BY_QUERY, sentence, (), (lowest, highest))


def _collect_query_values(evaluation: Evaluation, first: int, second: int) -> list[QueryValues]:
    """Collect the queries for which both systems have a value of the headline measure."""
    headline, texts = evaluation.measures[0], evaluation.query_texts or ()
    values = [(evaluation.runs[index].per_query or {})[headline] for index in (first, second)]
    rows = zip(evaluation.query_ids or (), texts, *values, strict=True)
    return [QueryValues(name, text, x, y) for name, text, x, y in rows if x is not None and y is not None]
