"""The output of a command: one JSON object, or human-readable tables and sentences."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.cli import invocation
from curation.core.characters import show_controls
from curation.core.digests import to_json_value
from curation.core.errors import InputError

if TYPE_CHECKING:
    from curation.core.operation import Result
    from curation.core.reports.tables import Table

NO_FORMULAS = "Texts are written unchanged: in a spreadsheet, import the columns as text, not as formulas."
_CONTROLS = re.compile("[\x7f-\x9f]")  # JSON escapes all other control characters


def emit(result: Any, text: str | Callable[[], object]) -> None:
    """Print `result` as one JSON object with --json; otherwise print the sentence `text`, or call `text` if
    it is a function."""
    if invocation.is_json():
        text = json.dumps(to_json_value(result), ensure_ascii=False, indent=2, allow_nan=False)
        print(_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text))
    elif isinstance(text, str):
        say(text)
    else:
        text()


def say(*sentences: str) -> None:
    """Print sentences on standard output, one per line."""
    for sentence in sentences:
        if sys.stdout.isatty():
            from curation.core.reports.terminal import show_sentence

            show_sentence(sentence)
        else:
            print(show_controls(sentence))


def note(*sentences: str) -> None:
    """Print sentences that are not part of a result on standard error, one per line."""
    for sentence in sentences:
        print(show_controls(sentence), file=sys.stderr)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a human-readable table from its columns and rows."""
    from curation.core.reports.tables import Table
    from curation.core.reports.terminal import show_table

    show_table(Table(title, tuple(columns), tuple(map(tuple, rows))))


def print_tables(*tables: Table) -> None:
    """Print the tables that have rows."""
    from curation.core.reports.terminal import show_table

    for table in tables:
        if table.rows:
            show_table(table)


def show(result: Result, *more_sentences: str, limit: int = 0, as_json: Any = None) -> None:
    """Print a result as one JSON object where --json is given; otherwise print its tables and its sentences.

    Parameters
    ----------
    more_sentences: sentences that only the command prints, such as the next command.
    limit: number of rows that are printed of each table; 0 is all.
    as_json: the JSON object, where it is not made of the result itself.
    """
    emit(result if as_json is None else as_json, lambda: _print_result(result, more_sentences, limit))


def _print_result(result: Result, more_sentences: Sequence[str], limit: int) -> None:
    from curation.core.operation import get_tables

    for table in get_tables(result):
        n_rows = len(table.rows)
        if 0 < limit < n_rows:
            print_tables(replace(table, rows=table.rows[:limit]))
            say(f"{limit:,} of {n_rows:,} rows are shown; --limit 0 shows all.")
        else:
            print_tables(table)
    say(*result.sentences, *more_sentences)


def write_file(path: Path, text: str, option: str = "--html") -> None:
    """Write a page or another file, whose path is named in one of the command's options.

    Raises
    ------
    InputError: the file cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        problem = f"the file was not written: {error.strerror or error}"
        expected = "expected the name of a file in an existing, writable folder"
        raise InputError(f"{option} {path}: {problem}; {expected}.") from error


def say_dry_run(dry_run: bool) -> None:
    """Print, before the result of a dry run, that nothing is changed."""
    if dry_run and not invocation.is_json():
        say("Dry run: nothing was changed. The import would report:")
