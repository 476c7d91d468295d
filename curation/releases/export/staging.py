"""A folder in which files are written beside their place, so that nothing half-written is ever in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """An empty folder beside `out`. Move from it what is whole; the rest is removed at the end."""
    new = out.parent / f".{out.name}.new-{os.getpid()}-{get_ident()}"
    try:
        new.mkdir(parents=True)
        yield new
    finally:
        shutil.rmtree(new, ignore_errors=True)
