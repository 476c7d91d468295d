"""The judged pairs of the set: what each grade rests on, and what became of that since.

The set is every pair with a judgment or a decision whose query is in play, or the pairs of a release. When a
pair was judged is known by the quarter of the re-labeling that did it, else by the times of its judgments.
Judgments that
were imported without a time have none: only that they are as old as their import.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime
from typing import NamedTuple

from curation.relabeling.quarters import Quarter
from curation.settling.consensus import PairConsensus, consensus
from curation.settling.votes import counted_decisions_view
from curation.sources.queries import active_queries
from curation.store import Cursor, get_setting
from curation.store.documents import snapshot_versions

SAME, CHANGED, GONE, UNKNOWN = "same", "changed", "gone", "unknown"
"""What became of the version of a document that was judged."""

Pair = tuple[str, str]


class JudgedPair(NamedTuple):
    """A pair of the set.

    Attributes
    ----------
    consensus: its grade now, and the votes it rests on.
    type: the stratum of its query in the newest sample that has it, else the query's source.
    tags: of its query.
    judged: the quarter it was judged in; None: not known.
    renewed: the last quarter whose re-labeling judged the text that the grade is about; None where none did.
    judged_at: the latest known time of its judgments and of the decision.
    known_since: the quarter in which the last of its rounds was opened: it is no younger than that.
    read_hash: the version of the document that was judged; None: not known.
    now_hash: the version in the newest corpus snapshot; None: the document is gone.
    guide_hash: the guide that it was judged under, one that is not in force if there is any; None: not known.
    guide_behind: whether it was judged under a guide that is not in force; None: not known.
    annotators: who judged it, by name.
    decisions: revisions of the reviewer's decisions.
    """

    consensus: PairConsensus
    type: str
    tags: tuple[str, ...]
    judged: Quarter | None
    renewed: Quarter | None
    judged_at: datetime | None
    known_since: Quarter | None
    read_hash: str | None
    now_hash: str | None
    guide_hash: str | None
    guide_behind: bool | None
    annotators: tuple[str, ...]
    decisions: int

    @property
    def pair(self) -> Pair:
        """Query id and document id."""
        return self.consensus.query_id, self.consensus.document_id

    @property
    def query_id(self) -> str:
        return self.consensus.query_id

    @property
    def document(self) -> str:
        """'same', 'changed', 'gone' or 'unknown'."""
        if self.now_hash is None:
            return GONE
        if self.read_hash is None:
            return UNKNOWN
        return SAME if self.read_hash == self.now_hash else CHANGED


class _PairRecord(NamedTuple):
    """What the tables say of a pair besides its votes."""

    judged_at: datetime | None
    opened_at: datetime | None
    read_hash: str | None
    guides: tuple[str | None, ...]
    annotators: tuple[str, ...]
    decisions: int


def read_pairs(cursor: Cursor, among: Collection[Pair] | None = None) -> list[JudgedPair]:
    """The judged pairs of the queries in play, by query id and document id.

    Parameters
    ----------
    among: only these, such as the pairs of a release.
    """
    active = {query.query_id for query in active_queries(cursor)}
    found = [
        one
        for one in consensus(cursor).pairs
        if one.query_id in active and (among is None or (one.query_id, one.document_id) in among)
    ]
    records = _records(cursor)
    now = snapshot_versions(cursor, get_setting(cursor, "corpus"))
    types, tags = dict(cursor.execute(_TYPES).fetchall()), _tags(cursor)
    renewed = dict(_renewed(cursor))
    guide = get_setting(cursor, "guide")
    return [
        _pair(
            one,
            records[one.query_id, one.document_id],
            now.get(one.document_id),
            (types[one.query_id], tags.get(one.query_id, ())),
            renewed.get((one.query_id, one.document_id)),
            guide,
        )
        for one in found
    ]


def _pair(
    one: PairConsensus,
    record: _PairRecord,
    now_hash: str | None,
    kind: tuple[str, tuple[str, ...]],
    renewed: str | None,
    guide: str | None,
) -> JudgedPair:
    again = Quarter.named(renewed) if renewed else None
    judged = again or _quarter(record.judged_at)
    known = {name for name in record.guides if name is not None}
    behind = sorted(known - {guide})
    return JudgedPair(
        consensus=one,
        type=kind[0],
        tags=kind[1],
        judged=judged,
        renewed=again,
        judged_at=record.judged_at,
        known_since=judged or _quarter(record.opened_at),
        read_hash=record.read_hash,
        now_hash=now_hash,
        guide_hash=behind[0] if behind else guide if known else None,
        guide_behind=bool(behind) if known else None,
        annotators=record.annotators,
        decisions=record.decisions,
    )


def _quarter(at: date | None) -> Quarter | None:
    return Quarter.of(at) if at is not None else None


def _records(cursor: Cursor) -> dict[Pair, _PairRecord]:
    rows = cursor.execute(_RECORDS.format(decisions=counted_decisions_view(cursor))).fetchall()
    return {
        (row[0], row[1]): _PairRecord(row[2], row[3], row[4], tuple(row[5]), tuple(row[6]), row[7])
        for row in rows
    }


def _tags(cursor: Cursor) -> dict[str, tuple[str, ...]]:
    rows = cursor.execute(
        "SELECT query_id, list(tag ORDER BY tag) FROM current_query_tags GROUP BY query_id"
    ).fetchall()
    return {query_id: tuple(tags) for query_id, tags in rows}


def _renewed(cursor: Cursor) -> list[tuple[Pair, str]]:
    """Pairs whose judged text a re-labeling judged whole, with the last quarter that did."""
    if not cursor.execute("SELECT 1 FROM relabeling_rounds LIMIT 1").fetchall():
        return []  # nor would the query find any, which takes 20 ms to plan
    rows = cursor.execute(_RENEWED).fetchall()
    return [((query_id, document_id), quarter) for query_id, document_id, quarter in rows]


# The versions and guides of the judgments that count; a decision is about its own.
_RECORDS = """
WITH judged AS (
    SELECT j.query_id, j.document_id,
           max(e.submitted_at) FILTER (e.time_known) AS judged_at, max(r.opened_at) AS opened_at,
           arg_max(j.content_hash, j.written) AS content_hash, list(DISTINCT j.guide_hash) AS guides,
           list(DISTINCT j.annotator ORDER BY j.annotator) AS annotators
    FROM counted_judgments j JOIN rounds r USING (round_id)
    JOIN judgment_events e ON e.presentation_id = j.presentation_id AND e.revision = j.next_revision - 1
    GROUP BY ALL),
reviewed AS (SELECT query_id, document_id, max(revision) + 1 AS decisions FROM adjudications GROUP BY ALL)
SELECT query_id, document_id, greatest(j.judged_at, a.decided_at), coalesce(j.opened_at, a.decided_at),
       coalesce(a.content_hash, j.content_hash),
       CASE WHEN a.revision IS NOT NULL THEN [a.guide_hash] ELSE j.guides END,
       coalesce(j.annotators, []), coalesce(v.decisions, 0)
FROM judged j FULL JOIN {decisions} a USING (query_id, document_id)
LEFT JOIN reviewed v USING (query_id, document_id)
"""

_RENEWED = """
SELECT query_id, document_id, arg_max(n.quarter, n.sequence)
FROM relabeling_progress n JOIN judged_versions v USING (query_id, document_id)
WHERE n.whole AND list_contains(n.shown, v.content_hash) GROUP BY ALL
"""

_TYPES = """
WITH newest AS (
    SELECT q.query_id, arg_max(q.stratum, s.rowid) AS stratum
    FROM sample_queries q JOIN samples s USING (sample_id) GROUP BY q.query_id)
SELECT query_id, coalesce(stratum, source) FROM queries LEFT JOIN newest USING (query_id)
"""
