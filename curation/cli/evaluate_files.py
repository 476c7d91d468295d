"""Files that `goldgrade evaluate` writes besides its report: tables of systems, values of single queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from curation.cli.output import refuse_no_page, write_page
from curation.core.errors import InputError, refuse_problems

if TYPE_CHECKING:
    from curation.evaluation.evaluation import Evaluation
    from curation.evaluation.fail_if import CheckedCondition
    from curation.evaluation.report.page import EvaluationReport
    from curation.evaluation.scoring.inputs.run_sources import RunSource

REPORT, TABLE, PER_QUERY, SUMMARY = "--html", "--table", "--per-query", "--summary"
BASELINE = "baseline"
"""What the file of a baseline is called whose own name is that of another run."""
Summaries = Mapping[str, Path | None]
"""Kind of summary → its file; None is standard output."""


def with_baseline(
    sources: Sequence[RunSource], baseline: str | None
) -> tuple[Sequence[RunSource], str | None]:
    """The runs with the file of the baseline before them, where it is one, and the name of the baseline.

    Raises
    ------
    InputError: it is neither a run nor a file.
    """
    from curation.evaluation.scoring.inputs.run_sources import named_runs

    names = [source.name for source in sources]
    if baseline is None or baseline in names or not sources:
        return sources, baseline
    [own] = named_runs([baseline])
    if not own.path.is_file():
        raise InputError(
            f"--baseline {baseline}: it is none of the runs ({', '.join(names) or 'none is named'}), and "
            "there is no such file; expected the NAME of a run, FILE or NAME=FILE."
        )
    for one in sources:
        if one.path.resolve() == own.path.resolve():
            return sources, one.name
    own = own._replace(name=BASELINE) if own.name in names else own
    return [own, *sources], own.name


def read_summaries(texts: Sequence[str], as_json: bool, conditions: bool) -> Summaries:
    """The summaries that are asked for, as KIND or KIND=FILE; the file - is standard output.

    Raises
    ------
    InputError: a kind that there is not, more than one thing on standard output, or no condition for a test
        case.
    """
    from curation.evaluation.report.summary import KINDS

    found: dict[str, Path | None] = {}
    problems = []
    for text in texts:
        kind, _, path = text.partition("=")
        if kind not in KINDS:
            problems.append(f"{SUMMARY} {text}: expected {' or '.join(KINDS)}, or such as md=summary.md")
        found[kind] = None if path in ("", "-") else Path(path)
    if list(found.values()).count(None) + as_json > 1:
        problems.append(f"{SUMMARY}: one thing is printed; name a file for the others, such as md=summary.md")
    if "junit" in found and not conditions:
        problems.append(f"{SUMMARY} junit: it has a test case for each --fail-if, and there is none")
    refuse_problems(problems)
    return found


def write_summaries(
    summaries: Summaries,
    page: EvaluationReport,
    evaluation: Evaluation,
    conditions: Sequence[CheckedCondition],
) -> list[Path]:
    """Write the summaries, and return the paths of their files; one without a file is printed.

    Raises
    ------
    InputError: one of them cannot be written.
    """
    from curation.evaluation.report.summary import summary

    for kind, path in summaries.items():
        text = summary(kind, page, evaluation, conditions)
        if path is None:
            print(text, end="")
        else:
            write_page(path, text, option=SUMMARY, what="file")
    return [path for path in summaries.values() if path is not None]


def refuse_no_files(
    report: Path | None,
    tables: Sequence[Path],
    per_query: Path | None,
    systems: Sequence[str],
    read: Sequence[Path],
    summaries: Summaries,
) -> None:
    """Stop, before any work, where a file could not be written, is another one, or is one that is `read`.

    Parameters
    ----------
    systems: their names; of several, each has a file of its own with the values of queries.
    read: the project first, then what is evaluated.

    Raises
    ------
    InputError: as said, or the ending of a table's name says no format.
    """
    from curation.core.reports.table_files import writer_for

    taken = {path.resolve(): "a file that is read" for path in read[1:]}
    named = [] if report is None else [(REPORT, report)]
    named += [(TABLE, path) for path in tables]
    named += [(SUMMARY, path) for path in summaries.values() if path is not None]
    named += [(PER_QUERY, path) for path in _query_paths(per_query, systems)]
    for option, path in named:
        if option == TABLE:
            writer_for(path, option)
        refuse_no_page(path, read[0], option, "file")
        if other := taken.get(path.resolve()):
            raise InputError(f"{option} {path}: it is {other}, too; expected another name.")
        taken[path.resolve()] = f"what {option} writes"


def _query_paths(path: Path | None, systems: Sequence[str]) -> list[Path]:
    """The file of each system: the one that was named, or with several one with the system's name in it."""
    if path is None or len(systems) < 2:
        return [] if path is None else [path]
    return [path.with_name(f"{path.stem}.{name}{path.suffix}") for name in systems]


def write_files(evaluation: Evaluation, tables: Sequence[Path], per_query: Path | None) -> list[Path]:
    """Write the files that were asked for, and return their paths.

    Raises
    ------
    InputError: one of them cannot be written.
    """
    files = [
        *_tables(evaluation, tables),
        *(_queries(evaluation, per_query) if per_query is not None else ()),
    ]
    for path, option, text in files:
        write_page(path, text, option=option, what="file")
    return [path for path, _, _ in files]


def _tables(evaluation: Evaluation, paths: Sequence[Path]) -> Iterator[tuple[Path, str, str]]:
    from curation.core.reports.table_files import csv_table, writer_for
    from curation.evaluation.report.files import system_figures, system_table

    for path in paths:
        writer = writer_for(path, TABLE)
        made = system_figures(evaluation) if writer is csv_table else system_table(evaluation)
        yield path, TABLE, writer(made)


def _queries(evaluation: Evaluation, path: Path) -> Iterator[tuple[Path, str, str]]:
    from curation.evaluation.report.files import trec_lines

    paths = _query_paths(path, [system.name for system in evaluation.runs])
    for own, system in zip(paths, evaluation.runs, strict=True):
        yield own, PER_QUERY, "".join(trec_lines(evaluation, system))
