"""The assignment: who judges what, and in which order. Pure functions of the candidates and a seed.

Whole queries go to annotators, each query to exactly `overlap` of them. So every candidate has exactly that
many first showings. An annotator's order is shuffled by query, and within a query by document. Blind
duplicates come back when the query is visited again, mixed with documents held back from the first visit. So
a query that returns does not give a duplicate away.

The spacing of blind duplicates: how far apart their two showings are, in presentations and in time.

Repeats close together look falsely consistent, so every report of consistency shows these distances.

Which candidates a round can show: those of the queries in play, with the document as it is now.

Documents with the same title and body are one item. Of a query's identical candidates one is shown, and none
where one of them was shown or judged before, under any id. A pool ensures that for what it adds itself;
judgments that are imported later bring their own ids.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from curation.filters.stored import outside_pairs
from curation.sources.queries import active_queries
from curation.store import Cursor, fetch
from curation.store.documents import VERSION, current_snapshot
from curation.text import digest, seeded

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


CLOSEST_DUPLICATE = 21
"""Least distance, in presentations, between the two showings of a blind duplicate. With 20 others between
them, the annotator's last 20 answers never hold the first while the second is on screen."""


class Candidate(NamedTuple):
    """A pair to be judged, and the document version that will be shown."""

    query_id: str
    document_id: str
    content_hash: str


class Slot(NamedTuple):
    """One showing in an annotator's order; `again` marks a blind duplicate."""

    candidate: Candidate
    again: bool


def assign(
    candidates: Sequence[Candidate],
    annotators: Sequence[str],
    overlap: int,
    seed: int,
    loads: Mapping[str, int] | None = None,
    practised: Collection[tuple[str, str]] = (),
) -> dict[str, dict[str, list[Candidate]]]:
    """Give each query, whole, to exactly `overlap` annotators: those with the least work so far.

    Parameters
    ----------
    loads: annotator → number of open items before this assignment.
    practised: (annotator, query id) of those who were shown a grade of that query; they get it last.

    Returns
    -------
    annotator → query id → candidates. Large queries are assigned first, which keeps the loads even.
    """
    by_query: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in sorted(candidates):
        by_query[candidate.query_id].append(candidate)
    load = {who: (loads or {}).get(who, 0) for who in annotators}
    work: dict[str, dict[str, list[Candidate]]] = {who: {} for who in annotators}
    for query_id in sorted(seeded(by_query, seed, str), key=lambda q: -len(by_query[q])):

        def rank(who: str, query_id: str = query_id) -> tuple[bool, int, str]:
            return (who, query_id) in practised, load[who], digest(seed, query_id, who)

        for who in sorted(annotators, key=rank)[:overlap]:
            work[who][query_id] = by_query[query_id]
            load[who] += len(by_query[query_id])
    return work


def order(
    work: Mapping[str, Sequence[Candidate]], duplicates: float, salt: str, per_day: int | None = None
) -> list[Slot]:
    """One annotator's order: queries shuffled and kept together, second visits with blind duplicates.

    Parameters
    ----------
    work: query id → candidates.
    duplicates: share of the candidates to show again; fewer when the order is too short for the distance.
    salt: the seed and whatever makes this order differ from others.
    per_day: answers expected in a day; duplicates then come back at least so many presentations later,
        hence on another day, as far as the order is long enough for it.
    """
    visits = [_shuffled(work[query], salt, "document") for query in _shuffled_names(work, salt)]
    far = max(CLOSEST_DUPLICATE, per_day or 0)
    wanted = duplicates_wanted(duplicates, sum(map(len, visits)))
    chosen = set(_duplicated(visits, wanted, far, salt))
    firsts, seconds = [], []
    for visit in visits:
        again = [candidate for candidate in visit if candidate in chosen]
        fresh = [candidate for candidate in visit if candidate not in chosen]
        held = fresh[: len(again)]
        firsts.append([Slot(candidate, False) for candidate in visit if candidate not in held])
        second = [Slot(c, True) for c in again] + [Slot(c, False) for c in held]
        seconds.append(sorted(second, key=lambda step: digest(salt, "second", step.candidate)))
    return _merge(firsts, seconds, far, salt)


def duplicates_wanted(duplicates: float, total: int) -> int:
    """How many blind duplicates a share of `total` first showings is."""
    return round(duplicates * total)


