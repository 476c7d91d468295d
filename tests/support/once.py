"""What many tests start from is made once in a test run: its processes share the files."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from types import FunctionType

from curation.core.digests import digest

shared_by_processes: list[Path] = []
"""The folder of this run's files, if there are several processes; tests/conftest.py puts it here."""


def _named(argument: object) -> str:
    if isinstance(argument, FunctionType):
        return f"{argument.__module__}.{argument.__qualname__}"
    return repr(argument)


def once_a_run(build: Callable[..., bytes]) -> Callable[..., bytes]:
    """A function whose bytes the first process of a run makes.

    Its arguments name them: a function by its module and name, anything else by its `repr`.
    """

    @cache
    @wraps(build)
    def made(*arguments: object) -> bytes:
        if not shared_by_processes:
            return build(*arguments)
        name = digest(_named(build), *map(_named, arguments))
        path = shared_by_processes[0] / f"{name}.made"
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                path.write_bytes(build(*arguments))
            return path.read_bytes()

    return made
