"""The judged pairs of the set: their grades, what became of what these rest on, and how stale each is.

The set is every pair with a judgment or a decision whose query is in play. When a
pair was judged is known by the quarter of the re-labeling that did it, else by the times of its judgments.
Judgments that were imported without a time have none: only that they are as old as their import.

The score of a pair is the weighted mean of three parts, each 0 (fresh) to 1 (stale):

    document  1 where it is gone, or its new text no longer has the evidence; where its text changed, from 0.5
              on by the share of changed words
    guide     1 where the words of the pair's grade, or of a vote for it, are others in the guide in force
    age       quarters since it was judged, over two years

A part that is unknown does not count. The weights are here and nowhere else. `text_changes` says how
much of a text changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from curation.core.digests import APART
from curation.guides.difference import reworded_grades
from curation.guides.guide import current_guide, guide_lines
from curation.ingest.importers.queries import active_queries
from curation.labeling.consensus.consensus import read_consensus
from curation.labeling.consensus.marks import newer_versions, read_marks
from curation.labeling.consensus.votes import counted_decisions_view
from curation.people.seal_access import SEALED, sealed_queries
from curation.relabeling.calendar import REVISIT, Quarter
from curation.store import Cursor, get_setting
from curation.store.documents import snapshot_versions

Pair = tuple[str, str]

SAME, CHANGED, GONE, UNKNOWN = "same", "changed", "gone", "unknown"
"""What became of the version of a document that was judged."""
BETWEEN = " · "
"""Between the parts of a stratum's name."""
WEIGHTS: Mapping[str, float] = {"document": 0.5, "guide": 0.25, "age": 0.25}
"""What each part of the score weighs; together 1."""
STALE = 0.25
"""From this score on a pair counts as stale: a changed text, changed words of its grade, or two years. See
`JudgedPair.is_stale`."""
CHANGE_AT_LEAST = 0.5
"""The part of a document whose text changed at all; the share of changed words makes up the rest."""

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


@dataclass(frozen=True)
class JudgedPair:
    """A pair of the set.

    Attributes
    ----------
    grade, how, votes, cannot_tell, confidence: see `labeling.consensus.consensus.PairConsensus`.
    judged: the quarter it was judged in; None: not known.
    document: what became of it: 'same', 'changed', 'gone' or 'unknown'.
    read_hash: the version of the document that was judged; None: not known.
    now_hash: the version in the newest corpus snapshot; None: the document is gone.
    guide_behind: whether its grade or a vote for it reads otherwise in the guide in force; None: not known.
    type: the stratum of its query in the newest sample that has it, else the query's source.
    tags: of its query.
    renewed: the last quarter whose re-labeling judged the text that the grade is about; None if none did.
    known_since: the quarter in which the last of its rounds was opened: it is no younger than that.
    guide_hash: the guide that it was judged under, one that makes it due if there is any; None: not known.
    annotators: who judged it, by name.
    decisions: revisions of the reviewer's decisions.
    evidence_lost: whether the new text of its document no longer has what people marked as evidence; of a
        query that a release seals it is not looked at, as it would tell the grade.
    age: quarters since it was judged; None: not known, and then `older_than` says since when it is known.
    changed_share: of its document's words; None if the text did not change.
    parts, score: part → how stale it makes the pair, None: unknown; and their weighted mean. `scored` fills
        these and the ages in.
    """

    query_id: str
    document_id: str
    grade: int | None
    how: str
    votes: Mapping[int, int]
    cannot_tell: int
    confidence: float | None
    judged: Quarter | None
    document: str
    read_hash: str | None
    now_hash: str | None
    guide_behind: bool | None
    type: str = field(metadata=APART)
    tags: tuple[str, ...] = field(metadata=APART)
    renewed: Quarter | None = field(metadata=APART)
    known_since: Quarter | None = field(metadata=APART)
    guide_hash: str | None = field(metadata=APART)
    annotators: tuple[str, ...] = field(metadata=APART)
    decisions: int = field(metadata=APART)
    evidence_lost: bool = field(default=False, metadata=APART)
    age: int | None = None
    older_than: int | None = None
    changed_share: float | None = None
    parts: Mapping[str, float | None] = field(default_factory=dict)
    score: float = 0.0

    @property
    def pair(self) -> Pair:
        """Query id and document id."""
        return self.query_id, self.document_id

    @property
    def hashes(self) -> tuple[str | None, str | None]:
        """The versions of its document that were judged and that are in force."""
        return self.read_hash, self.now_hash

    @property
    def stratum(self) -> str:
        """Its type and the quarter it was judged in."""
        return f"{self.type}{BETWEEN}{self.judged or 'unknown'}"

    @property
    def is_stale(self) -> bool:
        """Whether it should be judged again; a document that is gone cannot be. Nothing that was judged this
        quarter is out of date unless its document or the guide changed since.
        """
        quarters = self.older_than if self.age is None else self.age
        moved = self.document == CHANGED or self.guide_behind or quarters != 0
        return self.score >= STALE and self.document != GONE and moved

    def scored(self, quarter: Quarter, changed_share: float | None = None) -> JudgedPair:
        """The pair with its ages and its score in a quarter; `changed_share` is of its document's words."""
        parts = {
            "document": self._document_part(changed_share),
            "guide": None if self.guide_behind is None else float(self.guide_behind),
            "age": None if self.judged is None else min(1.0, quarter.since(self.judged) / REVISIT),
        }
        return replace(
            self,
            age=quarter.since(self.judged) if self.judged else None,
            older_than=quarter.since(self.known_since) if self.known_since and not self.judged else None,
            changed_share=changed_share,
            parts=parts,
            score=score_of(parts),
        )

    def _document_part(self, changed_share: float | None) -> float | None:
        if self.document == UNKNOWN:
            return None
        if self.document == GONE or self.evidence_lost:
            return 1.0
        if self.document == CHANGED:
            return CHANGE_AT_LEAST + (1 - CHANGE_AT_LEAST) * (changed_share or 0.0)
        return 0.0

    def without_grade(self) -> JudgedPair:
        """The pair of a query that a release seals: without its grade, nor the guide's part, which depends on
        the grade.
        """
        parts = {**self.parts, "guide": None}
        return replace(
            self,
            grade=None,
            how=SEALED,
            votes={},
            cannot_tell=0,
            confidence=None,
            guide_behind=None,
            guide_hash=None,
            parts=parts,
            score=score_of(parts),
        )


