"""A project: made once with a guide, then opened by every command."""

from __future__ import annotations

import secrets
from pathlib import Path

from curation.guides.guide import store_guide
from curation.guides.guide_text import read_guide
from curation.store import Cursor, Store, create_store, put_setting, record_event


def init_project(path: Path, guide_path: Path | None = None) -> Store:
    """Make the project's database with a guide's grade scale.

    Raises
    ------
    InputError: the guide cannot be taken; nothing is made.
    RefusedError: the file exists already.
    """
    guide = read_guide(guide_path)

    def fill(cursor: Cursor) -> None:
        store_guide(cursor, guide)
        put_setting(cursor, "cookie_key", secrets.token_hex(32))
        record_event(cursor, "init", {"guide": guide.guide_hash, "title": guide.title})

    return create_store(path, fill)
