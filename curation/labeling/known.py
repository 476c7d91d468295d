"""Known answers: pairs that the reviewer has decided, planted blind among an annotator's work.

They look like everything else, are given only to people who never had the pair, and count for nothing but
how often an annotator says what was decided. They join queries that the annotator has anyway, or come as a
query with several documents, so that they do not stand out by standing alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from curation.labeling.guides import current_guide
from curation.labeling.orders import Candidate
from curation.sources.corpus import current_snapshot
from curation.store import Cursor, append
from curation.text import digest

MOST_PER_QUERY = 5
"""Known answers of one query for one annotator."""

TOO_FEW = "known answers: too few decided pairs that the annotator has not had"
ALONE = "known answers stand alone: their query has no other document there"


class KnownPair(NamedTuple):
    """A pair with the grade that is right, and why."""

    candidate: Candidate
    grade: int
    explanation: str | None

    @property
    def pair(self) -> tuple[str, str]:
        """Query id and document id."""
        return self.candidate.query_id, self.candidate.document_id


class Pool(NamedTuple):
    """Decided pairs that can be planted, and who had which: (annotator, query id, document id)."""

    pairs: tuple[KnownPair, ...]
    had: frozenset[tuple[str, str, str]]
    left_out: dict[str, int]


class Planted(NamedTuple):
    """What one annotator gets; `missing` of those wanted could not be found, `alone` stand by themselves."""

    pairs: list[KnownPair]
    missing: int
    alone: int


class KnownResult(NamedTuple):
    """How one annotator does on planted known answers.

    right: answers with the decided grade; share with Wilson's 95 % interval, None where nothing is answered.
    """

    annotator: str
    planted: int
    answered: int
    right: int
    share: float | None
    low: float | None
    high: float | None


def read_pool(cursor: Cursor) -> Pool:
    """The decided pairs whose document is as it was when people judged it, by query and document id.

    `left_out`: decided pairs whose document changed or left the corpus, whose grade is not on the scale of
    the guide in force, or that were decided to have no grade.
    """
    scale = current_guide(cursor).values
    pairs, left_out = [], defaultdict[str, int](int)
    for query_id, document_id, grade, reason, content_hash, same in cursor.execute(
        _DECIDED, [current_snapshot(cursor)]
    ).fetchall():
        if grade is None:
            left_out["decided to have no grade"] += 1
        elif not same:
            left_out["the document changed, or left the corpus, since it was decided"] += 1
        elif grade not in scale:
            left_out["the decided grade is not on the guide's scale"] += 1
        else:
            pairs.append(KnownPair(Candidate(query_id, document_id, content_hash), grade, reason))
    return Pool(tuple(pairs), frozenset(cursor.execute(_HAD).fetchall()), dict(left_out))


def plant(
    work: Mapping[str, Sequence[Candidate]],
    pool: Pool,
    annotator: str,
    share: float,
    salt: str,
    taken: Collection[tuple[str, str]],
) -> Planted:
    """Choose known pairs for one annotator, about `share` of their work.

    Parameters
    ----------
    work: query id → candidates.
    taken: pairs that the round shows for judging.
    """
    wanted = round(share * sum(map(len, work.values())))
    groups: dict[str, list[KnownPair]] = defaultdict(list)
    for known in pool.pairs:
        if known.pair not in taken and (annotator, *known.pair) not in pool.had:
            groups[known.candidate.query_id].append(known)

    def rank(query: str) -> tuple[bool, bool, str]:
        return query not in work, len(groups[query]) == 1, digest(salt, "known", query)

    chosen: list[KnownPair] = []
    alone = 0
    for query in sorted(groups, key=rank):
        if len(chosen) >= wanted:
            break
        most = min(MOST_PER_QUERY, max(2, wanted - len(chosen)))
        found = sorted(groups[query], key=lambda known: digest(salt, "known", *known.pair))[:most]
        alone += len(found) == 1 and query not in work
        chosen.extend(found)
    return Planted(chosen, max(0, wanted - len(chosen)), alone)


def with_known(
    work: Mapping[str, Sequence[Candidate]], known: Sequence[KnownPair]
) -> dict[str, list[Candidate]]:
    """The work with the known pairs among it."""
    merged = {query: list(candidates) for query, candidates in work.items()}
    for item in known:
        merged.setdefault(item.candidate.query_id, []).append(item.candidate)
    return merged


def write_known(cursor: Cursor, round_id: str, known: Collection[KnownPair]) -> None:
    """Keep the right grades of a round's known pairs; those that it has already stay as they are."""
    had = set(
        cursor.execute(
            "SELECT query_id, document_id FROM known_answers WHERE round_id = ?", [round_id]
        ).fetchall()
    )
    new = sorted({item.pair: item for item in known if item.pair not in had}.values())
    if new:
        append(
            cursor,
            "known_answers",
            {
                "round_id": [round_id] * len(new),
                "query_id": [item.candidate.query_id for item in new],
                "document_id": [item.candidate.document_id for item in new],
                "grade": [item.grade for item in new],
                "explanation": [item.explanation or "" for item in new],
            },
        )


def known_results(cursor: Cursor, round_id: str) -> list[KnownResult]:
    """How everyone with planted known answers in the round does on them, by name."""
    # Here, because `agreement` reads rounds and rounds plant known answers.
    from curation.agreement.intervals import wilson

    results = []
    for annotator, planted, answered, right in cursor.execute(_RESULTS, [round_id]).fetchall():
        share = right / answered if answered else None
        low, high = wilson(right, answered) if answered else (None, None)
        results.append(KnownResult(annotator, planted, answered, right, share, low, high))
    return results


_DECIDED = """
SELECT a.query_id, a.document_id, a.grade, a.reason, s.content_hash,
       s.content_hash IS NOT NULL AND EXISTS (
           FROM presentations p
           WHERE p.query_id = a.query_id AND p.document_id = a.document_id
             AND p.content_hash = s.content_hash)
FROM current_adjudications a
LEFT JOIN snapshot_documents s ON s.document_id = a.document_id AND s.snapshot_id = ?
ORDER BY a.query_id, a.document_id
"""

_HAD = """
SELECT DISTINCT annotator, query_id, document_id FROM live_presentations
WHERE (query_id, document_id) IN (SELECT (query_id, document_id) FROM current_adjudications)
"""

_RESULTS = """
SELECT p.annotator, count(*), count(*) FILTER (s.answered),
       count(*) FILTER (s.answered AND s.grade IS NOT DISTINCT FROM k.grade)
FROM live_presentations p
JOIN known_answers k USING (round_id, query_id, document_id)
LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.round_id = ? AND p.duplicate_of IS NULL
GROUP BY p.annotator ORDER BY p.annotator
"""
