"""The audit trail: one line for each action that changed the project, with its time and actor."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from curation.core.errors import StoreReadOnlyError
from curation.store.database import Store
from curation.store.project_file import Cursor
from curation.store.rows import utc_now

COMMAND_LINE = "command line"


def record_event(cursor: Cursor, action: str, detail: Mapping[str, Any], actor: str = COMMAND_LINE) -> None:
    """Write a line of the audit trail, in the same transaction as the recorded action."""
    text = json.dumps(detail, ensure_ascii=False, sort_keys=True, default=str)
    cursor.execute("INSERT INTO events VALUES (?, ?, ?, ?)", [utc_now(), actor, action, text])


def note_event(store: Store, action: str, detail: Mapping[str, Any], actor: str = COMMAND_LINE) -> None:
    """Write a line of the audit trail; if the project is read-only, log a warning instead."""
    try:
        with store.transaction() as cursor:
            record_event(cursor, action, detail, actor)
    except StoreReadOnlyError as error:
        logging.getLogger("goldgrade").warning("The audit trail has no line for this action: %s", error.found)
