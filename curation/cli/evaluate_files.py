"""Files that `goldset evaluate` writes besides its report: tables of systems, values of single queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from curation.cli.output import refuse_no_page, write_page
from curation.errors import InputError

if TYPE_CHECKING:
    from curation.evaluation.evaluation import Evaluation

REPORT, TABLE, PER_QUERY = "--html", "--table", "--per-query"


def refuse_no_files(
    report: Path | None,
    tables: Sequence[Path],
    per_query: Path | None,
    systems: Sequence[str],
    read: Sequence[Path],
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
    from curation.reports.table_files import writer_for

    taken = {path.resolve(): "a file that is read" for path in read[1:]}
    named = [] if report is None else [(REPORT, report)]
    named += [(TABLE, path) for path in tables]
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


def write_files(found: Evaluation, tables: Sequence[Path], per_query: Path | None) -> list[Path]:
    """Write the files that were asked for, and return their paths.

    Raises
    ------
    InputError: one of them cannot be written.
    """
    files = [*_tables(found, tables), *(_queries(found, per_query) if per_query is not None else ())]
    for path, option, text in files:
        write_page(path, text, option=option, what="file")
    return [path for path, _, _ in files]


def _tables(found: Evaluation, paths: Sequence[Path]) -> Iterator[tuple[Path, str, str]]:
    from curation.evaluation.report.files import system_figures, system_table
    from curation.reports.table_files import csv_table, writer_for

    for path in paths:
        writer = writer_for(path, TABLE)
        made = system_figures(found) if writer is csv_table else system_table(found)
        yield path, TABLE, writer(made)


def _queries(found: Evaluation, path: Path) -> Iterator[tuple[Path, str, str]]:
    from curation.evaluation.report.files import trec_lines

    paths = _query_paths(path, [system.name for system in found.runs])
    for own, system in zip(paths, found.runs, strict=True):
        yield own, PER_QUERY, "".join(trec_lines(found, system))
