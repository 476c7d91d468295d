"""Tasks that the server process runs every minute, such as due backups."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from app.context import backup_folder, project_store
from curation.core import log
from curation.core.errors import CurationError
from curation.operations.backup_schedule import start_due_backup
from curation.operations.jobs.files import remove_old_results
from curation.operations.notices import send_due

SECONDS_BETWEEN_RUNS = 60.0


@contextmanager
def minutely_tasks() -> Iterator[None]:
    """Run the every-minute tasks on a separate thread during a `with` block."""
    stop = Event()
    thread = Thread(target=_run_tasks, args=[stop], daemon=True, name="goldgrade-minutely")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(1.0)


def _run_tasks(stop: Event) -> None:
    tasks: tuple[Callable[[], object], ...] = (
        remove_old_results,
        lambda: start_due_backup(project_store(), backup_folder()),
        lambda: send_due(project_store()),
    )
    last_problem = ""
    while not stop.wait(SECONDS_BETWEEN_RUNS):
        for task in tasks:
            try:
                task()
            except CurationError as error:
                if error.found != last_problem:  # log a problem once, not each minute
                    log.write(logging.WARNING, f"A task that runs every minute was skipped: {error.found}")
                last_problem = error.found
            except Exception as error:
                log.write(logging.ERROR, "A task that runs every minute failed", error=error)
