"""Files that `goldset evaluate` writes beside its report: tables of systems, and values of single queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from curation.cli.output import refuse_no_page, write_page
from curation.errors import InputError

if TYPE_CHECKING:
    from curation.evaluation.evaluation import Evaluation

TABLE, PER_QUERY = "--table", "--per-query"


def refuse_no_files(tables: Sequence[Path], per_query: Path | None, read: Sequence[Path]) -> None:
    """Stop, before any work, where a file could not be written, or is one that is `read`: project and runs.

    Raises
    ------
    InputError: as said, or the ending of a table's name says no format.
    """
    from curation.reports.table_files import writer_for

    inputs = {path.resolve() for path in read}
    named = [(TABLE, path) for path in tables]
    named += [(PER_QUERY, per_query)] if per_query is not None else []
    for option, path in named:
        if option == TABLE:
            writer_for(path, option)
        refuse_no_page(path, read[0], option, "file")
        if path.resolve() in inputs:
            raise InputError(f"{option} {path}: it is a run that is evaluated; expected another name.")


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
    from curation.evaluation.report.system_table import system_figures, system_table
    from curation.reports.table_files import csv_table, writer_for

    for path in paths:
        writer = writer_for(path, TABLE)
        made = system_figures(found) if writer is csv_table else system_table(found)
        yield path, TABLE, writer(made)


def _queries(found: Evaluation, path: Path) -> Iterator[tuple[Path, str, str]]:
    from curation.evaluation.report.trec_lines import trec_lines

    for system in found.runs:
        own = path if len(found.runs) == 1 else path.with_name(f"{path.stem}.{system.name}{path.suffix}")
        yield own, PER_QUERY, "".join(trec_lines(found, system))
