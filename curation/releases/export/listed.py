"""Who exported a release, as the audit trail has it."""

from __future__ import annotations

import json
from datetime import datetime
from typing import NamedTuple

from curation.store import Cursor


class ListedExport(NamedTuple):
    """One export, under whatever name of the release; `without` are the parts whose grades were not in it."""

    exported_at: datetime
    exported_by: str
    name: str
    format: str
    without: tuple[str, ...]


def exports_of(cursor: Cursor, release_id: str) -> list[ListedExport]:
    """The exports of a release's content, in the order in which they were recorded."""
    rows = cursor.execute(_EXPORTS, [release_id]).fetchall()
    return [_listed(at, actor, json.loads(detail)) for at, actor, detail in rows]


def _listed(at: datetime, actor: str, detail: dict[str, object]) -> ListedExport:
    without = detail.get("without grades", [])
    names = tuple(map(str, without)) if isinstance(without, list) else ()
    return ListedExport(at, actor, str(detail["name"]), str(detail["format"]), names)


_EXPORTS = """
SELECT happened_at, actor, detail::TEXT FROM events
WHERE action = 'export' AND detail->>'release' = ? ORDER BY rowid
"""
