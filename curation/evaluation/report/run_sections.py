"""The report's sections on single systems, and on the method of the evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean, median, stdev
from typing import NamedTuple

from curation.core.reports.charts import intervals
from curation.core.reports.page import Section
from curation.core.reports.plots import MAX_SERIES, PlotCurve, PlotPoint, curves, scatter
from curation.core.reports.tables import QueryName, Table
from curation.core.text import pluralize
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.means import warn_of_few_queries
from curation.evaluation.report.cells import by_measure, format_with_n, interval, make_mark, share
from curation.evaluation.scoring.measure_names import WITHIN, parse_measures
from curation.releases.gate_override import mark_name

QUERY_BY_QUERY = "Query by query"
QUERY_RESULTS = ("won", "lost", "tied", "zero")
NAMED_QUERIES = 5
"""Number of queries that the report names with the largest gains, and with the largest losses."""


def write_systems(evaluation: Evaluation) -> list[Section]:
    """Show every measure of each system, and facts on the run files."""
    headline = evaluation.measures[0]
    figures = {run.name: run.overall[headline] for run in evaluation.runs}
    marks = [make_mark(name, figure, figure.no_interval or "") for name, figure in figures.items()]
    sentence = f"{headline}: {evaluation.about[headline]}. A query that a run misses counts 0."
    if evaluation.without_relevant:
        singular = "query has no relevant document: it is"
        plural = "queries have no relevant document: they are"
        queries = pluralize(evaluation.without_relevant, singular, plural)
        sentence += f"\n{queries} in no figure of a measure that needs a relevant document."
    for remark in _file_remarks(evaluation):
        sentence += f"\n{remark}"
    rows = []
    for run in evaluation.runs:
        figure = run.overall[headline]
        shown = (figure.value, interval(figure), figure.n, share(figure.judged))
        rows.append((run.name, *shown, figure.no_interval or ""))
    columns = ("system", headline, "95 %", "queries", "judged", "note")
    totals = [measure.name for measure in parse_measures(evaluation.measures) if measure.summary == "total"]
    totals_text = f"; {', '.join(totals)}: total" if totals else ""
    caption = f"Every measure: mean over {pluralize(evaluation.queries, 'query', 'queries')}{totals_text}"
    tables = (
        Table(f"{headline} by system", columns, tuple(rows)),
        by_measure(caption, evaluation, lambda figure: format_with_n(figure, evaluation.queries)),
        _files_table(evaluation),
        *_seeds_tables(evaluation, headline),
    )
    warning = warn_of_few_queries(figure.n for run in evaluation.runs for figure in run.overall.values())
    remark = "The interval says how far the mean would differ on other queries of the same kind."
    drawing = intervals(f"{headline} of each system", marks)
    return [Section("Systems", sentence, (drawing,), tables, f"{remark} {warning}".rstrip())]


def _files_table(evaluation: Evaluation) -> Table:
    has_chunks = any(facts.chunks for system in evaluation.runs for facts in system.files)
    counted = ("chunks", "documents") if has_chunks else ("places",)
    other_columns = ("queries missing", "unknown documents", "equal scores", "lines left out")
    rows = []
    for system in evaluation.runs:
        for facts in system.files:
            left_out = "; ".join(f"{count:,} {why}" for why, count in facts.left_out.items()) or "–"
            counts = (facts.places, facts.missing, facts.unknown_documents, facts.ties.documents)
            chunks = (facts.chunks.chunks if facts.chunks else "–",) if has_chunks else ()
            rows.append((system.name, facts.source, *chunks, *counts, left_out))
    return Table("Run files for these queries", ("system", "file", *counted, *other_columns), tuple(rows))


def _file_remarks(evaluation: Evaluation) -> Iterator[str]:
    """Yield remarks on files: contradicting ranks, equal scores, columns and chunks."""
    if parse_measures(evaluation.measures[:1])[0].of_chunks:
        yield "A chunk is judged if its document has a grade. Equal scores and judged@k refer to documents."
    for facts in (facts for system in evaluation.runs for facts in system.files):
        if facts.against_scores:
            queries = pluralize(facts.against_scores, "query has", "queries have")
            yield f"{facts.source}: {queries} ranks that contradict the scores; the scores count."
        yield from (f"{facts.source}: {sentence}" for sentence in facts.remarks)
        if mattering := facts.ties.mattering:
            queries = pluralize(mattering, "query", "queries")
            yield f"{facts.source}: a different order of equal scores would change figures of {queries}."


def write_context(evaluation: Evaluation) -> list[Section]:
    """Show recall of evidence against words of context, to help choose chunks."""
    all_points = evaluation.context.values()
    words_to_10 = [[words for k, words, _ in points if k <= 10 and words] for points in all_points]
    if not any(words_to_10):
        return []
    widest = float(median(max(words) for words in words_to_10 if words))
    drawn_curves = []
    for name, points in evaluation.context.items():
        known = [(words, recall.value) for _, words, recall in points if words and recall.value is not None]
        if drawn_points := [point for point in known if point[0] <= widest]:
            drawn_curves.append(PlotCurve(name, drawn_points, drawn_points[-1]))
    columns = ("system", "chunks", "words", "recall", "95 %")
    rows = tuple(
        (name, k, None if words is None else round(words), recall.value, interval(recall))
        for name, points in evaluation.context.items()
        for k, words, recall in points
    )
    sentence = (
        "A line shows how much evidence the first chunks hold, and how many words a language model has to "
        f"read. A higher line finds more evidence for the same number of words. The comparison by {WITHIN}@w "
        "says which differences are certain."
    )
    remark = "Words are counted in the stored text; in scripts without spaces, each character counts."
    if len(drawn_curves) > MAX_SERIES:
        remark += f" The chart shows the first {MAX_SERIES} systems."
    drawing = curves("Recall of evidence", "words of context", "recall", drawn_curves[:MAX_SERIES], widest)
    table = Table("Recall of evidence by number of chunks", columns, rows)
    return [Section("Recall against context", sentence, (drawing,), (table,), remark)]


def _seeds_tables(evaluation: Evaluation, headline: str) -> list[Table]:
    """Show the spread over several runs of one system; no table where each system has one run."""
    rows = []
    for system in evaluation.runs:
        figures = system.seeds.get(headline, ())
        known = [figure for figure in figures if figure is not None]
        if figures:
            spread = stdev(known) if len(known) > 1 else None
            rows.append((system.name, len(figures), mean(known) if known else None, spread))
    columns = ("system", "runs", "mean", "sd over runs")
    return [Table(f"Several runs of one system: {headline}", columns, tuple(rows))] if rows else []


def write_sealed(evaluation: Evaluation) -> list[Section]:
    """Count the sealed evaluations; no section where no part is sealed."""
    count = evaluation.sealed_count
    if count is None:
        return []
    columns = ("parts", "sealed evaluations", "refused requests", "people", "reason of this evaluation")
    row = (", ".join(count.parts), count.evaluations, count.refused, count.people, count.reason)
    sentence = (
        "Each sealed evaluation makes a part a little less reliable as a test, because systems are "
        "chosen by the figures. "
        "The release keeps the log of all sealed evaluations."
    )
    return [Section("Sealed evaluations", sentence, (), (Table("So far", columns, (row,), words=True),))]


def write_method(evaluation: Evaluation) -> list[Section]:
    """Describe the measures, and everything that is needed to repeat the evaluation."""
    measures = tuple((name, evaluation.about[name]) for name in evaluation.measures)
    facts = [
        ("release", mark_name(evaluation.release, evaluation.mark)),
        ("release id", evaluation.release_id),
        ("parts", ", ".join(evaluation.parts)),
        ("sealed parts evaluated", ", ".join(evaluation.sealed) or "none"),
        ("relevant", f"grade {evaluation.relevant_grade} and above"),
        ("seed", str(evaluation.seed)),
        ("resamples", f"{evaluation.resamples:,}"),
        *((f"version of {name}", version) for name, version in evaluation.versions.items()),
    ]
    sentence = (
        "Lists are ordered by score in double precision, as in trec_eval 10. Equal scores are ordered by "
        "document id, descending."
    )
    tables = (
        Table("Measures", ("measure", "what it computes"), measures, words=True),
        Table("To repeat the evaluation", ("what", "value"), tuple(facts), words=True),
    )
    return [Section("Method", sentence, (), tables)]


class QueryValues(NamedTuple):
    """A query with the values of two systems; the first value is 0 if there is only one system."""

    query_id: str
    text: str
    first: float
    second: float

    @property
    def name(self) -> QueryName:
        """Name of the query in the report: the text, with the query id."""
        return QueryName(self.text, self.query_id)

    @property
    def difference(self) -> float:
        """The second value minus the first value."""
        return self.second - self.first

    @property
    def result(self) -> str:
        """The result of the second system, out of `QUERY_RESULTS`; `zero` means 0 for both systems."""
        if not (self.first or self.second):
            return "zero"
        return "won" if self.difference > 0 else "lost" if self.difference < 0 else "tied"


def write_queries(evaluation: Evaluation) -> list[Section]:
    """Compare the first two systems query by query, or show one system; no section for sealed parts."""
    if evaluation.query_ids is None:
        return []
    return [_show_one_system(evaluation) if len(evaluation.runs) == 1 else _compare_two_systems(evaluation)]


def _compare_two_systems(evaluation: Evaluation) -> Section:
    """Compare the first two systems; the section on comparisons has all pairs of systems."""
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
        f"Each point is a query: {headline} of {first} on the horizontal axis, of {second} on the "
        f"vertical axis. Above the line {second} is "
        f"better. {equal_count:,} of {pluralize(len(rows), 'query', 'queries')} have equal values."
    )
    if len(evaluation.runs) > 2:
        sentence += f"\nThe first two of {len(evaluation.runs):,} systems are drawn."
    columns = ("number", "query", "query id", first, second, "difference")
    tables = []
    for caption, named_rows in ((f"{second} gains most", better), (f"{second} loses most", worse)):
        cells = [
            (int(labels[row.query_id]), row.name, row.query_id, row.first, row.second, row.difference)
            for row in named_rows
        ]
        tables += [Table(caption, columns, tuple(cells))] if cells else []
    drawing = scatter(f"{headline}, query by query", first, second, points)
    return Section(QUERY_BY_QUERY, sentence, (drawing,), tuple(tables))


def _show_one_system(evaluation: Evaluation) -> Section:
    headline, rows = evaluation.measures[0], _collect_query_values(evaluation, 0, 0)
    ascending = sorted(rows, key=lambda row: (row.first, row.query_id))
    cells = [(row.name, row.query_id, row.first) for row in ascending]
    columns, name = ("query", "query id", headline), evaluation.runs[0].name
    tables = (
        Table(f"Lowest of {name}", columns, tuple(cells[:NAMED_QUERIES])),
        Table(f"Highest of {name}", columns, tuple(cells[::-1][:NAMED_QUERIES])),
    )
    zero_count = sum(row.first == 0 for row in rows)
    sentence = f"{zero_count:,} of {pluralize(len(rows), 'query', 'queries')} have the value 0."
    return Section(QUERY_BY_QUERY, sentence, (), tables)


def _collect_query_values(evaluation: Evaluation, first: int, second: int) -> list[QueryValues]:
    """Collect the queries with a value of both systems by the headline measure."""
    headline, texts = evaluation.measures[0], evaluation.query_texts or ()
    values = [(evaluation.runs[index].per_query or {})[headline] for index in (first, second)]
    rows = zip(evaluation.query_ids or (), texts, *values, strict=True)
    return [QueryValues(name, text, x, y) for name, text, x, y in rows if x is not None and y is not None]
