"""A project: made once with a guide, then opened by every command."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from curation.guides.guide import Guide, store_guide
from curation.guides.parse_guide import read_guide
from curation.store import Cursor, Store, create_store, put_setting, record_event


@dataclass(frozen=True)
class Project:
    """A fresh project and the guide in force."""

    store: Store
    guide: Guide


def init_project(path: Path, guide_path: Path | None = None) -> Project:
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

    return Project(create_store(path, fill), guide)
