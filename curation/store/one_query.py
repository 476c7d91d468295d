"""The judgments of one query: the views that say what counts, on tables that are cut down to it first.

The views look at all judgments before they know which query is wanted. Here their own text reads tables that
are cut down, which takes a quarter of the time with 1,000,000.
"""

from __future__ import annotations

import re

from curation.store.files import Cursor

_OF_JUDGMENTS = (
    *("live_presentations", "presentation_states", "current_judgments", "relabeling_progress"),
    *("eligible_judgments", "counted_judgments", "current_adjudications", "counted_adjudications"),
)
"""The views, each after those that it reads."""


_CUT_DOWN = (
    "presentations AS MATERIALIZED (FROM main.presentations WHERE query_id = $query)",
    "judgment_events AS MATERIALIZED "
    "(SELECT *, rowid FROM main.judgment_events SEMI JOIN presentations USING (presentation_id))",
    "adjudications AS MATERIALIZED (SELECT *, rowid FROM main.adjudications WHERE query_id = $query)",
    "relabeling_pairs AS (FROM main.relabeling_pairs WHERE query_id = $query)",
    "known_answers AS (FROM main.known_answers WHERE query_id = $query)",
    "documents_of AS (SELECT document_id FROM presentations UNION SELECT document_id FROM adjudications)",
    "snapshot_documents AS MATERIALIZED "
    "(FROM main.snapshot_documents SEMI JOIN documents_of USING (document_id))",
)


_VIEWS = "SELECT view_name, sql FROM duckdb_views() WHERE list_contains(?::TEXT[], view_name)"


_CREATED = re.compile(r"CREATE VIEW \w+ AS ")


def of_one_query(cursor: Cursor, sql: str) -> str:
    """The SQL with all tables and views of judgments cut down to the query `$query`."""
    texts = dict(cursor.execute(_VIEWS, [list(_OF_JUDGMENTS)]).fetchall())
    views = (f"{name} AS ({_CREATED.sub('', texts[name]).rstrip(';')})" for name in _OF_JUDGMENTS)
    return f"WITH {', '.join([*_CUT_DOWN, *views])} FROM ({sql})"
