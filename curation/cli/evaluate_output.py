"""The output of `goldgrade evaluate`: text or JSON on the terminal, and the files of --out.

Files that cannot be written are refused before the evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.cli.invocation import is_json
from curation.cli.output import emit, say, write_file
from curation.core.digests import to_json_value
from curation.core.errors import InputError, refuse_problems

if TYPE_CHECKING:
    from curation.core.reports.page import Section
    from curation.evaluation.condition_checks import CheckedCondition
    from curation.evaluation.evaluation import AnswerEvaluation, Evaluation
    from curation.evaluation.report.evaluation_report import EvaluationReport
    from curation.evaluation.rounded_figures import HeadlineEvaluation

OUT = "--out"
ENDINGS = (".html", ".md", ".xml", ".csv", ".tex", ".txt")


def select_by_ending(files: Sequence[Path], *suffixes: str) -> list[Path]:
    """Return the files with one of these extensions."""
    return [path for path in files if path.suffix.lower() in suffixes]


def check_endings(files: Sequence[Path], has_conditions: bool) -> None:
    """Reject output files that the command cannot write, because of their extension or because no condition
    was given.

    Raises
    ------
    InputError: an ending names no format, or a file of test cases has no --fail-if.
    """
    unknown = [path for path in files if path not in select_by_ending(files, *ENDINGS)]
    problems = [f"{OUT} {path}: expected an ending of {', '.join(ENDINGS)}" for path in unknown]
    if not has_conditions:
        problem = "the file needs a test case, which only --fail-if makes; add --fail-if"
        problems += [f"{OUT} {path}: {problem}" for path in select_by_ending(files, ".xml")]
    refuse_problems(problems)


def refuse_unwritable(files: Sequence[Path], systems: Sequence[str], inputs: Sequence[Path]) -> None:
    """Refuse, before any work, files that cannot be written, that are named twice, or that are read.

    Parameters
    ----------
    systems: names of the systems; with several systems each has its own file with the values of queries.
    inputs: the project first, then the files that are evaluated.

    Raises
    ------
    InputError: a file is refused.
    """
    uses = {path.resolve(): "also an input file" for path in inputs[1:]}
    uses[inputs[0].resolve()] = "the project itself"
    expected = "expected the name of a file in an existing folder"
    for file in files:
        for path in _list_query_paths(file, systems) if select_by_ending([file], ".txt") else [file]:
            if path.is_dir():
                raise InputError(f"{OUT} {path}: it is a folder; {expected}.")
            if not path.resolve().parent.is_dir():
                raise InputError(f"{OUT} {path}: its folder does not exist; {expected}.")
            if use := uses.get(path.resolve()):
                raise InputError(f"{OUT} {path}: it is {use}; expected a different name.")
            uses[path.resolve()] = f"also the path of a different {OUT} file"


def write_files(
    files: Sequence[Path], evaluation: Evaluation, page: EvaluationReport, checks: Sequence[CheckedCondition]
) -> None:
    """Write the report files named in the option --out.

    Raises
    ------
    InputError: a file cannot be written.
    """
    from curation.core.reports.table_files import find_table_format, format_csv
    from curation.evaluation.report import condition_results, system_tables, trec_lines

    for path in select_by_ending(files, ".html"):
        write_file(path, page.html, OUT)
    for path in select_by_ending(files, ".md"):
        write_file(path, system_tables.write_markdown(page, evaluation, checks), OUT)
    for path in select_by_ending(files, ".xml"):
        write_file(path, condition_results.write_junit(page.title, checks), OUT)
    for path in select_by_ending(files, ".csv", ".tex"):
        writer = find_table_format(path, OUT)
        is_csv = writer is format_csv
        make_table = system_tables.make_figures_table if is_csv else system_tables.make_system_table
        write_file(path, writer(make_table(evaluation)), OUT)
    for path in select_by_ending(files, ".txt"):
        paths = _list_query_paths(path, [system.name for system in evaluation.runs])
        for query_path, system in zip(paths, evaluation.runs, strict=True):
            write_file(query_path, "".join(trec_lines.write_trec_lines(evaluation, system)), OUT)


def _list_query_paths(path: Path, systems: Sequence[str]) -> list[Path]:
    """Return the file of each system; if there are several, the file name contains the system's name."""
    if len(systems) < 2:
        return [path]
    return [path.with_name(f"{path.stem}.{name}{path.suffix}") for name in systems]


def emit_headlines(headlines: Sequence[HeadlineEvaluation]) -> None:
    """Print one rounded figure for each run and each answer file."""
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
    from curation.evaluation.report.evaluation_report import (
        list_detail_headings,
        warn_of_source,
        write_report,
    )

    page = write_report(evaluation, optional["answers"], optional["judge"])
    write_files(files, evaluation, page, checks)
    warnings = warn_of_source(evaluation)  # people at a terminal read them before any figure
    findings = [finding for finding in page.findings if finding not in warnings]
    page = replace(page, findings=(*warnings, *findings))
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

    assert evaluation is not None  # the request has a file of runs or of answers
    page = write_answer_report(evaluation)
    for path in select_by_ending(files, ".html"):
        write_file(path, page.html, option=OUT)
    emit({"answers": evaluation}, lambda: _print_evaluation(page, (), (), ()))


def _print_evaluation(
    page: EvaluationReport, conditions: Sequence[Section], files: Sequence[Path], details: Sequence[str]
) -> None:
    """Print the report without its details, the sections of conditions, and the names of the files."""
    from curation.core.reports.terminal import show_report

    sections = [section for section in page.sections if section.heading not in details]
    show_report(page.title, page.findings, [*sections, *conditions], page.remark, page.lead)
    if details:
        say(f"An .html report has also: {', '.join(details)}.")
    if files:
        say(f"Wrote {', '.join(map(str, files))}.")
