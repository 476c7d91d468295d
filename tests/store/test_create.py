"""A new project where none can be made: a sentence, and nothing left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.store import create_store

DISK_FULL = """
import resource, sys
from pathlib import Path
from curation.core.errors import CurationError
from curation.operations.project import init_project

resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, resource.RLIM_INFINITY))
try:
    init_project(Path(sys.argv[1]))
except CurationError as error:
    print(type(error).__name__)
"""


def test_a_project_where_nothing_can_be_written_is_refused(tmp_path: Path) -> None:
    """Below a file, and in /proc, where nobody makes a file, not even root."""
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file", Path("/proc")):
        with pytest.raises(InputError, match="no project could be made there"):
            create_store(folder / "project.duckdb")


@pytest.mark.slow
def test_a_disk_without_room_leaves_no_half_made_project(tmp_path: Path) -> None:
    script = tmp_path / "full.py"
    script.write_text(DISK_FULL)
    folder = tmp_path / "new"
    folder.mkdir()
    run = subprocess.run(
        [sys.executable, str(script), str(folder / "p.duckdb")], capture_output=True, text=True, timeout=60
    )
    assert (run.stdout, run.stderr) == ("StoreError\n", "")
    assert list(folder.iterdir()) == []
