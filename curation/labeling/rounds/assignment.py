"""The assignment of a round's candidates: which annotator judges which items, and in which order.

All functions are pure and depend only on the candidates and a seed. Each query goes as a whole to exactly
`overlap` annotators, so that every candidate has exactly `overlap` first showings. An annotator's items are
shuffled by query, and within a query by document. Blind duplicates come in a second visit to the query, mixed
with documents that are held back from the first visit, so that the second visit does not reveal which
documents are duplicates. Control items are mixed into the work. Duplicates and control items that could
not be placed are counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from curation.core.digests import digest, sort_by_seed
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.candidates import Candidate, CandidatesByQuery
from curation.labeling.rounds.control_items import ControlItem, ControlItemPool, add_controls, choose_controls
from curation.store import Presentation

CLOSEST_DUPLICATE = 21
"""Smallest distance, in presentations, between the two showings of a blind duplicate. With 20 items in
between, the first showing is no longer among the annotator's last 20 answers when the second showing is on
screen."""


class Slot(NamedTuple):
    """A showing of a candidate in an annotator's order; `again` marks a blind duplicate."""

    candidate: Candidate
    again: bool


class RoundAssignment(NamedTuple):
    """All annotators' presentations with their control items, and counts of items left out by reason.

    planted_by: annotator → number of control items.
    """

    rows: list[Presentation]
    items: list[ControlItem]
    planted_by: dict[str, int]
    left_out: dict[str, int]


def assign_queries(
    candidates: Sequence[Candidate],
    annotators: Sequence[str],
    overlap: int,
    seed: int,
    loads: Mapping[str, int] | None = None,
    practised: Collection[tuple[str, str]] = (),
) -> dict[str, dict[str, list[Candidate]]]:
    """Assign each whole query to the `overlap` annotators with the least work so far.

    Parameters
    ----------
    loads: annotator → number of open items before this assignment.
    practised: pairs (annotator, query id) for which practice showed the annotator a grade of the query; such
        an annotator gets the query only if no other annotator is free.

    Returns
    -------
    annotator → query id → candidates. Large queries are assigned first, which keeps the loads even.
    """
    by_query: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in sorted(candidates):
        by_query[candidate.query_id].append(candidate)
    load = {annotator: (loads or {}).get(annotator, 0) for annotator in annotators}
    work: dict[str, dict[str, list[Candidate]]] = {annotator: {} for annotator in annotators}
    for query_id in sorted(sort_by_seed(by_query, seed, str), key=lambda query: -len(by_query[query])):

        def rank(annotator: str, query_id: str = query_id) -> tuple[bool, int, str]:
            return ((annotator, query_id) in practised, load[annotator], digest(seed, query_id, annotator))

        for annotator in sorted(annotators, key=rank)[:overlap]:
            work[annotator][query_id] = by_query[query_id]
            load[annotator] += len(by_query[query_id])
    return work


def order_items(work: CandidatesByQuery, share: float, salt: str, per_day: int | None = None) -> list[Slot]:
    """Order an annotator's items: shuffle the queries, keeping each together, and add second visits with
    blind duplicates.

    Parameters
    ----------
    work: query id → candidates.
    share: share of the candidates to show again; fewer are shown again if there are too few items for
        the distance.
    salt: the seed, and parts that make this order differ from other orders with the same seed.
    per_day: answers expected per day; duplicates then come back at least this number of presentations later,
        hence on a later day, if there are enough items.
    """
    queries = sorted(work, key=lambda query_id: digest(salt, "query", query_id))
    visits = [_shuffle(work[query], salt, "document") for query in queries]
    min_distance = max(CLOSEST_DUPLICATE, per_day or 0)
    count = count_duplicates(share, sum(map(len, visits)))
    duplicated = set(_choose_duplicates(visits, count, min_distance, salt))
    first_visits, second_visits = [], []
    for visit in visits:
        repeated = [candidate for candidate in visit if candidate in duplicated]
        shown_once = [candidate for candidate in visit if candidate not in duplicated]
        held_back = shown_once[: len(repeated)]
        first_visits.append([Slot(candidate, False) for candidate in visit if candidate not in held_back])
        second_visit = [Slot(c, True) for c in repeated] + [Slot(c, False) for c in held_back]
        second_visits.append(sorted(second_visit, key=lambda slot: digest(salt, "second", slot.candidate)))
    return _merge_visits(first_visits, second_visits, min_distance, salt)


def count_duplicates(duplicates: float, total: int) -> int:
    """Compute the number of blind duplicates for a share of `total` first showings."""
    return round(duplicates * total)


def measure_distances(slots: Sequence[Slot]) -> list[int]:
    """Measure how many presentations lie between the two showings of each blind duplicate in an order."""
    first_indexes = {slot.candidate: index for index, slot in enumerate(slots) if not slot.again}
    return [index - first_indexes[slot.candidate] for index, slot in enumerate(slots) if slot.again]


