"""The output of `goldgrade evaluate` on the terminal, as text or as one JSON object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.cli.evaluate_files import OUT, select_by_ending, write_files
from curation.cli.invocation import is_json
from curation.cli.output import emit, say, write_file
from curation.core.digests import to_json_value

if TYPE_CHECKING:
    from curation.core.reports.page import Section
    from curation.evaluation.condition_checks import CheckedCondition
    from curation.evaluation.evaluation import AnswerEvaluation, Evaluation
    from curation.evaluation.report.evaluation_report import EvaluationReport
    from curation.evaluation.rounded_figures import HeadlineEvaluation


def emit_headlines(headlines: Sequence[HeadlineEvaluation]) -> None:
    """Print one rounded figure of each run and of each file of answers."""
    result = to_json_value(headlines[0])
    if len(headlines) > 1:
        result["of_answers"] = headlines[1]
    emit(result, lambda: say(*(sentence for headline in headlines for sentence in headline.sentences)))


def emit_evaluation(
    evaluation: Evaluation, optional: Mapping[str, Any], checks: Sequence[CheckedCondition], files: list[Path]
) -> None:
    """Print an evaluation with its optional additions and its conditions, and write its files.

    optional: the evaluation of `answers` and the estimates with a `judge`; None where not requested.
    """
    from curation.evaluation.report.condition_results import make_condition_sections
    from curation.evaluation.report.evaluation_report import list_detail_headings, write_report
    from curation.releases.card import say_synthetic

    page = write_report(evaluation, optional["answers"], optional["judge"])
    write_files(files, evaluation, page, checks)
    if evaluation.synthetic:  # a reader of a terminal meets this before any figure
        warning = say_synthetic(evaluation.synthetic, evaluation.queries)
        findings = [finding for finding in page.findings if finding != warning]
        page = replace(page, findings=(warning, *findings))
    additions = {name: value for name, value in optional.items() if value is not None}
    if checks:
        failed = [row for condition in checks for row in condition.failed]
        additions |= {"failed": failed, "conditions": checks}
    sections, details = make_condition_sections(checks), list_detail_headings(evaluation)
    result = to_json_value(evaluation) | additions if is_json() else {}
    emit(result, lambda: _print_evaluation(page, sections, files, details))


def emit_answers(evaluation: AnswerEvaluation | None, files: Sequence[Path]) -> None:
    """Print an evaluation of answers without runs, and write the requested pages."""
    from curation.evaluation.report.evaluation_report import write_answer_report

    assert evaluation is not None  # there is a file of either kind
    page = write_answer_report(evaluation)
    for path in select_by_ending(files, ".html"):
        write_file(path, page.html, option=OUT)
    emit({"answers": evaluation}, lambda: _print_evaluation(page))


def _print_evaluation(
    page: EvaluationReport,
    condition_sections: Sequence[Section] = (),
    files: Sequence[Path] = (),
    details: Sequence[str] = (),
) -> None:
    """Print the report without its details, the sections of conditions, and the names of the files."""
    from curation.core.reports.terminal import show_report

    sections = [section for section in page.sections if section.heading not in details]
    show_report(page.title, page.findings, [*sections, *condition_sections], page.remark, page.lead)
    if details:
        say(f"An .html report has also: {', '.join(details)}.")
    if files:
        say(f"Wrote {', '.join(map(str, files))}.")
