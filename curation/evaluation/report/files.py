"""The figures of systems, written for other programs: trec_eval's lines, tables, Markdown and JUnit.

Each line of values has a measure, a query and a value; the lines for all queries together come last. Measures
have trec_eval's names, such as `ndcg_cut_10`; a measure that trec_eval lacks keeps goldgrade's name, such as
`mrr@10`. A query without a value in a measure, such as a query without a relevant document, has no line for
that measure. A query that the run misses has 0, as with trec_eval's option -c. Ids have no white space, as in
exports for TREC.

The table has systems by measures with intervals, and marks of systems that can be distinguished. The table
has the figures and marks of the report, so a sealed part has only the figures that leads see.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from curation.core.characters import show_controls
from curation.core.reports.page import Section
from curation.core.reports.table_files import markdown_table, markdown_text
from curation.core.reports.tables import Table
from curation.core.text import pluralize
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.fail_if import CheckedCondition
from curation.evaluation.figures.comparison import describe_deciding_test
from curation.evaluation.report.cells import format_figure, interval
from curation.evaluation.report.page import EvaluationReport
from curation.evaluation.scoring.measure_names import Measure, parse_measures
from curation.releases.export.trec import encode_ids
from curation.releases.gate_override import mark_name

_TREC_NAMES = {
    **{"rprec": "Rprec", "gmap": "gm_map", "set_precision": "set_P", "set_f1": "set_F"},
    **{name: name for name in ("bpref", "set_recall", "num_ret", "num_rel", "num_rel_ret")},
}
_AT_DEPTH = {"ndcg": "ndcg_cut", "map": "map_cut", "precision": "P", "recall": "recall", "success": "success"}
_LIST_NAMES = {"ndcg": "ndcg", "map": "map", "mrr": "recip_rank"}
_TOTALS_ONLY = ("gm_map",)
"""trec_eval's names of measures that have only a line for all queries."""

ABOVE, BELOW = "\u2191", "\u2193"
"""The marks of a system that is distinguished from the baseline."""
_JUNIT_ELEMENTS = {"failed": "failure", "not checked": "error", "passed": "system-out"}


def to_trec_name(measure: Measure) -> str:
    """Return trec_eval's name of a measure, or goldgrade's name for a measure that trec_eval lacks."""
    if measure.depth is not None:
        name = _AT_DEPTH.get(measure.kind)
        return f"{name}_{measure.depth}" if name else measure.name
    if measure.kind == "iprec":
        return f"iprec_at_recall_{measure.recall:.2f}"
    return (_TREC_NAMES | _LIST_NAMES).get(measure.kind, measure.name)


def write_trec_lines(evaluation: Evaluation, system: EvaluatedSystem) -> Iterator[str]:
    """Yield the lines of one system, each with its line feed; a sealed part has no lines by query."""
    names = {measure.name: to_trec_name(measure) for measure in parse_measures(evaluation.measures)}
    query_count = 0
    exported_ids = encode_ids(evaluation.query_ids or ())
    for index, query in enumerate(evaluation.query_ids or ()):
        values = {name: (system.per_query or {})[name][index] for name in evaluation.measures}
        lines = [
            _write_value(names[name], exported_ids[query], value)
            for name, value in values.items()
            if value is not None and names[name] not in _TOTALS_ONLY
        ]
        query_count += bool(lines)
        yield from lines
    yield _format_line("runid", "all", " ".join(show_controls(system.name).split()))
    yield _format_line("num_q", "all", str(query_count))
    for name in evaluation.measures:
        value = system.overall[name].value
        if value is not None:
            yield _write_value(names[name], "all", value)


def _write_value(name: str, query: str, value: float) -> str:
    return _format_line(name, query, f"{value:.0f}" if name.startswith("num_") else f"{value:6.4f}")


def _format_line(name: str, query: str, value: str) -> str:
    return f"{name:<22}\t{query}\t{value}\n"


