"""The candidates of a round: pairs of current queries that the round can show.

Documents with the same title and body are one item. Of a query's identical candidates, a round shows only
one, and shows no candidate if an identical document was shown or judged before, under any id. A pool leaves
out identical documents when it is built, but judgments imported later may name further ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from curation.ingest.filters import find_outside_pairs
from curation.ingest.importers.queries import read_active_queries
from curation.store import Cursor, Store, fetch
from curation.store.documents import VERSION, current_snapshot

OUTSIDE_FILTER = "the document does not match the query's filter"
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


class CandidateRow(NamedTuple):
    """A candidate pair; `content_hash` is None if the document is no longer in the corpus.

    Attributes
    ----------
    text_hash: hash of title and body, equal for identical documents; None for documents without text.
    outside: whether the document is outside the filter of its query.
    """

    query_id: str
    document_id: str
    content_hash: str | None
    shown: bool
    text_hash: str | None = None
    outside: bool = False


@dataclass(frozen=True)
class Selection:
    """The candidates that a round will show.

    Attributes
    ----------
    parameters: parameters that are stored with the round in addition to its layout.
    left_out: reason → number of candidates that the round does not show.
    sources: (query id, document id) → system, of pairs that no pool proposed. The pairs are stored under the
        round's id and become candidates.
    """

    candidates: Sequence[Candidate]
    parameters: Mapping[str, Any]
    left_out: Mapping[str, int]
    sources: Mapping[tuple[str, str], str] = field(default_factory=dict)


class Candidate(NamedTuple):
    """A pair to judge, with the document version to show."""

    query_id: str
    document_id: str
    content_hash: str

    @property
    def pair(self) -> tuple[str, str]:
        return self.query_id, self.document_id


CandidatesByQuery = Mapping[str, Sequence[Candidate]]


def read_candidates(cursor: Cursor, pilots: bool = False) -> tuple[list[CandidateRow], set[str]]:
    """Read every candidate, and the ids of the current queries.

    Parameters
    ----------
    pilots: also count candidates of pilots as shown.
    """
    rows = fetch(cursor, CandidateRow, _CANDIDATES, [pilots, current_snapshot(cursor)])
    if outside := find_outside_pairs(cursor):
        rows = [row._replace(outside=(row.query_id, row.document_id) in outside) for row in rows]
    return rows, {query.query_id for query in read_active_queries(cursor)}


def choose_candidates(rows: Sequence[CandidateRow], active: set[str], again: bool) -> Selection:
    """Choose the candidates to judge, and count the candidates left out, by reason.

    Identical documents are represented by the document shown before, else by the document with the smallest
    id.

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
            left_out["the pair is already in a round or judged"] += 1
        elif representatives[row.query_id, row.text_hash or row.document_id] != row.document_id:
            left_out["a document with the same text is shown instead"] += 1
        else:
            chosen.append(Candidate(row.query_id, row.document_id, row.content_hash))
    return Selection(chosen, {"again": again}, dict(left_out))


def count_new_candidates(store: Store) -> int:
    """Count the pairs of all pools that a new round would show. Every candidate's text is read for this."""
    return len(choose_candidates(*store.read(read_candidates), again=False).candidates)


def _find_representatives(rows: Sequence[CandidateRow]) -> dict[tuple[str, str], str]:
    """Find, for each query and each text, the document that represents all documents with this text."""
    representatives: dict[tuple[str, str], str] = {}
    for row in sorted(rows, key=lambda row: (not row.shown, row.document_id)):
        if row.content_hash is not None and not row.outside:
            representatives.setdefault((row.query_id, row.text_hash or row.document_id), row.document_id)
    return representatives
