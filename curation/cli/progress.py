"""The progress of long work: a bar on a terminal, lines elsewhere, nothing with --quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from curation.cli.invocation import actor, interruption_note, is_quiet, project_store
from curation.core.progress import Progress, silent
from curation.operations.registry import OPERATIONS

REPORT_SECONDS = 30
"""Seconds between two lines about the progress of work where no terminal shows a bar."""
LONG_WORK = "Finished work, such as embeddings, is kept. Run the same command to continue."
"""The sentence after an interruption of work that is not an `Operation`."""


def run_operation(name: str, request: Any) -> Any:
    """Run the operation with this name for a request, showing its progress, and return its result."""
    with progress_bar(name) as progress:
        return OPERATIONS[name].run(project_store(), request, progress, actor())


@contextmanager
def progress_bar(operation: str = "") -> Iterator[Progress]:
    """Make a listener for long work, which shows a bar on a terminal, lines elsewhere, nothing with --quiet.

    Parameters
    ----------
    operation: name of the operation whose `on_interrupt` is the sentence after Ctrl+C; '' for other work.
    """
    token = interruption_note.set(OPERATIONS[operation].on_interrupt if operation else LONG_WORK)
    try:
        with _open_listener() as progress:
            yield progress
    finally:
        interruption_note.reset(token)


def make_line_listener(write: Callable[[str], object], now: Callable[[], float] = time.monotonic) -> Progress:
    """Make a listener that reports progress every 30 seconds."""
    reported_at = now()

    def listen(step: str, done: int, total: int) -> None:
        nonlocal reported_at
        if now() - reported_at >= REPORT_SECONDS:
            reported_at = now()
            write(f"{step}: {done:,} of {total:,}" if total else f"{step}: {done:,}")

    return listen


def _print_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextmanager
def _open_listener() -> Iterator[Progress]:
    if is_quiet() or not sys.stderr.isatty():
        yield silent if is_quiet() else make_line_listener(_print_line)
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
