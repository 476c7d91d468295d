"""A folder in which files are written beside their place, so that nothing half-written is ever in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident


@contextmanager
def staged(out: Path, private: bool = False) -> Iterator[Path]:
    """An empty folder beside `out`. Move from it what is whole; the rest is removed at the end.

    private: only the user who writes it can look into it.
    """
    new = out.parent / f".{out.name}.new-{os.getpid()}-{get_ident()}"
    try:
        new.mkdir(0o700 if private else 0o777, parents=True)
        yield new
    finally:
        shutil.rmtree(new, ignore_errors=True)
