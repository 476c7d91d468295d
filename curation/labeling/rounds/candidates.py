"""Which candidates a round can show: those of the queries in play, with the document as it is now.

Documents with the same title and body are one item. Of a query's identical candidates one is shown, and none
where one of them was shown or judged before, under any id. A pool ensures that for what it adds itself;
judgments that are imported later bring their own ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from curation.ingest.filters.stored import outside_pairs
from curation.ingest.importers.queries import active_queries
from curation.store import Cursor, fetch
from curation.store.documents import VERSION, current_snapshot

OUTSIDE_FILTER = "the document is outside the filter of its query"


class CandidateRow(NamedTuple):
    """A candidate; `content_hash` is None where its document has left the corpus.

    Attributes
    ----------
    text_hash: the same for documents with the same title and body; None for those without any text.
    outside: whether it is outside the filter of its query.
    """

    query_id: str
    document_id: str
    content_hash: str | None
    shown: bool
    text_hash: str | None = None
    outside: bool = False


@dataclass(frozen=True)
class Chosen:
    """What a round will show.

    Attributes
    ----------
    parameters: what is stored with the round besides its layout.
    left_out: reason → number of candidates.
    sources: (query id, document id) → system, of pairs that no pool proposed. They are stored under the
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
    """Every candidate, and the ids of the queries in play.

    Parameters
    ----------
    pilots: also count what a pilot has shown as shown.
    """
    rows = fetch(cursor, CandidateRow, _CANDIDATES, [pilots, current_snapshot(cursor)])
    if outside := outside_pairs(cursor):
        rows = [row._replace(outside=(row.query_id, row.document_id) in outside) for row in rows]
    return rows, {query.query_id for query in active_queries(cursor)}


def choose_candidates(rows: Sequence[CandidateRow], active: set[str], again: bool) -> Chosen:
    """The candidates to be judged, and the others by reason; `again` includes those shown before.

    Of identical documents the one shown before represents all, else the one with the smallest id.
    """
    left_out: Counter[str] = Counter()
    chosen = []
    representatives = _representatives(rows)
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


def _representatives(rows: Sequence[CandidateRow]) -> dict[tuple[str, str], str]:
    """(query id, text) → the document that is shown for it, of those that are in the corpus."""
    found: dict[tuple[str, str], str] = {}
    for row in sorted(rows, key=lambda row: (not row.shown, row.document_id)):
        if row.content_hash is not None and not row.outside:
            found.setdefault((row.query_id, row.text_hash or row.document_id), row.document_id)
    return found


class Candidate(NamedTuple):
    """A pair to be judged, and the document version that will be shown."""

    query_id: str
    document_id: str
    content_hash: str
