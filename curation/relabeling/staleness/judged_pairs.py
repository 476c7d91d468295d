"""The judged pairs of the set: the grade of each, what the grade rests on, and what became of that since.

The set is every pair with a judgment or a decision whose query is in play, or the pairs of a release. When a
pair was judged is known by the quarter of the re-labeling that did it, else by the times of its judgments.
Judgments that were imported without a time have none: only that they are as old as their import.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime
from typing import NamedTuple

from curation.guides.guide import current_guide, guide_lines
from curation.guides.rewording import reworded_grades
from curation.ingest.importers.queries import active_queries
from curation.labeling.consensus.consensus import PairConsensus, consensus
from curation.labeling.consensus.votes import counted_decisions_view
from curation.relabeling.staleness.quarter import Quarter
from curation.store import Cursor, get_setting
from curation.store.documents import snapshot_versions

SAME, CHANGED, GONE, UNKNOWN = "same", "changed", "gone", "unknown"
"""What became of the version of a document that was judged."""
BETWEEN = " · "
"""Between the parts of a stratum's name."""

Pair = tuple[str, str]

# The versions and guides of the judgments that count; a decision is about its own.
_RECORDS = """
WITH judged AS (
    SELECT j.query_id, j.document_id,
           max(e.submitted_at) FILTER (e.time_known) AS judged_at, max(r.opened_at) AS opened_at,
           arg_max(j.content_hash, j.written) AS content_hash,
           list(DISTINCT {{guide: j.guide_hash, grade: j.grade}}) FILTER (j.guide_hash IS NOT NULL) AS given,
           list(DISTINCT j.annotator ORDER BY j.annotator) AS annotators
    FROM counted_judgments j JOIN rounds r USING (round_id)
    JOIN judgment_events e ON e.presentation_id = j.presentation_id AND e.revision = j.next_revision - 1
    GROUP BY ALL),
reviewed AS (SELECT query_id, document_id, max(revision) + 1 AS decisions FROM adjudications GROUP BY ALL)
SELECT query_id, document_id, greatest(j.judged_at, a.decided_at), coalesce(j.opened_at, a.decided_at),
       coalesce(a.content_hash, j.content_hash),
       CASE WHEN a.revision IS NULL THEN coalesce(j.given, [])
            WHEN a.guide_hash IS NULL THEN [] ELSE [{{guide: a.guide_hash, grade: a.grade}}] END,
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
    guide_hash: the guide that it was judged under, one that makes it due if there is any; None: not known.
    guide_behind: whether its grade or a vote for it reads otherwise in the guide in force; None: not known.
    annotators: who judged it, by name.
    decisions: revisions of the reviewer's decisions.
    evidence_lost: whether the new text of its document no longer has what people marked as evidence; of a
        query that a release seals it is not looked at, as it would tell the grade.
    score: how stale it is, 0 to 1; see `staleness.score`. It is 0 before it was computed.
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
    evidence_lost: bool = False
    score: float = 0.0

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

    @property
    def stratum(self) -> str:
        """Its type and the quarter it was judged in."""
        return f"{self.type}{BETWEEN}{self.judged.name if self.judged else 'unknown'}"


def read_pairs(cursor: Cursor, among: Collection[Pair] | None = None) -> list[JudgedPair]:
    """The judged pairs of the queries in play, by query id and document id.

    Parameters
    ----------
    among: only these, such as the pairs of a release.
    """
    active = {query.query_id for query in active_queries(cursor)}
    graded = [
        pair
        for pair in consensus(cursor).pairs
        if pair.query_id in active and (among is None or (pair.query_id, pair.document_id) in among)
    ]
    sql = _RECORDS.format(decisions=counted_decisions_view(cursor))
    records = {(row[0], row[1]): row[2:] for row in cursor.execute(sql).fetchall()}
    documents = sorted({pair.document_id for pair in graded})
    now = snapshot_versions(cursor, get_setting(cursor, "corpus"), documents)
    types, tags, renewed = query_types(cursor), query_tags(cursor), _renewed(cursor)
    guide = current_guide(cursor)
    reworded = reworded_grades(cursor, guide_lines(cursor), guide)
    pairs = []
    for pair in graded:
        key = pair.query_id, pair.document_id
        judged_at, opened_at, read_hash, given, annotators, decisions = records[key]
        again = renewed.get(key)
        judged = again or _quarter(judged_at)
        behind = sorted(row["guide"] for row in given if row["grade"] in reworded.get(row["guide"], ()))
        pairs.append(
            JudgedPair(
                consensus=pair,
                type=types[pair.query_id],
                tags=tags.get(pair.query_id, ()),
                judged=judged,
                renewed=again,
                judged_at=judged_at,
                known_since=judged or _quarter(opened_at),
                read_hash=read_hash,
                now_hash=now.get(pair.document_id),
                guide_hash=behind[0] if behind else guide.guide_hash if given else None,
                guide_behind=bool(behind) if given else None,
                annotators=tuple(annotators),
                decisions=decisions,
            )
        )
    return pairs


def _quarter(at: date | None) -> Quarter | None:
    return Quarter.of(at) if at is not None else None


def query_types(cursor: Cursor) -> dict[str, str]:
    """Query id → its stratum in the newest sample that has it, else its source."""
    return dict(cursor.execute(_TYPES).fetchall())


def query_tags(cursor: Cursor) -> dict[str, tuple[str, ...]]:
    """Query id → its tags."""
    rows = cursor.execute(
        "SELECT query_id, list(tag ORDER BY tag) FROM current_query_tags GROUP BY query_id"
    ).fetchall()
    return {query_id: tuple(tags) for query_id, tags in rows}


def _renewed(cursor: Cursor) -> dict[Pair, Quarter]:
    """Pairs whose judged text a re-labeling judged whole, with the last quarter that did."""
    if not cursor.execute("SELECT 1 FROM relabeling_rounds LIMIT 1").fetchall():
        return {}  # nor would the query find any, which takes 20 ms to plan
    return {(row[0], row[1]): Quarter.named(row[2]) for row in cursor.execute(_RENEWED).fetchall()}
