"""Report, the systems: the headline measure with intervals, every other measure, and what the files held."""

from __future__ import annotations

from collections.abc import Iterator

from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.figures.means import rate_of_few
from curation.evaluation.metrics.measures import measures_named
from curation.evaluation.report.section import ReportSection, by_measure, interval, mark, share, told
from curation.reports.charts import intervals
from curation.reports.page import Section, Table
from curation.text import amount


def write(found: Evaluation) -> list[Section]:
    headline = found.measures[0]
    marks = [mark(system.name, system.overall[headline], _size(system, headline)) for system in found.runs]
    sentence = f"{headline}: {found.about[headline]}. A query that a run misses counts 0."
    if found.without_relevant:
        one = "query has no relevant document: it is"
        many = "queries have no relevant document: they are"
        sentence += f"\n{amount(found.without_relevant, one, many)} in no figure of a measure that needs one."
    if found.subtopics is not None:
        sentence += f"\n{found.subtopics.sentence}"
    for remark in _file_remarks(found):
        sentence += f"\n{remark}"
    few = rate_of_few(figure.n for system in found.runs for figure in system.overall.values())
    tables = [_headline(found, headline), _all_measures(found), _files(found)]
    spread = _seeds(found, headline)
    return [
        Section(
            "Systems",
            sentence,
            (intervals(f"{headline} of each system", marks),),
            tuple(tables if spread is None else [*tables, spread]),
            "The interval says how far the mean would differ on other queries of the same kind."
            + (f" {few}" if few else ""),
        )
    ]


def _size(system: EvaluatedSystem, headline: str) -> str:
    return system.overall[headline].no_interval or ""


def _headline(found: Evaluation, headline: str) -> Table:
    columns = ("system", headline, "95 %", "queries", "judged", "note")
    rows = []
    for system in found.runs:
        figure = system.overall[headline]
        shown = (figure.value, interval(figure), figure.n, share(figure.judged))
        rows.append((system.name, *shown, figure.no_interval or ""))
    return Table(f"{headline} by system", columns, tuple(rows))


def _all_measures(found: Evaluation) -> Table:
    totals = [one.name for one in measures_named(found.measures) if one.summary == "total"]
    beside = f"; {', '.join(totals)}: total" if totals else ""
    return by_measure(f"Every measure: mean over queries{beside}", found, told)


def _files(found: Evaluation) -> Table:
    columns = (
        "system",
        "file",
        "places",
        "queries missing",
        "unknown documents",
        "equal scores",
        "lines left out",
    )
    rows = []
    for system in found.runs:
        for facts in system.files:
            left_out = "; ".join(f"{count:,} {why}" for why, count in facts.left_out.items()) or "–"
            counts = (facts.places, facts.missing, facts.unknown_documents, facts.ties.documents)
            rows.append((system.name, facts.source, *counts, left_out))
    return Table("What the files held for these queries", columns, tuple(rows))


def _file_remarks(found: Evaluation) -> Iterator[str]:
    """What is wrong with the order of a file's lists."""
    for facts in (one for system in found.runs for one in system.files):
        if facts.against_scores:
            queries = amount(facts.against_scores, "query has", "queries have")
            yield f"{facts.source}: {queries} ranks that contradict the scores; the scores count."
        if mattering := getattr(facts.ties, "mattering", 0):
            queries = amount(mattering, "query", "queries")
            yield f"{facts.source}: another order of equal scores would give other figures of {queries}."


def _seeds(found: Evaluation, headline: str) -> Table | None:
    rows = [
        (system.name, spread.runs, spread.mean, spread.sd)
        for system in found.runs
        if (spread := system.seeds.get(headline)) is not None
    ]
    columns = ("system", "runs", "mean", "sd over runs")
    return Table(f"Several runs of one system: {headline}", columns, tuple(rows)) if rows else None


SECTION = ReportSection(10, write)
