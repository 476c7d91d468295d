"""Default paths of the project file and of the files that come with goldgrade.

In a clone, `app`, `labeling_guides` and `data/sample` are top-level folders. An installed goldgrade has them
in its package `goldgrade`, because users may have their own modules called `app`. Only the process that
serves the app puts this folder on the import path.
"""

from __future__ import annotations

import os
from pathlib import Path

PROJECT_VARIABLE = "GOLDGRADE_PROJECT"
DEFAULT_PROJECT = Path("data/goldgrade.duckdb")
_TOP = Path(__file__).resolve().parents[2]
_INSTALLED = _TOP / "goldgrade" / "shipped"
HOME = _INSTALLED if _INSTALLED.is_dir() else _TOP
GUIDES = HOME / "labeling_guides"
SAMPLE = HOME / "data" / "sample"


def find_project_file() -> Path:
    """Return the project file that the environment names, otherwise the default."""
    return Path(os.environ.get(PROJECT_VARIABLE) or DEFAULT_PROJECT)
