"""The set's fingerprint: a short text that changes whenever a figure of staleness or drift could.

Besides judgments, rounds and decisions, these figures rest on corpora, logs, runs, pools, guides and plans.
Whatever appends one of them writes to the audit trail.
"""

from __future__ import annotations

from curation.agreement.report.fingerprint import read_fingerprint
from curation.core.text import digest
from curation.store import Cursor


def set_fingerprint(cursor: Cursor) -> str:
    """The same text for the same state of all that staleness and drift reports read."""
    events = cursor.execute("SELECT count(*), max(rowid) FROM events").fetchall()[0]
    return digest(read_fingerprint(cursor), str(events))
