"""The app context: which project this process serves."""

from __future__ import annotations

import os
from pathlib import Path

from curation.store import Store, open_store

PROJECT = "GOLDSET_PROJECT"
"""The environment variable that names the project's file."""


def project_store() -> Store:
    """The store of the project that is served.

    Raises
    ------
    NotFoundError: there is no such project.
    """
    return open_store(Path(os.environ.get(PROJECT, "data/goldset.duckdb")))
