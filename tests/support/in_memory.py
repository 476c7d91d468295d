"""Where the tests write: into memory, as each commit and checkpoint of a project waits for the disk."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

MEMORY = Path("/dev/shm")  # Linux has this folder, in a container often a small one
ROOM = 4 * 2**30
"""Bytes that a run of all tests never needs."""


def put_temporary_files_there() -> None:
    """Have pytest make its folders in memory, where there is room."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
