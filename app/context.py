"""The app context: which project this process serves."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from curation.errors import CurationError, StoreBusyError
from curation.store import Store, open_store

PROJECT = "GOLDSET_PROJECT"
"""The environment variable that names the project's file."""
IMPORT_FROM = "GOLDSET_IMPORT_FROM"
"""The one that names the folder from which files may be imported; without it there is none."""


def project_store() -> Store:
    """The store of the project that is served.

    Raises
    ------
    NotFoundError: there is no such project.
    """
    return open_store(Path(os.environ.get(PROJECT, "data/goldset.duckdb")))


def unreadable(error: CurationError) -> str:
    """What somebody who is not signed in may know of a project that cannot be read; the log has the rest."""
    logging.getLogger("goldset").warning("The project could not be read: %s", error)
    if isinstance(error, StoreBusyError):
        return "The project is busy. Try again in a moment."
    return "The project cannot be read. Why is in the log of the server."
