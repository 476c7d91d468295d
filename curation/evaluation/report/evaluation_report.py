"""The report of an evaluation as sections, as one HTML file or as Markdown; equal evaluations give equal
bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from curation.core.reports.page import Section, html_page
from curation.core.reports.table_files import format_markdown
from curation.core.reports.tables import QueryName, Table
from curation.core.text import decimal, interval_text, p_text, percent, pluralize
from curation.evaluation.evaluation import AnswerEvaluation, Evaluation
from curation.evaluation.figures.comparison import select_overall
from curation.evaluation.llm_judges.estimates import JudgedEvaluation
from curation.evaluation.report import (
    answer_sections,
    average_sections,
    comparison_sections,
    estimate_sections,
    judgment_sections,
    method_sections,
    query_sections,
    run_sections,
)
from curation.evaluation.report.cells import format_figure
from curation.evaluation.scoring.measure_names import parse_measures
from curation.evaluation.scoring.release import MIN_QUERIES
from curation.releases.gate_override import mark_name, warn_of_override

SECTIONS: tuple[Callable[[Evaluation], Sequence[Section]], ...] = (
    run_sections.write_systems,
    run_sections.write_context,
    comparison_sections.write_comparison,
    comparison_sections.write_strata,
    average_sections.write_averages,
    query_sections.write_queries,
    judgment_sections.write_abstention,
    judgment_sections.write_judged,
    judgment_sections.write_hard_negatives,
    method_sections.write_sealed,
    method_sections.write_method,
)
"""Writers of the report's sections in reading order; a writer with nothing to show returns no section."""
DETAILS = (query_sections.write_queries, judgment_sections.write_judged, method_sections.write_method)
"""Functions that write sections which only the page shows, and the terminal leaves out."""


@dataclass(frozen=True)
class EvaluationReport:
    """A report in the form shown by the HTML page and the app."""

    title: str
    lead: str
    findings: tuple[str, ...]
    sections: tuple[Section, ...]
    remark: str

    @property
    def html(self) -> str:
        """Return the report as an HTML page."""
        return html_page(self.title, self.findings, self.sections, self.remark, self.lead)

    @property
    def markdown(self) -> str:
        """Return all tables of the report in Markdown, each below its section's heading."""
        tables = [(section.heading, table) for section in self.sections for table in section.tables]
        return "\n".join(f"## {heading}\n\n{format_markdown(table)}" for heading, table in tables)


def write_sections(evaluation: Evaluation) -> list[Section]:
    """Write all sections of an evaluation's report, in reading order."""
    return [section for write in SECTIONS for section in write(evaluation)]


def list_detail_headings(evaluation: Evaluation) -> list[str]:
    """List the headings of sections that only the page shows and the terminal leaves out."""
    return [section.heading for write in DETAILS for section in write(evaluation)]


def write_findings(evaluation: Evaluation, answers: AnswerEvaluation | None = None) -> list[str]:
    """Write the most important results in sentences."""
    headline = evaluation.measures[0]
    sentences = [*explain_other_means(evaluation), *warn_of_override(evaluation.release, evaluation.mark)]
    if answers is not None:
        sentences += answer_sections.write_triple_findings(evaluation, answers)
    else:
        sentences += compare_best(evaluation)
        for system in evaluation.runs[:5]:
            figure = system.overall[headline]
            queries = pluralize(figure.n, "query", "queries")
            sentences.append(f"{system.name}: {headline} {format_figure(figure)}, {queries}.")
    if len(evaluation.runs) > 5:
        sentences.append(f"{len(evaluation.runs) - 5:,} more systems are in the tables.")
    gains = explain_gains(evaluation)
    if gains:
        sentences.append(gains)
    sentences += warn_of_source(evaluation)
    if evaluation.sealed_count:
        parts = ", ".join(evaluation.sealed)
        sentences.append(evaluation.sealed_count.sentence)
        sentences.append(f"{parts} is sealed: the report hides values from fewer than ten queries.")
    return sentences


def warn_of_source(evaluation: Evaluation) -> list[str]:
    """Say if a language model wrote the evaluated queries, and how many queries of the other kind are
    evaluated separately."""
    written = ""
    if evaluation.synthetic:
        from curation.releases.card import say_synthetic

        written = say_synthetic(evaluation.synthetic, evaluation.queries)
    kind = "other" if written else "synthetic"
    left_out = pluralize(evaluation.apart, f"{kind} query is", f"{kind} queries are")
    apart = f"{left_out} evaluated separately: no value averages synthetic queries with other queries."
    return [*([written] if written else []), *([apart] if evaluation.apart else [])]


def explain_other_means(evaluation: Evaluation) -> list[str]:
    """Give the means over all qrels queries, as reported by tools that count undefined values as 0."""
    measure = parse_measures(evaluation.measures[:1])[0]
    figures = {run.name: run.overall[measure.name] for run in evaluation.runs[:5]}
    n, queries = next(iter(figures.values())).n, evaluation.queries
    if not evaluation.has_only_qrels or n in (0, queries):
        return []
    means = {name: figure.value or 0.0 for name, figure in figures.items()}
    ours = ", ".join(f"{name} {decimal(mean, 4)}" for name, mean in means.items())
    theirs = ", ".join(f"{name} {decimal(mean * n / queries, 4)}" for name, mean in means.items())
    have = pluralize(queries - n, "query has", "queries have")
    return [
        f"{have} no relevant document and therefore no {measure.name} value. Means over the other {n:,}: "
        f"{ours}. Means over all {queries:,}, with missing values as 0 as in ir_measures: {theirs}."
    ]


