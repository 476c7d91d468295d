"""The process that computes the figures of a large project.

The process is `python -m curation.operations.jobs.figure_process COPY PIPE`. It computes on a copy of the
project, which is updated block by block, once for each state. The copy lies next to the project, only its
owner can read the copy, and the copy is removed when the process ends. The process receives pickled functions
and sends their pickled return values. The process ends when its input ends, or after `IDLE_SECONDS` without a
function.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Hashable
from contextlib import ExitStack, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from curation.core import log
from curation.core.errors import CurationError
from curation.operations.jobs.worker import NICENESS
from curation.store import Store, open_store
from curation.store.staging import rehearsal_folder

T = TypeVar("T")

MODULE = "curation.operations.jobs.figure_process"
IDLE_SECONDS = 600.0
"""The seconds without a function after which the process ends."""
ANSWER_SECONDS = 600.0
"""The seconds after which a process that does not answer is ended."""


class FigureProcess:
    """A process that computes figures, with its copy of the project."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._copied_key = ""
        self._cleanup = ExitStack()
        self._copy = self._cleanup.enter_context(rehearsal_folder(store.path)) / store.path.name
        self._pipe, child_pipe = Pipe()
        command = [sys.executable, "-P", "-m", MODULE, str(self._copy), str(child_pipe.fileno())]
        with child_pipe:
            process = subprocess.Popen(command, pass_fds=[child_pipe.fileno()], start_new_session=True)  # noqa: S603
        for callback in (process.wait, process.kill, self._pipe.close):  # callbacks run in reverse order
            self._cleanup.callback(callback)
        self.end = self._cleanup.close

    def compute(self, key: str, call: object) -> tuple[Any, Exception | None]:
        """Have the process update its copy of the project and compute a figure; return the figure."""
        if key != self._copied_key:
            self._store.copy_changes_to(self._copy)
            self._copied_key = key
        self._pipe.send(call)
        if not self._pipe.poll(ANSWER_SECONDS):
            raise TimeoutError
        answer: tuple[Any, Exception | None] = self._pipe.recv()
        return answer


def main(copy: Path, pipe: Connection) -> None:
    """Answer requests until the pipe ends or no request comes for `IDLE_SECONDS` seconds."""
    with suppress(EOFError):
        while pipe.poll(IDLE_SECONDS):
            call = pipe.recv()
            pipe.send(_answer_request(open_store(copy), *call))


def _answer_request(
    store: Store, function: Callable[..., T], arguments: tuple[Hashable, ...]
) -> tuple[T | None, Exception | None]:
    try:
        return function(store, *arguments), None
    except CurationError as error:
        return None, error
    except Exception as error:
        log.write(logging.ERROR, "A figure failed", error=error, figure=function.__qualname__)
        return None, RuntimeError(f"{function.__qualname__} failed: the log says how")
    finally:
        store.close()


if __name__ == "__main__":
    os.nice(NICENESS)
    log.configure()
    main(Path(sys.argv[1]), Connection(int(sys.argv[2])))