def make_system_table(evaluation: Evaluation) -> Table:
    """Make a table with a row for each system and a column for each measure: mean, 95 % interval and mark."""
    marks, _, remark = _mark_comparisons(evaluation)
    rows = []
    for run in evaluation.runs:
        names = evaluation.measures
        cells = [(format_figure(run.overall[name]), marks.get((run.name, name))) for name in names]
        rows.append((run.name, *(" ".join(filter(None, texts)) for texts in cells)))
    name = mark_name(evaluation.release, evaluation.mark)
    queries = pluralize(evaluation.queries, "query", "queries")
    caption = f"{name}, {', '.join(evaluation.parts)}: {queries}; in parentheses the 95 % interval. {remark}"
    return Table(caption.rstrip(), ("system", *evaluation.measures), tuple(rows))


def make_figures_table(evaluation: Evaluation) -> Table:
    """Make a table for programs, with all digits: each measure's mean, interval, number of queries and
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
    """Mark each (system, measure) with letters of the leaderboard, or with arrows against the baseline.

    Also return the heading of a column of marks, and the sentence of the caption. A single system has no
    marks.
    """
    overall = [comparison for comparison in evaluation.comparisons if comparison.stratum is None]
    if not overall:
        return {}, "", ""
    deciding_test = describe_deciding_test(overall[0].deciding)
    if evaluation.leaderboards:
        boards = evaluation.leaderboards.items()
        marks = {(row.system, measure): row.letters for measure, rows in boards for row in rows}
        return (marks, "group", f"Systems with a common letter cannot be distinguished; {deciding_test}.")
    baseline = overall[0].other
    marks = {
        (comparison.system, comparison.measure): ABOVE if comparison.difference > 0 else BELOW
        for comparison in overall
        if comparison.distinguished and comparison.difference
    }
    remark = f"{ABOVE} above and {BELOW} below {baseline}, beyond noise; {deciding_test}."
    return marks, f"against {baseline}", remark


def write_markdown(page: EvaluationReport, evaluation: Evaluation, checks: Sequence[CheckedCondition]) -> str:
    """Write the outcomes of conditions, then the findings and the figures of all systems, as Markdown."""
    lines = [f"## {markdown_text(page.title)}", "", markdown_text(page.lead), ""]
    for check in checks:
        lines.append(f"- **{check.outcome}**: {markdown_text(check.condition)}")
        lines += [f"  - {markdown_text(sentence)}" for sentence in list_sentences(check)]
    lines += [""] if checks else []
    lines += [f"- {markdown_text(sentence)}" for sentence in page.findings]
    table = markdown_table(make_system_table(evaluation))
    return "\n".join([*lines, "", table, markdown_text(page.remark), ""])


def write_junit(title: str, conditions: Sequence[CheckedCondition]) -> str:
    """Write a JUnit suite with a test case for each condition; an unchecked condition is an error."""
    outcomes = [condition.outcome for condition in conditions]
    suite = ElementTree.Element("testsuite", name=show_controls(title), tests=str(len(conditions)))
    suite.attrib |= {"failures": str(outcomes.count("failed")), "errors": str(outcomes.count("not checked"))}
    for condition in conditions:
        case = ElementTree.SubElement(
            suite, "testcase", classname="goldgrade.evaluate", name=show_controls(condition.condition)
        )
        figures = list(map(show_controls, list_sentences(condition)))
        attributes = {} if condition.outcome == "passed" else {"message": figures[0]}
        ElementTree.SubElement(case, _JUNIT_ELEMENTS[condition.outcome], attributes).text = "\n".join(figures)
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def list_sentences(condition: CheckedCondition) -> list[str]:
    """List the figures that meet a condition, or all checked figures if no figure meets the condition."""
    return [figure.sentence for figure in condition.failed or condition.figures]


def make_condition_sections(conditions: Sequence[CheckedCondition]) -> list[Section]:
    """Show failed and unchecked conditions of --fail-if, with their figures; no section without
    conditions."""
    if not conditions:
        return []
    remarks, tables = [], []
    for condition in conditions:
        if condition.outcome == "not checked":
            remarks.append(f"Not checked: {condition.condition}: {condition.failed[0].sentence}")
        elif condition.failed:
            columns = ("system", "where", "n", "value", "against", "change", "95 % interval", "corrected p")
            rows = tuple(
                (row.system, row.where, row.n, row.value, row.reference, row.change, interval(row), row.p)
                for row in condition.failed
            )
            tables.append(Table(f"Failed: {condition.condition}", columns, rows))
    if not remarks and not tables:
        remarks.append("No condition of --fail-if holds.")
    return [Section("Conditions", "\n".join(remarks), (), tuple(tables))]
