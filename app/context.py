"""The app context: which project this process serves."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from curation.core import log
from curation.core.errors import CurationError, StoreBusyError
from curation.core.named_project import VARIABLES, named_project
from curation.store import Store, open_store

PROJECT = VARIABLES[0]
"""The environment variable that names the project's file."""
BACKUP_TO = "GOLDGRADE_BACKUP_TO"
"""The environment variable with the folder for scheduled backups; unset: no backups by schedule."""

IMAGES_FROM = "GOLDGRADE_IMAGES_FROM"
"""The environment variable with the hosts, divided by commas, from which browsers may fetch images."""


def image_hosts() -> frozenset[str]:
    """The hosts from which the operator lets browsers fetch images of documents."""
    return frozenset(filter(None, os.environ.get(IMAGES_FROM, "").split(",")))


def backup_folder() -> Path | None:
    """Where the operator lets the app write backups."""
    found = os.environ.get(BACKUP_TO)
    return Path(found) if found else None


def project_store() -> Store:
    """The store of the project that is served.

    Raises
    ------
    NotFoundError: there is no such project.
    """
    return open_store(named_project())


def project_name() -> str:
    """What people call the project: the name of its file, or of a folder above a file with a default name."""
    path = named_project().absolute()
    names = [path.stem, path.parent.name, path.parent.parent.name]
    return next(
        (name for name in names if name not in {"", "goldgrade", "goldset", "project", "data"}), path.stem
    )


def unreadable(error: CurationError) -> str:
    """What somebody who is not signed in may know of a project that cannot be read; the log has the rest."""
    log.write(logging.WARNING, f"The project could not be read: {error}")
    if isinstance(error, StoreBusyError):
        return "The project is busy. Try again in a moment."
    return "The project cannot be read. Why is in the log of the server."
