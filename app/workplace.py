"""The project that this process serves, and who is signed in to it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from app.sessions import Sessions
from curation.labeling.annotators import find_annotator
from curation.store import Store, open_store, require_setting
from curation.store.rows import Annotator

PROJECT = "GOLDSET_PROJECT"
"""The environment variable that names the project's file."""


def project_store() -> Store:
    """The store of the project that is served.

    Raises
    ------
    NotFoundError: there is no such project.
    """
    return open_store(Path(os.environ.get(PROJECT, "data/goldset.duckdb")))


@cache
def sessions() -> Sessions:
    """The sign-ins of the project, signed with its own key."""
    with project_store().reading() as cursor:
        key = require_setting(cursor, "cookie_key", "The project has no key to sign sign-ins with.")
    return Sessions(bytes.fromhex(key))


def signed_in(cookies: dict[str, str]) -> Annotator | None:
    """The annotator whose valid sign-in is among the cookies, or None."""
    name = sessions().read(cookies.get(sessions().cookie, ""))
    if name is None:
        return None
    with project_store().reading() as cursor:
        return find_annotator(cursor, name)