def compare_best(evaluation: Evaluation) -> list[str]:
    """Compare the two best systems by the first measure in a sentence; no sentence if they were not
    compared."""
    measure = parse_measures(evaluation.measures[:1])[0]
    figures = {run.name: run.overall[measure.name] for run in evaluation.runs}
    known = {name: figure.value for name, figure in figures.items() if figure.value is not None}
    names = sorted(known, key=lambda name: -known[name])[:2]
    for row in select_overall(evaluation.comparisons, measure.name):
        if {row.system, row.other} != set(names):
            continue
        scores = ", ".join(f"{name} {decimal(known[name])}" for name in names)
        if row.difference is None:
            queries = pluralize(row.n, "query has", "queries have")
            return [f"{scores}: a test of the difference needs {MIN_QUERIES} queries; {queries} both scores."]
        difference, low, high = row.difference, row.low, row.high
        if row.system != names[0]:
            difference, low, high = -difference, high and -high, low and -low
        shares = " and ".join(percent(figures[name].judged) for name in names)
        where = f"the top {measure.depth}" if measure.depth else "the lists"
        return [
            f"{scores}: difference {decimal(difference)} ({interval_text(low, high)}), "
            f"p {p_text(row.p_corrected)}; {shares} of {where} are judged."
        ]
    return []


def write_report(
    evaluation: Evaluation, answers: AnswerEvaluation | None = None, judged: JudgedEvaluation | None = None
) -> EvaluationReport:
    """Write the report of an evaluation.

    Parameters
    ----------
    answers: the evaluation of answers on the same parts; the report then begins with retrieval and answers.
    judged: estimates with a judge.
    """
    parts = ", ".join(evaluation.parts)
    triple = [] if answers is None else answer_sections.write_triples(evaluation, answers)
    return EvaluationReport(
        title=f"Evaluation on {mark_name(evaluation.release, evaluation.mark)}, {parts}",
        lead=(
            f"{pluralize(evaluation.queries, 'query', 'queries')}; documents of grade "
            f"{evaluation.relevant_grade} or more are relevant (scale: "
            f"{', '.join(map(str, evaluation.scale))})."
        ),
        findings=tuple(write_findings(evaluation, answers)),
        sections=(
            *triple,
            *answer_sections.write_answers(answers),
            *estimate_sections.make_judge_sections(judged),
            *write_sections(evaluation),
        ),
        remark=(
            f"Intervals: 95 %, {evaluation.resamples:,} resamples of queries, seed {evaluation.seed}. "
            f"Release id: {evaluation.release_id}."
        ),
    )


def write_answer_report(evaluation: AnswerEvaluation) -> EvaluationReport:
    """Write the report of an evaluation of answers only."""
    first = answer_sections.choose_shown_measures(evaluation)[0]
    findings = []
    for system in evaluation.systems:
        queries = pluralize(system.overall[first].n, "query", "queries")
        findings.append(f"{system.name}: {first} {format_figure(system.overall[first])}, {queries}.")
    return EvaluationReport(
        title=(f"Answers on {mark_name(evaluation.release, evaluation.mark)}, {', '.join(evaluation.parts)}"),
        lead=answer_sections.count_compared_queries(evaluation),
        findings=(
            *warn_of_override(evaluation.release, evaluation.mark),
            *findings,
            *answer_sections.write_support_findings(evaluation),
            *([evaluation.sealed_count.sentence] if evaluation.sealed_count else []),
        ),
        sections=tuple(answer_sections.write_answers(evaluation)),
        remark=f"Intervals: 95 %, seed {evaluation.seed}. Release id: {evaluation.release_id}.",
    )


def parse_report(text: str) -> EvaluationReport:
    """Read a report stored as JSON; its drawings come from goldgrade's templates."""
    values = json.loads(text)
    return EvaluationReport(
        title=values["title"],
        lead=values["lead"],
        findings=tuple(values["findings"]),
        sections=tuple(map(_parse_section, values["sections"])),
        remark=values["remark"],
    )


def _parse_section(values: Mapping[str, Any]) -> Section:
    tables = []
    for table in values["tables"]:
        columns = tuple(table["columns"])
        rows = tuple(_restore_query_names(columns, table["rows"]))
        tables.append(Table(table["caption"], columns, rows, table["words"]))
    drawings = tuple(map(Markup, values["drawings"]))
    return Section(values["heading"], values["sentence"], drawings, tuple(tables), values["remark"])


def _restore_query_names(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield rows with the queries' names restored from their text and the id in the column 'query id'."""
    index = columns.index("query id") if "query id" in columns else None
    for row in rows:
        yield tuple(
            QueryName(cell, row[index]) if column == "query" and index is not None else cell
            for column, cell in zip(columns, row, strict=True)
        )


def explain_gains(evaluation: Evaluation) -> str:
    """Explain the gains of nDCG if the scale has more than two grades; else ''."""
    first = parse_measures(evaluation.measures[:1])[0]
    if first.kind not in ("ndcg", "ndcg_exp") or len(evaluation.scale) <= 2:
        return ""
    linear = first._replace(kind="ndcg").name
    exponential = first._replace(kind="ndcg_exp").name
    return (
        f"{exponential} has the gain 2^grade − 1. {linear} has the grade itself as gain, as in trec_eval, "
        "BEIR and MTEB. Compare only scores with the same gain."
    )
