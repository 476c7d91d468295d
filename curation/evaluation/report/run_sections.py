"""The report's sections on each system: results, run files, and recall against words of context."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean, median, stdev

from curation.core.reports.charts import draw_intervals
from curation.core.reports.page import Section
from curation.core.reports.plots import MAX_SERIES, PlotCurve, draw_curves
from curation.core.reports.tables import Table
from curation.core.text import percent, pluralize
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.means import warn_of_few_queries
from curation.evaluation.report.cells import format_interval, format_with_n, make_mark, tabulate_measures
from curation.evaluation.scoring.measure_names import WITHIN, parse_measures

SYSTEMS = "Systems"
"""The heading of the section whose first table has a row for each system."""


def write_systems(evaluation: Evaluation) -> list[Section]:
    """Show every measure for each system, and facts about the run files."""
    headline = evaluation.measures[0]
    figures = {run.name: run.overall[headline] for run in evaluation.runs}
    marks = [make_mark(name, figure, figure.no_interval or "") for name, figure in figures.items()]
    sentence = f"{headline}: {evaluation.about[headline]}. A query that is missing from a run counts as 0."
    if evaluation.without_relevant:
        singular = "query has no relevant document: it is"
        plural = "queries have no relevant document: they are"
        queries = pluralize(evaluation.without_relevant, singular, plural)
        sentence += f"\n{queries} left out of measures that need a relevant document."
    for remark in _file_remarks(evaluation):
        sentence += f"\n{remark}"
    rows = []
    for run in evaluation.runs:
        figure = run.overall[headline]
        cells = (figure.value, format_interval(figure), figure.n, percent(figure.judged, 1))
        rows.append((run.name, *cells, figure.no_interval or ""))
    columns = ("system", headline, "95 %", "queries", "judged", "note")
    caption = f"Every measure: mean over {pluralize(evaluation.queries, 'query', 'queries')}"
    tables = (
        Table(f"{headline} by system", columns, tuple(rows)),
        tabulate_measures(caption, evaluation, lambda figure: format_with_n(figure, evaluation.queries)),
        _files_table(evaluation),
        *_seeds_tables(evaluation, headline),
    )
    warning = warn_of_few_queries(figure.n for run in evaluation.runs for figure in run.overall.values())
    remark = "The interval shows how far the mean could differ on other queries of the same kind."
    drawing = draw_intervals(f"Each system's {headline}", marks)
    return [Section(SYSTEMS, sentence, (drawing,), tables, f"{remark} {warning}".rstrip())]


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
    """Yield remarks on run files: contradictory ranks, equal scores, columns and chunks."""
    if parse_measures(evaluation.measures[:1])[0].of_chunks:
        yield (
            "A chunk counts as judged if its document has a grade. Ties in score and judged@k count "
            "documents, not chunks."
        )
    for facts in (facts for system in evaluation.runs for facts in system.files):
        if facts.against_scores:
            queries = pluralize(facts.against_scores, "query has", "queries have")
            yield f"{facts.source}: {queries} ranks that contradict the scores. The scores decide."
        yield from (f"{facts.source}: {sentence}" for sentence in facts.remarks)
        if facts.ties.mattering:
            queries = pluralize(facts.ties.mattering, "query", "queries")
            yield (
                f"{facts.source}: a different order of documents with equal scores would change the values "
                f"of {queries}."
            )


def write_context(evaluation: Evaluation) -> list[Section]:
    """Show recall of evidence against words of context, to help choose chunks."""
    all_points = evaluation.context.values()
    words_to_10 = [[words for count, words, _ in points if count <= 10 and words] for points in all_points]
    if not any(words_to_10):
        return []
    widest = float(median(max(words) for words in words_to_10 if words))
    curves = []
    for name, points in evaluation.context.items():
        within = [(words, recall.value) for _, words, recall in points if words and words <= widest]
        drawn_points = [(words, value) for words, value in within if value is not None]
        if drawn_points:
            curves.append(PlotCurve(name, drawn_points))
    columns = ("system", "chunks", "words", "recall", "95 %")
    rows = tuple(
        (name, chunk_count, None if words is None else round(words), recall.value, format_interval(recall))
        for name, points in evaluation.context.items()
        for chunk_count, words, recall in points
    )
    sentence = (
        "A line shows how much of the evidence the first chunks contain, and how many words a language "
        "model must read. A higher line finds more evidence for the same number of words. To see which "
        f"differences are significant, compare the systems by {WITHIN}@w."
    )
    remark = (
        "Words are counted in the stored text. In scripts without spaces, each character counts as a word."
    )
    if len(curves) > MAX_SERIES:
        remark += f" The chart shows the first {MAX_SERIES} systems."
    drawing = draw_curves("Evidence recall", "words of context", "recall", curves[:MAX_SERIES], widest)
    table = Table("Evidence recall by number of chunks", columns, rows)
    return [Section("Recall against context", sentence, (drawing,), (table,), remark)]


def _seeds_tables(evaluation: Evaluation, headline: str) -> list[Table]:
    """Show the spread over each system's runs; no table if every system has only one run."""
    rows = []
    for system in evaluation.runs:
        figures = system.seeds.get(headline, ())
        run_figures = [figure for figure in figures if figure is not None]
        if figures:
            spread = stdev(run_figures) if len(run_figures) > 1 else None
            rows.append((system.name, len(figures), mean(run_figures) if run_figures else None, spread))
    columns = ("system", "runs", "mean", "sd over runs")
    return [Table(f"Several runs of one system: {headline}", columns, tuple(rows))] if rows else []
