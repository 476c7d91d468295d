"""An evaluation in short, for continuous integration: Markdown for a comment, XML of JUnit for test reports.

Both are made of what the report shows, so of a sealed part they say what leads see.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from curation.core.reports.table_files import markdown_table, markdown_text
from curation.core.text import printable
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.fail_if import CheckedCondition
from curation.evaluation.report.files import system_table
from curation.evaluation.report.page import EvaluationReport

KINDS = ("md", "junit")
_ELEMENTS = {"failed": "failure", "not checked": "error", "passed": "system-out"}


def summary(
    kind: str, page: EvaluationReport, evaluation: Evaluation, conditions: Sequence[CheckedCondition]
) -> str:
    """The summary of that kind, one of `KINDS`."""
    return junit(page.title, conditions) if kind == "junit" else markdown(page, evaluation, conditions)


def markdown(page: EvaluationReport, evaluation: Evaluation, conditions: Sequence[CheckedCondition]) -> str:
    """What came of the conditions first, then the figures of all systems."""
    lines = [f"## {markdown_text(page.title)}", "", markdown_text(page.lead), ""]
    for condition in conditions:
        lines.append(f"- **{condition.outcome}**: {markdown_text(condition.condition)}")
        lines += [f"  - {markdown_text(sentence)}" for sentence in sentences(condition)]
    lines += [""] if conditions else []
    lines += [f"- {markdown_text(sentence)}" for sentence in page.findings]
    return "\n".join([*lines, "", markdown_table(system_table(evaluation)), markdown_text(page.remark), ""])


def junit(title: str, conditions: Sequence[CheckedCondition]) -> str:
    """A suite with a test case for each condition; in error is one that nothing could be checked for."""
    outcomes = [condition.outcome for condition in conditions]
    suite = ElementTree.Element("testsuite", name=printable(title), tests=str(len(conditions)))
    suite.attrib |= {"failures": str(outcomes.count("failed")), "errors": str(outcomes.count("not checked"))}
    for one in conditions:
        case = ElementTree.SubElement(
            suite, "testcase", classname="goldgrade.evaluate", name=printable(one.condition)
        )
        said = list(map(printable, sentences(one)))
        about = {} if one.outcome == "passed" else {"message": said[0]}
        ElementTree.SubElement(case, _ELEMENTS[one.outcome], about).text = "\n".join(said)
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def sentences(condition: CheckedCondition) -> list[str]:
    """The figures that a condition is about: those that meet it, or all where none does."""
    return [figure.sentence for figure in condition.failed or condition.figures]
