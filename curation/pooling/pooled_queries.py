"""The queries for which a pool finds documents."""

from __future__ import annotations

from collections.abc import Sequence

from curation.core.errors import RefusedError
from curation.core.text import pluralize
from curation.ingest.importers.queries import read_active_queries
from curation.pooling.systems import ENGINE_PREFIX
from curation.store import Cursor, Query, get_setting
from curation.store.documents import current_snapshot

_JUDGED_ELSEWHERE = """
SELECT query_id FROM presentations JOIN rounds USING (round_id)
GROUP BY query_id HAVING bool_and(kind = 'imported')
EXCEPT SELECT query_id FROM sample_queries WHERE sample_id = ?
"""


def read_queries(cursor: Cursor, systems: Sequence[str] = ()) -> list[Query]:
    """Read the current queries of a project that has a corpus. Systems that are engines need no corpus.

    Raises
    ------
    RefusedError: there are no queries, or there is no corpus.
    """
    queries = read_active_queries(cursor)
    if not queries:
        raise RefusedError(
            "There are no queries to find documents for. Draw a sample, or import queries.",
            command="`goldgrade sample` draws queries, `goldgrade import queries` imports queries.",
        )
    if not any(name.startswith(ENGINE_PREFIX) for name in systems):
        current_snapshot(cursor)
    return queries


def find_judged_elsewhere(cursor: Cursor) -> set[str]:
    """Find the queries outside the sample that only imported judgments judge; none in a project without a
    sample."""
    sample = get_setting(cursor, "sample")
    rows = [] if sample is None else cursor.execute(_JUDGED_ELSEWHERE, [sample]).fetchall()
    return {query_id for (query_id,) in rows}


def describe_left_out(cursor: Cursor, judged_queries: bool) -> list[str]:
    """Say how many queries a pool leaves out because they were judged elsewhere."""
    if judged_queries or not (left_out := find_judged_elsewhere(cursor)):
        return []
    count = sum(query.query_id in left_out for query in read_active_queries(cursor))
    queries = pluralize(count, "query", "queries")
    return [f"The pool leaves out {queries} outside the sample that only imported judgments judge."]
