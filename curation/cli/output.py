"""Output of the command line: one JSON object or tables and sentences, files, and the progress of long
work.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.core.characters import printable
from curation.core.digests import to_json_value
from curation.core.errors import InputError
from curation.core.progress import Progress, silent

if TYPE_CHECKING:
    from curation.core.operation import Operation, Result
    from curation.core.reports.page import Table

NO_FORMULAS = "Texts are written as they are: in a spreadsheet, import the columns as text, not as formulas."
SECONDS = 30
"""Seconds between two lines about the progress of work where no terminal shows a bar."""
LONG_WORK = "Finished parts, such as embeddings, are kept: the same command goes on from there."
"""The sentence on interrupted work that is no `Operation`."""
_CONTROLS = re.compile("[\x7f-\x9f]")  # JSON escapes the others by itself


def emit(result: Any, text: str | Callable[[], object]) -> None:
    """Print `result` as one JSON object where --json is given; otherwise print the sentence `text` or call
    it.
    """
    from curation.cli.program import is_json

    if is_json():
        text = json.dumps(to_json_value(result), ensure_ascii=False, indent=2, allow_nan=False)
        print(_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text))
    elif isinstance(text, str):
        say(text)
    else:
        text()


def say(*sentences: str) -> None:
    """Print sentences for people, a line each, on standard output."""
    for sentence in sentences:
        if sys.stdout.isatty():
            from curation.core.reports.terminal import show_sentence

            show_sentence(sentence)
        else:
            print(printable(sentence))


def to_people(sentence: str) -> None:
    """Print a sentence that belongs to no result on standard error, with or without --json."""
    print(printable(sentence), file=sys.stderr)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table for people from its columns and rows."""
    from curation.core.reports.page import Table
    from curation.core.reports.terminal import show_table

    show_table(Table(title, tuple(columns), tuple(map(tuple, rows))))


def show_tables(*tables: Table) -> None:
    """Print the tables that have rows."""
    from curation.core.reports.terminal import show_table

    for table in tables:
        if table.rows:
            show_table(table)


def carry_out(step: Operation, request: Any) -> Any:
    """Run an operation on the project for a request, show the progress, and return the result."""
    from curation.cli.program import actor, project_store

    with progress_bar(step) as progress:
        return step.run(project_store(), request, progress, actor())


def show(result: Result, *further: str, limit: int = 0, as_json: Any = None) -> None:
    """Print a result as one JSON object where --json is given; otherwise print its tables and its sentences.

    Parameters
    ----------
    further: sentences that only the command prints, such as the next command.
    limit: number of rows that are printed of each table; 0 is all.
    as_json: the JSON object, where it is not made of the result itself.
    """
    emit(result if as_json is None else as_json, lambda: _print_result(result, further, limit))


def _print_result(result: Result, further: Sequence[str], limit: int) -> None:
    from curation.core.operation import tables_of

    for table in tables_of(result):
        rows = len(table.rows)
        show_tables(replace(table, rows=table.rows[:limit]) if 0 < limit < rows else table)
        if 0 < limit < rows:
            say(f"{limit:,} of {rows:,} rows are shown; --limit 0 shows all.")
    say(*result.sentences, *further)


def write_file(path: Path, text: str, option: str = "--html") -> None:
    """Write a page or a different file, whose path an option of the command names.

    Raises
    ------
    InputError: the file cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{option} {path}: the file was not written: {error.strerror or error}; expected the name of a "
            "file in an existing folder that can be written."
        ) from error


def say_dry_run(dry_run: bool) -> None:
    """Print, before the result of a dry run, that nothing is changed."""
    from curation.cli.program import is_json

    if dry_run and not is_json():
        say("Dry run: nothing is changed. The import would say:")


def say_withheld(count: int, what: str = "pair", plural: str = "") -> None:
    """Print how many pairs or queries a seal keeps back, if any, and which option names them."""
    from curation.people.seal_access import withheld

    if count:
        say(withheld(count, what, plural) + ' --reason "why" names them, and is logged.')


def progress_lines(write: Callable[[str], object], now: Callable[[], float] = time.monotonic) -> Progress:
    """Make a listener that writes the progress of work every 30 seconds, and writes nothing for shorter
    work.
    """
    last = now()

    def listen(step: str, done: int, total: int) -> None:
        nonlocal last
        if now() - last >= SECONDS:
            last = now()
            write(f"{step}: {done:,} of {total:,}" if total else f"{step}: {done:,}")

    return listen


@contextmanager
def progress_bar(step: Operation | None = None) -> Iterator[Progress]:
    """Make a listener for long work: a bar on a terminal, lines elsewhere, nothing with --quiet.

    Parameters
    ----------
    step: the operation; its `kept` says what an interrupted process leaves.
    """
    from curation.cli.program import kept

    before = kept.set(LONG_WORK if step is None else step.kept)
    try:
        with _progress_listener() as progress:
            yield progress
    finally:
        kept.reset(before)


@contextmanager
def _progress_listener() -> Iterator[Progress]:
    from curation.cli.program import is_quiet

    if is_quiet() or not sys.stderr.isatty():
        yield silent if is_quiet() else progress_lines(lambda line: print(line, file=sys.stderr, flush=True))
        return
    from rich import progress as rich_progress
    from rich.console import Console

    columns = (
        rich_progress.TextColumn("{task.description}"),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeRemainingColumn(),
    )
    with rich_progress.Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def listen(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total or None)
            bars.update(tasks[step], completed=done, total=total or None)

        yield listen
