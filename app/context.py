"""The settings of the server process: the project, the image hosts and the folder for backups."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from curation.core import log
from curation.core.default_paths import PROJECT_VARIABLE, find_project_file
from curation.core.errors import CurationError, InputError, StoreBusyError
from curation.store import Store, open_store

PROJECT = PROJECT_VARIABLE
"""The environment variable that names the project's file."""
BACKUP_TO = "GOLDGRADE_BACKUP_TO"
"""The environment variable with the folder for scheduled backups. If unset, no backups are scheduled."""

IMAGES_FROM = "GOLDGRADE_IMAGES_FROM"
"""The environment variable with the hosts, separated by commas, from which browsers may fetch images."""
BY_PATH: dict[str | type[Any], Callable[[Any], Any]] = {Store: lambda store: str(store.path)}
"""Hash functions for cached functions that take a store: the path of the project identifies the store."""
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?")


def image_hosts() -> frozenset[str]:
    """Return the hosts from which browsers may fetch images of documents."""
    return frozenset(filter(None, os.environ.get(IMAGES_FROM, "").split(",")))


def allow_images_from(hosts: Sequence[str]) -> None:
    """Let browsers fetch documents' images from these hosts.

    Raises
    ------
    InputError: some hosts are not host names; the error names every invalid host.
    """
    invalid = [host for host in hosts if not _HOST.fullmatch(host.lower())]
    if invalid:
        expected = "expected a host such as images.example.org"
        raise InputError([f"--images-from {host!r}: {expected}" for host in invalid])
    os.environ[IMAGES_FROM] = ",".join(sorted({host.lower() for host in hosts}))


def backup_folder() -> Path | None:
    """Return the folder where the app may write backups; None if the operator named none."""
    folder = os.environ.get(BACKUP_TO)
    return Path(folder) if folder else None


def project_store() -> Store:
    """Open the store of the project being served.

    Raises
    ------
    NotFoundError: the project does not exist.
    """
    return open_store(find_project_file())


def project_name() -> str:
    """Return the project's name: its file's name, or the folder's name if the file has a default name."""
    path = find_project_file().absolute()
    names = [path.stem, path.parent.name, path.parent.parent.name]
    default_names = {"", "goldgrade", "project", "data"}
    return next((name for name in names if name not in default_names), path.stem)


def explain_unreadable(error: CurationError) -> str:
    """Return a sentence that says, without details, that the project cannot be read; write the details to the
    log."""
    log.write(logging.WARNING, f"The project could not be read: {error}")
    if isinstance(error, StoreBusyError):
        return "The project is busy. Try again in a moment."
    return "The project cannot be read. The server's log shows why."
