"""Who judges what, and in which order: pure functions of the candidates and a seed.

Whole queries go to annotators, each query to exactly `overlap` of them, so that every candidate has
exactly that many first showings. An annotator's order is shuffled by query, and within a query by
document. Blind duplicates come back with the query on a second visit, mixed with documents held back
from the first one: a query that returns does not give a duplicate away.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from curation.text import digest, seeded

CLOSEST_DUPLICATE = 20
"""Least distance, in presentations, between the two showings of a blind duplicate."""


class Candidate(NamedTuple):
    """A pair to be judged, and the document version that will be shown."""

    query_id: str
    document_id: str
    content_hash: str


class Step(NamedTuple):
    """One showing in an annotator's order; `again` marks a blind duplicate."""

    candidate: Candidate
    again: bool


def assign(
    candidates: Sequence[Candidate], annotators: Sequence[str], overlap: int, seed: int
) -> dict[str, dict[str, list[Candidate]]]:
    """Give each query, whole, to exactly `overlap` annotators: those with the least work so far.

    Returns
    -------
    annotator → query id → candidates. Large queries are dealt first, which keeps the loads even.
    """
    by_query: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in sorted(candidates):
        by_query[candidate.query_id].append(candidate)
    load = dict.fromkeys(annotators, 0)
    work: dict[str, dict[str, list[Candidate]]] = {who: {} for who in annotators}
    for query_id in sorted(seeded(by_query, seed, str), key=lambda q: -len(by_query[q])):
        chosen = sorted(annotators, key=lambda who: (load[who], digest(seed, query_id, who)))[:overlap]
        for who in chosen:
            work[who][query_id] = by_query[query_id]
            load[who] += len(by_query[query_id])
    return work


def order(work: dict[str, list[Candidate]], duplicates: float, salt: str) -> list[Step]:
    """One annotator's order: queries shuffled and kept together, second visits with blind duplicates.

    Parameters
    ----------
    work: query id → candidates.
    duplicates: share of the candidates to show again; fewer when the order is too short for the distance.
    salt: the seed and whatever makes this order differ from others.
    """
    visits = [_shuffled(work[query], salt, "document") for query in _shuffled_names(work, salt)]
    total = sum(map(len, visits))
    wanted = duplicates_wanted(duplicates, total)
    chosen = set(_duplicated(visits, wanted, total - CLOSEST_DUPLICATE - wanted, salt))
    firsts, seconds = [], []
    for visit in visits:
        again = [candidate for candidate in visit if candidate in chosen]
        fresh = [candidate for candidate in visit if candidate not in chosen]
        held = fresh[: len(again)]
        firsts.append([Step(candidate, False) for candidate in visit if candidate not in held])
        second = [Step(c, True) for c in again] + [Step(c, False) for c in held]
        seconds.append(sorted(second, key=lambda step: digest(salt, "second", step.candidate)))
    return _merge(firsts, seconds, salt)


def duplicates_wanted(duplicates: float, total: int) -> int:
    """How many blind duplicates a share of `total` first showings is."""
    return round(duplicates * total)


def _duplicated(visits: list[list[Candidate]], wanted: int, last: int, salt: str) -> list[Candidate]:
    """The candidates to be shown again, from visits that end early enough for a second one.

    At most half of a query's documents, so that as many others can be held back for the second visit.
    Queries with a single document come last: their repeat would stand alone.
    """
    eligible: list[Candidate] = []
    single: list[Candidate] = []
    end = 0
    for visit in visits:
        end += len(visit)
        if end <= last:
            eligible.extend(_shuffled(visit, salt, "duplicate")[: len(visit) // 2])
            single.extend(visit if len(visit) == 1 else [])
    return [*_shuffled(eligible, salt, "duplicate"), *_shuffled(single, salt, "duplicate")][:wanted]


def _merge(firsts: list[list[Step]], seconds: list[list[Step]], salt: str) -> list[Step]:
    """Put each second visit between two first visits, at least CLOSEST_DUPLICATE after the first."""
    ends: list[int] = []
    for visit in firsts:
        ends.append((ends[-1] if ends else 0) + len(visit))
    follows: dict[int, list[list[Step]]] = defaultdict(list)
    for index, second in enumerate(seconds):
        if second:
            places = [n for n, end in enumerate(ends) if end >= ends[index] + CLOSEST_DUPLICATE]
            pick = int(digest(salt, "place", second[0].candidate.query_id), 16) % len(places)
            follows[places[pick]].append(second)
    merged: list[Step] = []
    for index, visit in enumerate(firsts):
        merged.extend(visit)
        for second in follows[index]:
            merged.extend(second)
    return merged


def _shuffled(candidates: Sequence[Candidate], salt: str, purpose: str) -> list[Candidate]:
    return sorted(candidates, key=lambda c: digest(salt, purpose, c.query_id, c.document_id))


def _shuffled_names(work: dict[str, list[Candidate]], salt: str) -> list[str]:
    return sorted(work, key=lambda query_id: digest(salt, "query", query_id))
