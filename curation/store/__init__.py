"""Storage of a project in a DuckDB file, which processes hold only for short leases."""

from curation.store.audit_trail import COMMAND_LINE, note_event, record_event
from curation.store.database import Store, close_all, create_store, open_store, store_at
from curation.store.planned_writes import Rehearsal, write_if_unchanged
from curation.store.project_file import Cursor
from curation.store.row_types import Annotator, Document, Presentation, Query, Round
from curation.store.rows import (
    append,
    append_batches,
    append_revision,
    append_rows,
    fetch,
    reading_arrow,
    utc_now,
)
from curation.store.settings import HEALTH_CHECKED, all_settings, get_setting, put_setting, require_setting

__all__ = [
    "COMMAND_LINE",
    "HEALTH_CHECKED",
    "Annotator",
    "Cursor",
    "Document",
    "Presentation",
    "Query",
    "Rehearsal",
    "Round",
    "Store",
    "all_settings",
    "append",
    "append_batches",
    "append_revision",
    "append_rows",
    "close_all",
    "create_store",
    "fetch",
    "get_setting",
    "note_event",
    "open_store",
    "put_setting",
    "reading_arrow",
    "record_event",
    "require_setting",
    "store_at",
    "utc_now",
    "write_if_unchanged",
]
