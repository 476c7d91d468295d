"""Judged pairs of the gold set, each with the reason for which people should judge it again.

The set consists of all pairs of query and document with a judgment or a reviewer's decision, without retired
queries. The quarter of a pair's last judgment is the quarter of the re-labeling that judged the pair, or else
follows from the times of its judgments. The quarter is unknown for judgments that were imported without a
time. Such judgments are at least as old as their import.

A pair has at most one reason, the first that applies:

    document  the evidence that people marked, or the passage that the page shows, is different in the new
              text (`text_changes`); a pair whose document changed elsewhere has no reason
    guide     the current guide words the pair's grade, or the grade of one of its votes, differently
    age       the pair was judged two years ago or earlier
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date

from curation.guides.grade_meanings import find_reworded_grades, group_equivalent_guides
from curation.guides.guide import current_guide
from curation.ingest.importers.queries import read_active_queries
from curation.labeling.consensus.consensus import read_consensus
from curation.labeling.consensus.marks import read_marks, read_newer_versions
from curation.labeling.consensus.votes import choose_decisions_view
from curation.people.seal_access import read_sealed_queries
from curation.queries.sampling.strata import STRATUM_SEPARATOR
from curation.relabeling.calendar import QUARTER_LENGTH, REVISIT_QUARTERS, Quarter
from curation.store import Cursor, get_setting
from curation.store.documents import snapshot_versions

Pair = tuple[str, str]

SAME, CHANGED, GONE, UNKNOWN = "same", "changed", "gone", "unknown"
"""States of a judged document: its present version is the judged version, a new version, gone, or unknown."""
DOCUMENT, GUIDE, AGE = "document", "guide", "age"
"""The reasons to judge a pair again, the strongest first."""

# The versions and guides of the counted judgments; a decision has a version and a guide of its own.
_JUDGMENT_FACTS = """
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
_QUERY_TYPES = """
WITH newest AS (
    SELECT q.query_id, arg_max(q.stratum, s.rowid) AS stratum
    FROM sample_queries q JOIN samples s USING (sample_id) GROUP BY q.query_id)
SELECT query_id, coalesce(stratum, source) FROM queries LEFT JOIN newest USING (query_id)
"""


@dataclass(frozen=True)
class JudgedPair:
    """A judged pair of the gold set, with its grade and what has changed since the judgment. None means that
    a value is unknown.

    Attributes
    ----------
    grade, how: see `labeling.consensus.consensus.PairConsensus`.
    judged: the quarter of the last judgment.
    document: the state of the document: 'same', 'changed', 'gone' or 'unknown'.
    read_hash: the judged version of the document.
    now_hash: the version in the newest corpus snapshot; None if the document is gone.
    guide_behind: whether the current guide words the grade, or the grade of a vote, differently.
    type: the stratum of the query in the newest sample that contains the query, else the source of the query.
    tags: the tags of the query.
    renewed: the last quarter whose re-labeling judged the version that the grade is about; None without any.
    known_since: the quarter in which the last round of the pair was opened: the pair is at least that old.
    guide_hash: the guide of the judgments; among several, a guide that makes the pair due.
    annotators: names of the annotators who judged the pair.
    decisions: number of the reviewer's decisions.
    evidence_lost: whether the new text lacks the words that people marked as evidence; False for sealed
        queries, because the answer would reveal the grade.
    is_touched: whether a changed document changed in its evidence or in the passage that the page shows.
    age: quarters since the last judgment. older_than: a lower bound of the age where the age is unknown.
    """

    query_id: str
    document_id: str
    grade: int | None
    how: str
    judged: Quarter | None
    document: str
    read_hash: str | None
    now_hash: str | None
    guide_behind: bool | None
    type: str
    tags: tuple[str, ...]
    renewed: Quarter | None
    known_since: Quarter | None
    guide_hash: str | None
    annotators: tuple[str, ...]
    decisions: int
    evidence_lost: bool = False
    is_touched: bool = True
    age: int | None = None
    older_than: int | None = None

    @property
    def pair(self) -> Pair:
        """Return the pair as (query id, document id)."""
        return self.query_id, self.document_id

    @property
    def hashes(self) -> tuple[str | None, str | None]:
        """Return the hashes of the document's judged version and of its current version."""
        return self.read_hash, self.now_hash

    @property
    def stratum(self) -> str:
        """Return the stratum's name: the query's type and the quarter of the last judgment."""
        return f"{self.type}{STRATUM_SEPARATOR}{self.judged or 'unknown'}"

    @property
    def reason(self) -> str:
        """Return why people should judge the pair again: `DOCUMENT`, `GUIDE`, `AGE`, or '' for no reason.

        Nobody can judge a pair again whose document is gone.
        """
        if self.document == GONE:
            return ""
        if self.document == CHANGED and self.is_touched:
            return DOCUMENT
        return GUIDE if self.guide_behind else AGE if self.least_age >= REVISIT_QUARTERS else ""

    @property
    def least_age(self) -> int:
        """Return the age of the pair's judgment in quarters, or the lower bound of an unknown age."""
        return (self.older_than if self.age is None else self.age) or 0

    def in_quarter(self, quarter: Quarter, untouched: Collection[Pair] = ()) -> JudgedPair:
        """Return the pair with its age in a quarter.

        Parameters
        ----------
        untouched: pairs whose document changed elsewhere than in what people read.
        """
        return replace(
            self,
            is_touched=self.pair not in untouched,
            age=quarter.since(self.judged) if self.judged else None,
            older_than=quarter.since(self.known_since) if self.known_since and not self.judged else None,
        )


