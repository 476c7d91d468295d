"""The files that `goldgrade evaluate --out` writes; files that cannot be written are refused in advance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from curation.cli.output import write_file
from curation.core.errors import InputError, refuse_problems

if TYPE_CHECKING:
    from curation.evaluation.condition_checks import CheckedCondition
    from curation.evaluation.evaluation import Evaluation
    from curation.evaluation.report.evaluation_report import EvaluationReport


OUT = "--out"
ENDINGS = (".html", ".md", ".xml", ".csv", ".tex", ".txt")


def select_by_ending(files: Sequence[Path], *suffixes: str) -> list[Path]:
    """Select the files whose names have one of the endings."""
    return [path for path in files if path.suffix.lower() in suffixes]


def check_endings(files: Sequence[Path], has_conditions: bool) -> None:
    """Refuse files that cannot be made.

    Raises
    ------
    InputError: an ending names no format, or a file of test cases has no --fail-if.
    """
    unknown = [path for path in files if path not in select_by_ending(files, *ENDINGS)]
    problems = [f"{OUT} {path}: expected an ending of {', '.join(ENDINGS)}" for path in unknown]
    if not has_conditions:
        problems += [
            f"{OUT} {path}: the file has a test case for each --fail-if, and no --fail-if was given"
            for path in select_by_ending(files, ".xml")
        ]
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
    uses = {path.resolve(): "also a file that is read" for path in inputs[1:]}
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
            uses[path.resolve()] = f"also a file that {OUT} writes"


def write_files(
    files: Sequence[Path], evaluation: Evaluation, page: EvaluationReport, checks: Sequence[CheckedCondition]
) -> None:
    """Write the files that --out names.

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
    """Return the file of each system; with several systems the name of the file contains the system's
    name.
    """
    if len(systems) < 2:
        return [path]
    return [path.with_name(f"{path.stem}.{name}{path.suffix}") for name in systems]