def lay_out(
    round_id: str,
    work: Mapping[str, CandidatesByQuery],
    layout: RoundRequest,
    pool: ControlItemPool | None,
    judged_pairs: set[tuple[str, str]],
    starts: Mapping[str, int] | None = None,
) -> RoundAssignment:
    """Turn each annotator's candidates into presentations: add control items, draw the order, and place blind
    duplicates.

    Parameters
    ----------
    work: annotator → query id → candidates.
    judged_pairs: the pairs that the round shows for judging.
    starts: annotator → first free position; 0 for others.
    """
    rows: list[Presentation] = []
    control_items: dict[str, list[ControlItem]] = {}
    left_out: Counter[str] = Counter()
    for annotator, queries in work.items():
        start = (starts or {}).get(annotator, 0)
        salt = f"{layout.seed}:{annotator}:{start}" if start else f"{layout.seed}:{annotator}"
        if pool is not None:
            control_items[annotator], missing_counts = choose_controls(
                queries, pool, annotator, layout.control_items, salt, judged_pairs
            )
            left_out.update(missing_counts)
        with_controls = add_controls(queries, control_items.get(annotator, []))
        slots = order_items(with_controls, layout.duplicates, salt, layout.per_day)
        left_out.update(_count_problems(with_controls, slots, layout))
        rows.extend(make_presentations(round_id, annotator, slots, start))
    return RoundAssignment(
        rows,
        [item for items in control_items.values() for item in items],
        {annotator: len(items) for annotator, items in control_items.items()},
        {reason: count for reason, count in left_out.items() if count},
    )


def make_presentations(
    round_id: str, annotator: str, slots: Sequence[Slot], start: int = 0
) -> list[Presentation]:
    """Make the rows of an annotator's order, with positions starting at `start`."""
    rows: list[Presentation] = []
    first_ids: dict[Candidate, str] = {}
    for position, (candidate, is_repeat) in enumerate(slots, start):
        presentation_id = digest("presentation", round_id, annotator, position)
        first_ids.setdefault(candidate, presentation_id)
        duplicate_of = first_ids[candidate] if is_repeat else None
        rows.append(Presentation(presentation_id, round_id, annotator, *candidate, position, duplicate_of))
    return rows


def _choose_duplicates(
    visits: list[list[Candidate]], duplicate_count: int, min_distance: int, salt: str
) -> list[Candidate]:
    """Choose the candidates to show again as blind duplicates, from visits that end early enough for a second
    visit.

    At most half of a query's documents are chosen, so that the same number of documents can be held back for
    the second visit. Candidates that can come back at least `min_distance` presentations later are chosen
    first. Queries with a single document are chosen last, because their second visit would have no further
    document.
    """
    end_of_firsts = sum(map(len, visits)) - duplicate_count
    ranked: list[tuple[tuple[bool, bool, str], Candidate]] = []
    visit_end = 0
    for visit in visits:
        visit_end += len(visit)
        if visit_end <= end_of_firsts - CLOSEST_DUPLICATE:
            half = _shuffle(visit, salt, "duplicate")[: max(1, len(visit) // 2)]
            rank = (len(visit) == 1, visit_end > end_of_firsts - min_distance)
            ranked.extend(((*rank, digest(salt, "duplicate", c.query_id, c.document_id)), c) for c in half)
    return [candidate for _, candidate in sorted(ranked)[:duplicate_count]]


def _merge_visits(
    first_visits: list[list[Slot]], second_visits: list[list[Slot]], min_distance: int, salt: str
) -> list[Slot]:
    """Insert each second visit of a query between two first visits: `min_distance` after the query's own
    first visit, or as far away as possible."""
    ends = list(accumulate(map(len, first_visits)))
    second_visits_after: dict[int, list[list[Slot]]] = defaultdict(list)
    for index, second_visit in enumerate(second_visits):
        if second_visit:
            start = bisect_left(ends, ends[index] + min_distance)
            if start == len(ends):
                start = bisect_left(ends, ends[index] + CLOSEST_DUPLICATE)
            offset = int(digest(salt, "place", second_visit[0].candidate.query_id), 16) % (len(ends) - start)
            second_visits_after[start + offset].append(second_visit)
    merged: list[Slot] = []
    for index, visit in enumerate(first_visits):
        merged.extend(visit)
        for second_visit in second_visits_after[index]:
            merged.extend(second_visit)
    return merged


def _shuffle(candidates: Sequence[Candidate], salt: str, purpose: str) -> list[Candidate]:
    return sorted(candidates, key=lambda c: digest(salt, purpose, c.query_id, c.document_id))


def _count_problems(work: CandidatesByQuery, slots: Sequence[Slot], layout: RoundRequest) -> dict[str, int]:
    repeated = [slot.candidate for slot in slots if slot.again]
    duplicate_count = count_duplicates(layout.duplicates, sum(map(len, work.values())))
    counts = {
        f"blind duplicates were left out: they would come back within {CLOSEST_DUPLICATE} presentations, "
        "or make up half of a query's documents": duplicate_count - len(repeated),
        "blind duplicates come back alone: their query has only one document": sum(
            len(work[candidate.query_id]) == 1 for candidate in repeated
        ),
    }
    if layout.per_day:
        near_count = sum(distance < layout.per_day for distance in measure_distances(slots))
        reason = f"blind duplicates come back within {layout.per_day:,} presentations, on the same day"
        counts[reason] = near_count
    return counts