def read_pairs(cursor: Cursor) -> list[JudgedPair]:
    """Read the judged pairs of the gold set, ordered by query id and document id, without their ages."""
    active = {query.query_id for query in read_active_queries(cursor)}
    graded = [pair for pair in read_consensus(cursor).pairs if pair.query_id in active]
    sql = _JUDGMENT_FACTS.format(decisions=choose_decisions_view(cursor))
    facts = {(row[0], row[1]): row[2:] for row in cursor.execute(sql).fetchall()}
    newest = snapshot_versions(cursor, get_setting(cursor, "corpus"), sorted({p.document_id for p in graded}))
    types, tags = read_query_types(cursor), read_query_tags(cursor)
    renewed = _read_renewed(cursor)
    guide = current_guide(cursor)
    reworded = find_reworded_grades(cursor, group_equivalent_guides(cursor), guide)
    sealed, marks = read_sealed_queries(cursor), read_marks(cursor)
    newer = read_newer_versions(cursor, marks)
    pairs = []
    for pair in graded:
        key = pair.query_id, pair.document_id
        judged_at, opened_at, read_hash, given, annotators, decisions = facts[key]
        judged = renewed.get(key) or _convert_to_quarter(judged_at)
        behind = sorted(row["guide"] for row in given if row["grade"] in reworded.get(row["guide"], ()))
        now_hash = newest.get(pair.document_id)
        pairs.append(
            JudgedPair(
                *(*key, pair.grade, pair.how),
                judged=judged,
                document=compare_versions(read_hash, now_hash),
                read_hash=read_hash,
                now_hash=now_hash,
                guide_behind=bool(behind) if given else None,
                type=types[pair.query_id],
                tags=tags.get(pair.query_id, ()),
                renewed=renewed.get(key),
                known_since=judged or _convert_to_quarter(opened_at),
                guide_hash=behind[0] if behind else guide.guide_hash if given else None,
                annotators=tuple(annotators),
                decisions=decisions,
                evidence_lost=pair.query_id not in sealed and marks.is_lost(pair, newer),
            )
        )
    return pairs


def compare_versions(read_hash: str | None, now_hash: str | None) -> str:
    """Say how a document has changed, by comparing its judged version with its current version."""
    if now_hash is None:
        return GONE
    if read_hash is None:
        return UNKNOWN
    return SAME if read_hash == now_hash else CHANGED


def read_query_types(cursor: Cursor) -> dict[str, str]:
    """Read the type of each query: its stratum in the newest sample with the query, otherwise its source."""
    return dict(cursor.execute(_QUERY_TYPES).fetchall())


def read_query_tags(cursor: Cursor) -> dict[str, tuple[str, ...]]:
    """Read the tags of each query, as a map from query id to tags."""
    sql = "SELECT query_id, list(tag ORDER BY tag) FROM current_query_tags GROUP BY query_id"
    return {query_id: tuple(tags) for query_id, tags in cursor.execute(sql).fetchall()}


def _convert_to_quarter(day: date | None) -> Quarter | None:
    return Quarter.of(day) if day is not None else None


def _read_renewed(cursor: Cursor) -> dict[Pair, Quarter]:
    """Read, for each pair, the last quarter in which a re-labeling gave the pair's judged version all its
    planned judgments."""
    if not cursor.execute("SELECT 1 FROM relabeling_rounds LIMIT 1").fetchall():
        return {}  # skip a query that would find no pair and takes 20 ms to plan
    return {(row[0], row[1]): Quarter(row[2][:QUARTER_LENGTH]) for row in cursor.execute(_RENEWED).fetchall()}
