"""Candidates of a round: pairs of queries in play that the round can show, and the reasons against others.

Documents with the same title and body are one item. A round shows one of a query's identical candidates, and
none where one was shown or judged before, under any id. A pool ensures this for the documents that it adds;
judgments that are imported later bring ids of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from curation.ingest.filters import outside_pairs
from curation.ingest.importers.queries import active_queries
from curation.store import Cursor, fetch
from curation.store.documents import VERSION, current_snapshot

OUTSIDE_FILTER = "the document is outside the filter of its query"


class CandidateRow(NamedTuple):
    """A candidate; `content_hash` is None if its document has left the corpus.

    Attributes
    ----------
    text_hash: equal for documents with the same title and body; None for documents without any text.
    outside: whether the document is outside the filter of its query.
    """

    query_id: str
    document_id: str
    content_hash: str | None
    shown: bool
    text_hash: str | None = None
    outside: bool = False


@dataclass(frozen=True)
class Chosen:
    """The candidates that a round will show.

    Attributes
    ----------
    parameters: parameters that are stored with the round besides its layout.
    left_out: reason → number of candidates that the round does not show.
    sources: (query id, document id) → system, of pairs that no pool proposed. The pairs are stored under the
        round's id and become candidates.
    """

    candidates: Sequence[Candidate]
    parameters: Mapping[str, Any]
    left_out: Mapping[str, int]
    sources: Mapping[tuple[str, str], str] = field(default_factory=dict)


_CANDIDATES = f"""
SELECT c.query_id, c.document_id, s.content_hash,
       EXISTS (
           FROM live_presentations p JOIN rounds r USING (round_id)
           WHERE p.query_id = c.query_id AND p.document_id = c.document_id
             AND r.kind <> 'practice' AND (r.kind <> 'pilot' OR ?)),
       CASE WHEN trim(d.title || d.body) <> '' THEN md5(concat(length(d.title), ':', d.title, d.body)) END
FROM candidates c
LEFT JOIN snapshot_documents s ON s.document_id = c.document_id AND s.snapshot_id = ?
LEFT JOIN {VERSION}
ORDER BY c.query_id, c.document_id
"""  # noqa: S608


def read_candidates(cursor: Cursor, pilots: bool = False) -> tuple[list[CandidateRow], set[str]]:
    """Read every candidate, and the ids of the queries in play.

    Parameters
    ----------
    pilots: count candidates of pilots as shown, too.
    """
    rows = fetch(cursor, CandidateRow, _CANDIDATES, [pilots, current_snapshot(cursor)])
    if outside := outside_pairs(cursor):
        rows = [row._replace(outside=(row.query_id, row.document_id) in outside) for row in rows]
    return rows, {query.query_id for query in active_queries(cursor)}


def choose_candidates(rows: Sequence[CandidateRow], active: set[str], again: bool) -> Chosen:
    """Choose the candidates to be judged, and count the others by reason.

    Of identical documents the one shown before represents all, else the one with the smallest id.

    Parameters
    ----------
    again: also choose candidates that were shown before.
    """
    left_out: Counter[str] = Counter()
    chosen = []
    representatives = _find_representatives(rows)
    for row in rows:
        if row.content_hash is None:
            left_out["the document is not in the current corpus"] += 1
        elif row.query_id not in active:
            left_out["the query is not in the current sample"] += 1
        elif row.outside:
            left_out[OUTSIDE_FILTER] += 1
        elif row.shown and not again:
            left_out["already in a round or judged"] += 1
        elif representatives[row.query_id, row.text_hash or row.document_id] != row.document_id:
            left_out["an identical document stands for it"] += 1
        else:
            chosen.append(Candidate(row.query_id, row.document_id, row.content_hash))
    return Chosen(chosen, {"again": again}, dict(left_out))


def _find_representatives(rows: Sequence[CandidateRow]) -> dict[tuple[str, str], str]:
    """Find the document of the corpus that is shown for each query and text."""
    representatives: dict[tuple[str, str], str] = {}
    for row in sorted(rows, key=lambda row: (not row.shown, row.document_id)):
        if row.content_hash is not None and not row.outside:
            representatives.setdefault((row.query_id, row.text_hash or row.document_id), row.document_id)
    return representatives


class Candidate(NamedTuple):
    """A pair to be judged, with the document version on screen."""

    query_id: str
    document_id: str
    content_hash: str
