"""The creation of a project: a database file with a labeling guide."""

from __future__ import annotations

import secrets
from pathlib import Path

from curation.guides.guide import store_guide
from curation.guides.guide_text import read_guide
from curation.store import Cursor, Store, create_store, put_setting, record_event


def init_project(path: Path, guide_path: Path | None = None) -> Store:
    """Make the database of a project with a guide, by default the guide with grades 0 to 3.

    Raises
    ------
    InputError: the guide cannot be taken; no project is made.
    RefusedError: the file exists already.
    """
    guide = read_guide(guide_path)

    def fill(cursor: Cursor) -> None:
        store_guide(cursor, guide)
        put_setting(cursor, "cookie_key", secrets.token_hex(32))
        record_event(cursor, "init", {"guide": guide.guide_hash, "title": guide.title})

    return create_store(path, fill)
