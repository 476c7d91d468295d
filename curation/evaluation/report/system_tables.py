"""Tables of systems by measures for other programs, with intervals and marks of significance.

The table has the figures and marks of the report, so a sealed part has only the figures that leads see.
"""

from __future__ import annotations

from collections.abc import Sequence

from curation.core.reports.table_files import escape_markdown, format_markdown
from curation.core.reports.tables import Table
from curation.core.text import pluralize
from curation.evaluation.condition_checks import CheckedCondition
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.comparison import describe_deciding_test
from curation.evaluation.report.cells import format_figure
from curation.evaluation.report.condition_results import list_sentences
from curation.evaluation.report.evaluation_report import EvaluationReport
from curation.releases.gate_override import mark_name

ABOVE, BELOW = "\u2191", "\u2193"
"""Marks of a system that differs significantly from the baseline."""


def make_system_table(evaluation: Evaluation) -> Table:
    """Make a table with one row per system and one column per measure: mean, 95 % interval and mark."""
    marks, _, remark = _mark_comparisons(evaluation)
    rows = []
    for run in evaluation.runs:
        names = evaluation.measures
        cells = [(format_figure(run.overall[name]), marks.get((run.name, name))) for name in names]
        rows.append((run.name, *(" ".join(filter(None, texts)) for texts in cells)))
    name = mark_name(evaluation.release, evaluation.mark)
    queries = pluralize(evaluation.queries, "query", "queries")
    caption = (
        f"{name}, {', '.join(evaluation.parts)}: {queries}; the 95 % interval is in parentheses. {remark}"
    )
    return Table(caption.rstrip(), ("system", *evaluation.measures), tuple(rows))


def make_figures_table(evaluation: Evaluation) -> Table:
    """Make a machine-readable table with all digits: each measure's mean, interval, number of queries and
    mark."""
    marks, column, _ = _mark_comparisons(evaluation)
    columns = ["system"]
    for measure in evaluation.measures:
        columns += [measure, f"{measure} low", f"{measure} high", f"{measure} n"]
        columns += [f"{measure} {column}"] if column else []
    rows = []
    for system in evaluation.runs:
        row: list[object] = [system.name]
        for measure in evaluation.measures:
            figure = system.overall[measure]
            row += [figure.value, figure.low, figure.high, figure.n]
            row += [marks.get((system.name, measure))] if column else []
        rows.append(tuple(row))
    return Table("", tuple(columns), tuple(rows))


def _mark_comparisons(evaluation: Evaluation) -> tuple[dict[tuple[str, str], str], str, str]:
    """Mark each (system, measure) with letters from the leaderboard, or with arrows against the baseline.

    Also return the heading of a column of marks, and the sentence of the caption. A single system has no
    marks.
    """
    overall = [comparison for comparison in evaluation.comparisons if comparison.stratum is None]
    if not overall:
        return {}, "", ""
    deciding_test = describe_deciding_test(overall[0].deciding_test)
    if evaluation.leaderboards:
        boards = evaluation.leaderboards.items()
        marks = {(row.system, measure): row.letters for measure, rows in boards for row in rows}
        return (marks, "group", f"Systems that share a letter cannot be distinguished; {deciding_test}.")
    baseline = overall[0].other
    marks = {
        (comparison.system, comparison.measure): ABOVE if comparison.difference > 0 else BELOW
        for comparison in overall
        if comparison.distinguished and comparison.difference
    }
    remark = f"{ABOVE} significantly above {baseline}, {BELOW} significantly below; {deciding_test}."
    return marks, f"against {baseline}", remark


def write_markdown(page: EvaluationReport, evaluation: Evaluation, checks: Sequence[CheckedCondition]) -> str:
    """Write the outcomes of conditions, then the findings and results of all systems, in Markdown."""
    lines = [f"## {escape_markdown(page.title)}", "", escape_markdown(page.lead), ""]
    for check in checks:
        lines.append(f"- **{check.outcome}**: {escape_markdown(check.condition)}")
        lines += [f"  - {escape_markdown(sentence)}" for sentence in list_sentences(check)]
    lines += [""] if checks else []
    lines += [f"- {escape_markdown(sentence)}" for sentence in page.findings]
    table = format_markdown(make_system_table(evaluation))
    return "\n".join([*lines, "", table, escape_markdown(page.remark), ""])