def score_of(parts: Mapping[str, float | None]) -> float:
    """The weighted mean of the known parts; 0 where none is known."""
    known = {name: part for name, part in parts.items() if part is not None}
    weight = sum(WEIGHTS[name] for name in known)
    return sum(WEIGHTS[name] * part for name, part in known.items()) / weight if weight else 0.0


def read_pairs(cursor: Cursor) -> list[JudgedPair]:
    """The judged pairs of the queries in play, by query id and document id; not scored yet."""
    active = {query.query_id for query in active_queries(cursor)}
    graded = [pair for pair in read_consensus(cursor).pairs if pair.query_id in active]
    sql = _RECORDS.format(decisions=counted_decisions_view(cursor))
    records = {(row[0], row[1]): row[2:] for row in cursor.execute(sql).fetchall()}
    now = snapshot_versions(cursor, get_setting(cursor, "corpus"), sorted({p.document_id for p in graded}))
    types, tags, renewed = query_types(cursor), query_tags(cursor), _renewed(cursor)
    guide = current_guide(cursor)
    reworded = reworded_grades(cursor, guide_lines(cursor), guide)
    sealed, marks = sealed_queries(cursor), read_marks(cursor)
    newer = newer_versions(cursor, marks)
    pairs = []
    for pair in graded:
        key = pair.query_id, pair.document_id
        judged_at, opened_at, read_hash, given, annotators, decisions = records[key]
        again = renewed.get(key)
        judged = again or _quarter(judged_at)
        behind = sorted(row["guide"] for row in given if row["grade"] in reworded.get(row["guide"], ()))
        now_hash = now.get(pair.document_id)
        pairs.append(
            JudgedPair(
                *(*key, pair.grade, pair.how, dict(pair.votes), pair.cannot_tell, pair.confidence),
                judged=judged,
                document=document_state(read_hash, now_hash),
                read_hash=read_hash,
                now_hash=now_hash,
                guide_behind=bool(behind) if given else None,
                type=types[pair.query_id],
                tags=tags.get(pair.query_id, ()),
                renewed=again,
                known_since=judged or _quarter(opened_at),
                guide_hash=behind[0] if behind else guide.guide_hash if given else None,
                annotators=tuple(annotators),
                decisions=decisions,
                evidence_lost=pair.query_id not in sealed and marks.is_lost(pair, newer),
            )
        )
    return pairs


def document_state(read_hash: str | None, now_hash: str | None) -> str:
    """What became of the version of a document that was judged, next to the version in force."""
    if now_hash is None:
        return GONE
    if read_hash is None:
        return UNKNOWN
    return SAME if read_hash == now_hash else CHANGED


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
    return {(row[0], row[1]): Quarter(row[2]) for row in cursor.execute(_RENEWED).fetchall()}