def distances(steps: Sequence[Slot]) -> list[int]:
    """The distance in presentations between the two showings of each blind duplicate of an order."""
    first = {step.candidate: place for place, step in enumerate(steps) if not step.again}
    return [place - first[step.candidate] for place, step in enumerate(steps) if step.again]


def _duplicated(visits: list[list[Candidate]], wanted: int, far: int, salt: str) -> list[Candidate]:
    """The candidates to be shown again, from visits that end early enough for a second one.

    At most half of a query's documents, so that as many others can be held back for the second visit.
    Those that can come back `far` later go first. Queries with a single document go last, because their
    repeat would be alone.
    """
    last = sum(map(len, visits)) - wanted
    ranked: list[tuple[tuple[bool, bool, str], Candidate]] = []
    end = 0
    for visit in visits:
        end += len(visit)
        if end <= last - CLOSEST_DUPLICATE:
            half = _shuffled(visit, salt, "duplicate")[: max(1, len(visit) // 2)]
            rank = (len(visit) == 1, end > last - far)
            ranked.extend(((*rank, digest(salt, "duplicate", c.query_id, c.document_id)), c) for c in half)
    return [candidate for _, candidate in sorted(ranked)[:wanted]]


def _merge(firsts: list[list[Slot]], seconds: list[list[Slot]], far: int, salt: str) -> list[Slot]:
    """Put each second visit between two first visits: `far` after its own, or else as far as possible."""
    ends = list(accumulate(map(len, firsts)))
    follows: dict[int, list[list[Slot]]] = defaultdict(list)
    for index, second in enumerate(seconds):
        if second:
            later = bisect_left(ends, ends[index] + far)
            if later == len(ends):
                later = bisect_left(ends, ends[index] + CLOSEST_DUPLICATE)
            pick = int(digest(salt, "place", second[0].candidate.query_id), 16) % (len(ends) - later)
            follows[later + pick].append(second)
    merged: list[Slot] = []
    for index, visit in enumerate(firsts):
        merged.extend(visit)
        for second in follows[index]:
            merged.extend(second)
    return merged


def _shuffled(candidates: Sequence[Candidate], salt: str, purpose: str) -> list[Candidate]:
    return sorted(candidates, key=lambda c: digest(salt, purpose, c.query_id, c.document_id))


def _shuffled_names(work: Mapping[str, Sequence[Candidate]], salt: str) -> list[str]:
    return sorted(work, key=lambda query_id: digest(salt, "query", query_id))


NAMES = ("min", "q1", "median", "q3", "max")


class Spacing(NamedTuple):
    """The spacing of a round's blind duplicates.

    Attributes
    ----------
    distances: quantiles in presentations as planned, less what moved to others, by name ('min', 'q1',
        'median', 'q3', 'max'); {} without any.
    judged: duplicates answered on both showings.
    another_day: how many of these were answered on another day (UTC) than the first showing.
    hours: quantiles of the time between the two answers; {} where none is judged.
    """

    duplicates: int
    distances: dict[str, float]
    judged: int
    another_day: int
    hours: dict[str, float]


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Minimum, quartiles (interpolated linearly) and maximum by name; {} without values."""
    if not values:
        return {}
    cuts = np.quantile(np.asarray(values, dtype=float), [0, 0.25, 0.5, 0.75, 1])
    return dict(zip(NAMES, map(float, cuts), strict=True))


def spacing(cursor: Cursor, round_id: str) -> Spacing:
    """Measure the spacing of a round's blind duplicates."""
    rows = cursor.execute(_PAIRS, [round_id]).fetchall()
    times = [(first, second) for _, first, second in rows if first is not None and second is not None]
    return Spacing(
        duplicates=len(rows),
        distances=quantiles([row[0] for row in rows]),
        judged=len(times),
        another_day=sum(first.date() != second.date() for first, second in times),
        hours=quantiles([abs((second - first).total_seconds()) / 3600 for first, second in times]),
    )


_PAIRS = """
WITH places AS (
    SELECT presentation_id, duplicate_of,
           row_number() OVER (PARTITION BY annotator ORDER BY position) AS place
    FROM live_presentations WHERE round_id = ?)
SELECT again.place - first.place, s.submitted_at, t.submitted_at
FROM places again
JOIN places first ON first.presentation_id = again.duplicate_of
LEFT JOIN current_judgments s ON s.presentation_id = first.presentation_id
LEFT JOIN current_judgments t ON t.presentation_id = again.presentation_id
"""
