"""The pilot report: at which boundaries of the scale annotators disagree, and on which pairs most.

For each boundary between two grades, every two annotators who graded a pair are compared: are they on
different sides? If many are, the guide does not explain the boundary well enough yet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from curation.core.errors import RefusedError
from curation.core.statistics.intervals import percentile_interval, resampled
from curation.guides.guide import guide_by_hash
from curation.labeling.rounds.lifecycle import round_state
from curation.people.seal_access import SealAccess, door_or_shut
from curation.store import Store, fetch
from curation.store.documents import VERSION

SHOWN = 20


class Boundary(NamedTuple):
    """Between two neighbouring grades of the scale.

    Attributes
    ----------
    apart, n: comparisons of two annotators on one pair: on different sides, and in all.
    share: None where n is 0; low and high are its 95 % interval by the bootstrap over queries, None where it
        is undefined (fewer than two queries that can be compared).
    """

    lower: int
    upper: int
    apart: int
    n: int
    share: float | None
    low: float | None
    high: float | None


class GradeSpread(NamedTuple):
    """A pair on which grades differ, with its notes; nobody is named."""

    query_id: str
    document_id: str
    query: str
    title: str
    grades: tuple[int, ...]
    cannot_tell: int
    notes: tuple[str, ...]

    @property
    def size(self) -> int:
        """Highest grade less lowest."""
        return max(self.grades, default=0) - min(self.grades, default=0)


@dataclass(frozen=True)
class PilotReport:
    """What a pilot showed under one version of the guide.

    Attributes
    ----------
    guide_hashes: versions under which its judgments were given → number; more than one where the guide was
        switched meanwhile.
    pairs: pairs shown; `compared` of them have two grades or more.
    unanswered: open presentations.
    spreads: the pairs with the largest differences, at most 20; `differing` counts all of them, and `sealed`
        those that are not named.
    """

    round: str
    guide: str
    guide_hashes: dict[str, int]
    annotators: int
    queries: int
    pairs: int
    compared: int
    unanswered: int
    cannot_tell: int
    boundaries: tuple[Boundary, ...]
    spreads: tuple[GradeSpread, ...]
    differing: int
    sealed: int


class _PilotRow(NamedTuple):
    query_id: str
    document_id: str
    query: str
    title: str
    annotator: str
    kind: str | None
    grade: int | None
    note: str | None
    guide_hash: str | None


_ROWS = f"""
SELECT p.query_id, p.document_id, q.text, d.title, p.annotator,
       CASE WHEN s.answered THEN s.kind END, s.grade, CASE WHEN s.answered THEN s.note END,
       CASE WHEN s.answered THEN s.guide_hash END
FROM live_presentations p
JOIN queries q USING (query_id)
JOIN {VERSION}
LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.round_id = ? AND p.duplicate_of IS NULL
ORDER BY p.query_id, p.document_id, p.annotator
"""  # noqa: S608


def pilot_report(store: Store, name: str, seed: int = 0, door: SealAccess | None = None) -> PilotReport:
    """Disagreement by grade boundary, and the pairs with the largest differences.

    Without a door, pairs that a release seals count and are not named.

    Raises
    ------
    NotFoundError: there is no round of that name.
    RefusedError: it is no pilot.
    """
    with store.reading() as cursor:
        state, door = round_state(cursor, name), door_or_shut(cursor, door)
        if state.kind != "pilot":
            raise RefusedError(
                f"{name} is a {state.kind} round, not a pilot: its agreement is in the report on agreement.",
                command="`goldgrade agreement --round` writes it.",
            )
        guide = guide_by_hash(cursor, state.guide_hash)
        rows = fetch(cursor, _PilotRow, _ROWS, [state.round_id])
    grouped: dict[tuple[str, str], list[_PilotRow]] = defaultdict(list)
    for row in rows:
        grouped[row.query_id, row.document_id].append(row)
    grades = {pair: _grades(found) for pair, found in grouped.items()}
    spreads = [_spread(found) for found in grouped.values() if len(set(grades[found[0][:2]])) > 1]
    spreads.sort(key=lambda one: (-one.size, -len(set(one.grades)), one.query_id, one.document_id))
    named = [spread for spread in spreads if door.shows(spread.query_id)]
    versions = [row.guide_hash for row in rows if row.guide_hash]
    return PilotReport(
        round=name,
        guide=guide.title,
        guide_hashes={version: versions.count(version) for version in dict.fromkeys(versions)},
        annotators=len({row.annotator for row in rows}),
        queries=len({row.query_id for row in rows}),
        pairs=len(grouped),
        compared=sum(len(grade) > 1 for grade in grades.values()),
        unanswered=sum(row.kind is None for row in rows),
        cannot_tell=sum(row.kind == "cannot_tell" for row in rows),
        boundaries=boundaries(grades, guide.values, seed),
        spreads=tuple(named[:SHOWN]),
        differing=len(spreads),
        sealed=len(spreads) - len(named),
    )


def boundaries(
    grades: Mapping[tuple[str, str], Sequence[int]], scale: Sequence[int], seed: int = 0
) -> tuple[Boundary, ...]:
    """Disagreement at each boundary of an ascending scale, from the grades of each (query, document)."""
    found = []
    queries = sorted({query for query, _ in grades})
    place = {query: index for index, query in enumerate(queries)}
    for lower, upper in pairwise(scale):
        counts = np.zeros((len(queries), 2))
        for (query, _), given in grades.items():
            for one, other in combinations(given, 2):
                counts[place[query]] += ((one <= lower) != (other <= lower), 1)
        apart, n = (int(total) for total in counts.sum(axis=0)) if queries else (0, 0)
        low, high = _interval(counts, seed) if n else (None, None)
        found.append(Boundary(lower, upper, apart, n, apart / n if n else None, low, high))
    return tuple(found)


def _interval(counts: np.ndarray, seed: int) -> tuple[float | None, float | None]:
    compared = counts[counts[:, 1] > 0]
    if len(compared) < 2:
        return None, None
    sums = np.concatenate(list(resampled(compared, seed)))
    return percentile_interval(sums[:, 0] / sums[:, 1]) or (None, None)


def _grades(rows: Sequence[_PilotRow]) -> tuple[int, ...]:
    return tuple(sorted(row.grade for row in rows if row.kind == "grade" and row.grade is not None))


def _spread(rows: Sequence[_PilotRow]) -> GradeSpread:
    first = rows[0]
    return GradeSpread(
        first.query_id,
        first.document_id,
        first.query,
        first.title,
        _grades(rows),
        sum(row.kind == "cannot_tell" for row in rows),
        tuple(sorted(row.note for row in rows if row.note)),
    )
