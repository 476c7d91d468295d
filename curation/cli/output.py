"""How the command line speaks: one JSON object, or tables and sentences for people."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.core.characters import printable
from curation.core.digests import to_json_value
from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.text import counted

if TYPE_CHECKING:
    from curation.core.operation import Operation, Result
    from curation.core.reports.page import Table

NO_FORMULAS = "Texts are written as they are: in a spreadsheet, import the columns as text, not as formulas."
SECONDS = 30
"""How often work that nobody watches says how far it is."""
LONG_WORK = "Finished parts, such as embeddings, are kept: the same command goes on from there."
"""What interrupted work leaves that is no step."""
_CONTROLS = re.compile("[\x7f-\x9f]")  # JSON escapes the others by itself


def emit(result: Any, text: str | Callable[[], object]) -> None:
    """Print what a command found or did: as one JSON object, else as a sentence or by calling `text`."""
    from curation.cli.program import is_json

    if is_json():
        text = json.dumps(to_json_value(result), ensure_ascii=False, indent=2, allow_nan=False)
        print(_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text))
    elif isinstance(text, str):
        say(text)
    else:
        text()


def say(*sentences: str) -> None:
    """Lines for people, on standard output."""
    for sentence in sentences:
        if sys.stdout.isatty():
            from curation.core.reports.terminal import show_sentence

            show_sentence(sentence)
        else:
            print(printable(sentence))


def to_people(sentence: str) -> None:
    """A line for people that is no result: on standard error, whatever --json asks for."""
    print(printable(sentence), file=sys.stderr)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table for people that no room has made a section of."""
    from curation.core.reports.page import Table
    from curation.core.reports.terminal import show_table

    show_table(Table(title, tuple(columns), tuple(map(tuple, rows))))


def show_tables(*tables: Table) -> None:
    """Tables that a page has, too; none without rows."""
    from curation.core.reports.terminal import show_table

    for table in tables:
        if table.rows:
            show_table(table)


def carry_out(step: Operation, request: Any) -> Any:
    """Do what a request asks for, with a bar on a terminal; returns the result."""
    from curation.cli.program import actor, project_store

    with progress_bar(step) as progress:
        return step.run(project_store(), request, progress, actor())


def show(result: Result, *further: str, limit: int = 0) -> None:
    """Print a result: one JSON object; or its tables, its sentences and what the command says besides.

    Parameters
    ----------
    further: sentences of the command alone, such as what comes next.
    limit: so many rows of each table; 0 is all.
    """
    emit(result, lambda: _show(result, further, limit))


def _show(result: Result, further: Sequence[str], limit: int) -> None:
    from curation.core.operation import tables_of

    for table in tables_of(result):
        rows = len(table.rows)
        show_tables(replace(table, rows=table.rows[:limit]) if 0 < limit < rows else table)
        if 0 < limit < rows:
            say(f"{limit:,} of {rows:,} rows are shown; --limit 0 shows all.")
    say(*result.sentences, *further)


def refuse_no_page(path: Path | None, project: Path, option: str = "--html", what: str = "page") -> None:
    """Stop, before any work, where the page or other file that an option names could not be written.

    Raises
    ------
    InputError: it is a folder or the project itself, or its folder does not exist.
    """
    if path is None:
        return
    problems = {
        "it is a folder": path.is_dir(),
        "its folder does not exist": not path.resolve().parent.is_dir(),
        "it is the project itself": path.resolve() == project.resolve(),
    }
    for problem, holds in problems.items():
        if holds:
            raise InputError(
                f"{option} {path}: {problem}; expected the name of a {what} in an existing folder."
            )


def write_page(path: Path, text: str, done: str = "", option: str = "--html", what: str = "page") -> None:
    """Write the page or other file that an option names. `done` starts the error: what was done all the same.

    Raises
    ------
    InputError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{option} {path}: {done}the {what} was not written: {error.strerror or error}; expected the "
            f"name of a {what} in an existing folder that can be written."
        ) from error


def left_out(counts: Mapping[str, int], what: str = "") -> None:
    """Say what a step left out, and why."""
    for reason, count in counts.items():
        say(f"left out: {counted(count, what).rstrip()}: {reason}")


def say_dry_run(dry_run: bool) -> None:
    """Begin what a dry run found by saying that it is one."""
    from curation.cli.program import is_json

    if dry_run and not is_json():
        say("Dry run: nothing is changed. The import would say:")


def say_withheld(count: int, what: str = "pair", plural: str = "") -> None:
    """Say what sealed parts keep back, and how it is opened; nothing where they keep nothing back."""
    from curation.people.seal_access import withheld

    if count:
        say(withheld(count, what, plural) + ' --reason "why" names them, and is logged.')


def progress_lines(write: Callable[[str], object], now: Callable[[], float] = time.monotonic) -> Progress:
    """A listener that writes how far work is once every SECONDS, and nothing of shorter work."""
    last = now()

    def listen(step: str, done: int, total: int) -> None:
        nonlocal last
        if now() - last >= SECONDS:
            last = now()
            write(f"{step}: {done:,} of {total:,}" if total else f"{step}: {done:,}")

    return listen


@contextmanager
def progress_bar(step: Operation | None = None) -> Iterator[Progress]:
    """A listener for long work: a bar on a terminal, a line now and then elsewhere, nothing with --quiet.

    Parameters
    ----------
    step: the operation, which says what an interrupted process leaves.
    """
    from curation.cli.program import kept

    before = kept.set(LONG_WORK if step is None else step.kept)
    try:
        with _bar() as progress:
            yield progress
    finally:
        kept.reset(before)


@contextmanager
def _bar() -> Iterator[Progress]:
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
