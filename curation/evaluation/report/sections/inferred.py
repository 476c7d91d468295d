"""Report, inferred: AP and nDCG of the whole pool, where a random sample of it was judged."""

from __future__ import annotations

from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.inferred import FEW_RELEVANT, MEASURES, InferredFigures
from curation.evaluation.metrics.bounds import why_below
from curation.evaluation.report.section import ReportSection, interval, mark
from curation.reports.charts import intervals
from curation.reports.page import Section, Table
from curation.text import amount


def write(found: Evaluation) -> list[Section]:
    inferred = found.inferred
    if inferred is None:
        return []
    marks = [
        mark(f"{name}, {measure.removeprefix('inferred_')}", figures[measure])
        for measure in MEASURES
        for name, figures in inferred.systems.items()
    ]
    return [
        Section(
            "Inferred for the whole pool",
            "\n".join(sentences(inferred)),
            (intervals("Estimates of each system", marks),),
            (_estimates(inferred), _bands(inferred)),
            "If none and if all: the measure itself, if none or all of the unjudged documents that the "
            "system returned were relevant.",
        )
    ]


def sentences(inferred: InferredFigures) -> list[str]:
    """What the estimates are made of, and what to read them for."""
    drawn = sum(band.drawn or 0 for band in inferred.bands)
    if inferred.recorded:
        told = [
            f"A random sample of the pool was judged: {drawn:,} of {amount(inferred.pooled, 'pair')} "
            "were drawn, "
            f"{inferred.judged:,} of these have a grade.",
            "The other figures take the rest for not relevant. These infer what judging the whole pool would "
            "give, from how likely the release says that each pair was to be drawn.",
        ]
        if drawn > inferred.judged:
            told.append(
                f"{drawn - inferred.judged:,} drawn pairs have no grade: the others of their band count for "
                "them, as if chance had left them out."
            )
    else:
        told = [
            f"Somebody said that the judged pairs, {inferred.judged:,} of {inferred.pooled:,}, are a random "
            "sample of the pool."
        ]
    if inferred.not_drawn:
        one = "pair was judged without being drawn, and does"
        many = "pairs were judged without being drawn, and do"
        told.append(f"{amount(inferred.not_drawn, one, many)} not count here.")
    if inferred.without_estimate:
        told.append(
            f"{amount(inferred.without_estimate, 'query has', 'queries have')} no estimate: nothing "
            "relevant was judged, or "
            "nothing of a band."
        )
    if inferred.few_relevant:
        told.append(
            f"{amount(inferred.few_relevant, 'query has', 'queries have')} fewer than {FEW_RELEVANT} "
            "relevant documents by "
            "estimate. Their estimates are too high on average, and intervals then hold the truth less often "
            "than 95 %."
        )
    figures = (figure for rows in inferred.systems.values() for figure in rows.values())
    why = why_below((figure.if_none, figure.if_all) for figure in figures)
    return [*told, why] if why else told


def _estimates(inferred: InferredFigures) -> Table:
    rows = [
        (name, measure, one.value, interval(one), one.n, one.if_none, one.if_all)
        for name, figures in inferred.systems.items()
        for measure, one in figures.items()
    ]
    columns = ("system", "measure", "estimate", "95 %", "queries", "if none", "if all")
    return Table("Estimates", columns, tuple(rows))


def _bands(inferred: InferredFigures) -> Table:
    rows = [
        (band.name, band.pooled, "–" if band.drawn is None else band.drawn, band.judged)
        for band in inferred.bands
    ]
    columns = ("band", "pooled", "drawn", "judged")
    return Table("The pool by the best rank that a system gave", columns, tuple(rows))


SECTION = ReportSection(15, write)
