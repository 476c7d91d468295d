"""A project's holdings: how many records it has from each kind of imported file."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from curation.core.text import pluralize_label
from curation.store import Cursor, get_setting

_KINDS = (
    ("corpus", "documents", "import corpus"),
    ("traffic", "rows of traffic", "import traffic"),
    ("queries", "queries", "import queries"),
    ("runs", "runs", "import run"),
    ("judgments", "imported judgments", "import judgments"),
    ("decisions", "decisions", "adjudicate from a file"),
    ("answers", "queries with reference answers", "import answers"),
    ("nuggets", "queries with nuggets", "import nuggets"),
)
_COUNTS = """
SELECT (SELECT count(*) FROM snapshot_documents WHERE snapshot_id = ?),
       (SELECT count(*) FROM traffic),
       (SELECT count(*) FROM queries),
       (SELECT count(*) FROM runs),
       (SELECT count(*) FROM judgment_events e JOIN presentations p USING (presentation_id)
            JOIN rounds r USING (round_id) WHERE r.kind = 'imported'),
       (SELECT count(*) FROM adjudications),
       (SELECT count(*) FROM current_reference_answers), (SELECT count(*) FROM current_nuggets)
"""
_LAST_IMPORTS = """
SELECT action, detail->>'source', actor, happened_at FROM events
WHERE action IN ('import corpus', 'import traffic', 'import queries', 'import run', 'import judgments',
                 'adjudicate from a file', 'import answers', 'import nuggets')
QUALIFY row_number() OVER (PARTITION BY action ORDER BY rowid DESC) = 1
"""


class Holding(NamedTuple):
    """Records that a project has from one kind of file, such as the documents of its corpus.

    Attributes
    ----------
    what: kind of file, as in `requests.REQUESTS`.
    number, unit: count of the records and its noun, such as 5 and 'documents', or 1 and 'document'.
    source, by, at: file, author and time of the last import of this kind; None without an import.
    """

    what: str
    number: int
    unit: str
    source: str | None = None
    by: str | None = None
    at: datetime | None = None


def read_holdings(cursor: Cursor) -> list[Holding]:
    """Return how many records a project has from each kind of file, in the usual order."""
    counts = cursor.execute(_COUNTS, [get_setting(cursor, "corpus")]).fetchall()[0]
    last_imports = {row[0]: row[1:] for row in cursor.execute(_LAST_IMPORTS).fetchall()}
    holdings = []
    for (what, unit, action), count in zip(_KINDS, counts, strict=True):
        noun = pluralize_label(count, unit).partition(" ")[2]
        holdings.append(Holding(what, count, noun, *last_imports.get(action, (None, None, None))))
    return holdings
