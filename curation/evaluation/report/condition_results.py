"""Outcomes of the `--fail-if` conditions, as JUnit test cases or as a section of the report."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from curation.core.characters import show_controls
from curation.core.reports.page import Section
from curation.core.reports.tables import Table
from curation.evaluation.condition_checks import CheckedCondition
from curation.evaluation.report.cells import format_interval

_JUNIT_ELEMENTS = {"failed": "failure", "not checked": "error", "passed": "system-out"}


def write_junit(title: str, conditions: Sequence[CheckedCondition]) -> str:
    """Write a JUnit suite with one test case per condition; an unchecked condition becomes an error."""
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
    """List the values that make a `--fail-if` condition fail, or all checked values if the condition did not
    fail."""
    return [figure.sentence for figure in condition.failed or condition.figures]


def make_condition_sections(conditions: Sequence[CheckedCondition]) -> list[Section]:
    """Show failed and unchecked `--fail-if` conditions with their values; no section without conditions."""
    if not conditions:
        return []
    remarks, tables = [], []
    for condition in conditions:
        if condition.outcome == "not checked":
            remarks.append(f"Not checked: {condition.condition}: {condition.failed[0].sentence}")
        elif condition.failed:
            columns = ("system", "where", "n", "value", "against", "change", "95 % interval", "corrected p")
            rows = []
            for row in condition.failed:
                figures = (row.n, row.value, row.reference, row.change, format_interval(row), row.p)
                rows.append((row.system, row.where, *figures))
            tables.append(Table(f"Failed: {condition.condition}", columns, tuple(rows)))
    if not remarks and not tables:
        remarks.append("No --fail-if condition holds.")
    return [Section("Conditions", "\n".join(remarks), (), tuple(tables))]
