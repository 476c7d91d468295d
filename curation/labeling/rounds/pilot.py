"""The pilot report: how far annotators disagree at each boundary on the grade scale.

For each boundary between two grades, every two annotators who graded a pair are compared. If many annotators
give grades on different sides of the boundary, the guide does not explain the boundary well enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from curation.core.errors import RefusedError
from curation.core.reports.tables import QueryName, Table, figure_row, figure_table
from curation.core.statistics.bootstrap import percentile_interval, resample_sums
from curation.core.statistics.estimate import Estimate
from curation.core.text import pluralize
from curation.guides.guide import load_guide
from curation.labeling.rounds.round_states import read_round_state
from curation.people.seal_access import SealAccess, describe_withheld_pairs, resolve_access
from curation.store import Store
from curation.store.documents import VERSION

MAX_PAIRS = 20
_PAIRS = f"""
SELECT p.query_id, p.document_id, any_value(q.text), arg_min(d.title, p.annotator),
       coalesce(list(s.grade ORDER BY s.grade) FILTER (s.answered AND s.kind = 'grade'), []),
       count(*) FILTER (s.answered AND s.kind = 'cannot_tell'),
       coalesce(list(s.note ORDER BY s.note) FILTER (s.answered AND s.note <> ''), [])
FROM live_presentations p
JOIN queries q USING (query_id)
JOIN {VERSION}
LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.round_id = ? AND p.duplicate_of IS NULL
GROUP BY p.query_id, p.document_id ORDER BY p.query_id, p.document_id
"""  # noqa: S608
_ANSWERS = """
SELECT count(DISTINCT p.annotator), count(*) FILTER (NOT coalesce(s.answered, false)),
       histogram(s.guide_hash) FILTER (s.answered)
FROM live_presentations p LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.round_id = ? AND p.duplicate_of IS NULL
"""


class Boundary(NamedTuple):
    """The boundary between two neighbouring grades on the scale.

    Attributes
    ----------
    apart: the number of comparisons of two annotators whose grades of a pair are on different sides.
    share: `apart` as a share of all comparisons, with a 95 % bootstrap interval over queries. The interval is
        absent if fewer than two queries can be compared.
    """

    lower: int
    upper: int
    apart: int
    share: Estimate


class GradeSpread(NamedTuple):
    """A pair on which annotators' grades differ, shown with notes but without annotators' names."""

    query_id: str
    document_id: str
    query: str
    title: str
    grades: tuple[int, ...]
    cannot_tell: int
    notes: tuple[str, ...]

    @property
    def size(self) -> int:
        """Return how far annotators' grades of the pair differ: the highest grade minus the lowest."""
        return max(self.grades, default=0) - min(self.grades, default=0)


@dataclass(frozen=True)
class PilotReport:
    """The report on a pilot round: annotators' disagreement at each grade boundary, and the largest
    differences.

    Attributes
    ----------
    guide_hashes: version of the guide → number of judgments; several if the guide was switched during the
        pilot.
    pairs: the number of pairs shown; `compared` is the number of pairs with at least two grades.
    unanswered: the number of open presentations.
    spreads: the pairs with the largest differences, at most 20.
    differing: the number of pairs on which grades differ; a release seals `sealed` of them.
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

    @property
    def sentences(self) -> list[str]:
        """Return sentences with the numbers of pairs, annotators and sealed pairs, and the guide's
        versions."""
        pairs, queries = pluralize(self.pairs, "pair"), pluralize(self.queries, "query", "queries")
        compared, left = pluralize(self.compared, "pair"), pluralize(self.unanswered, "item is", "items are")
        versions = ", ".join(f"{version[:8]} ({count:,})" for version, count in self.guide_hashes.items())
        return [
            f"{self.round}: {pairs} of {queries}, {self.annotators} annotators; {compared} can be compared, "
            f"{left} open.",
            f"Guide: {self.guide}; judgments by version: {versions or 'none yet'}.",
            *([describe_withheld_pairs(self.sealed)] if self.sealed else []),
        ]

    @property
    def tables(self) -> tuple[Table, Table]:
        """Return tables of the disagreement at each boundary, and of the largest differences."""
        rows = self.boundaries
        boundaries = [figure_row(f"{row.lower} | {row.upper}", row.share) for row in rows]
        spreads = []
        for spread in self.spreads:
            query = QueryName(spread.query, spread.query_id, spread.document_id)
            grades = " ".join(map(str, spread.grades))
            spreads.append((query, spread.title or spread.document_id, grades, "; ".join(spread.notes)))
        columns = ("Boundary", "Share", "Comparisons")
        title = f"Largest differences, {len(spreads):,} of {self.differing:,}"
        return (
            figure_table("On different sides of a boundary", columns, boundaries),
            Table(title, ("Query", "Document", "Grades", "Notes"), tuple(spreads), words=True),
        )


def report_pilot(store: Store, name: str, seed: int = 0, access: SealAccess | None = None) -> PilotReport:
    """Report the disagreement in a pilot by grade boundary, and the pairs with the largest differences.

    Without seal access, pairs that a release seals are counted but not listed.

    Raises
    ------
    NotFoundError: the round is unknown.
    RefusedError: the round is not a pilot.
    """
    with store.reading() as cursor:
        state, access = read_round_state(cursor, name), resolve_access(cursor, access)
        if state.kind != "pilot":
            raise RefusedError(
                f"{name} is a {state.kind} round, not a pilot: the agreement report shows its agreement.",
                command="`goldgrade agreement --round` writes this report.",
            )
        guide = load_guide(cursor, state.guide_hash)
        rows = cursor.execute(_PAIRS, [state.round_id]).fetchall()
        annotators, unanswered, versions = cursor.execute(_ANSWERS, [state.round_id]).fetchall()[0]
    pairs = [GradeSpread._make((*row[:4], tuple(row[4]), row[5], tuple(row[6]))) for row in rows]
    spreads = [pair for pair in pairs if pair.size]
    spreads.sort(key=lambda pair: (-pair.size, -len(set(pair.grades)), pair.query_id, pair.document_id))
    shown_spreads = [spread for spread in spreads if access.can_show(spread.query_id)]
    return PilotReport(
        round=name,
        guide=guide.title,
        guide_hashes=versions or {},
        annotators=annotators,
        queries=len({pair.query_id for pair in pairs}),
        pairs=len(pairs),
        compared=sum(len(pair.grades) > 1 for pair in pairs),
        unanswered=unanswered,
        cannot_tell=sum(pair.cannot_tell for pair in pairs),
        boundaries=measure_boundaries({pair[:2]: pair.grades for pair in pairs}, guide.values, seed),
        spreads=tuple(shown_spreads[:MAX_PAIRS]),
        differing=len(spreads),
        sealed=len(spreads) - len(shown_spreads),
    )


def measure_boundaries(
    grades: Mapping[tuple[str, str], Sequence[int]], scale: Sequence[int], seed: int = 0
) -> tuple[Boundary, ...]:
    """Measure how often annotators disagree at each boundary between neighbouring grades, from each pair's
    grades."""
    measured = []
    queries = sorted({query for query, _ in grades})
    query_indexes = {query: index for index, query in enumerate(queries)}
    for lower, upper in pairwise(scale):
        counts = np.zeros((len(queries), 2))
        for (query, _), pair_grades in grades.items():
            for first, second in combinations(pair_grades, 2):
                counts[query_indexes[query]] += ((first <= lower) != (second <= lower), 1)
        apart, comparisons = (int(total) for total in counts.sum(axis=0)) if queries else (0, 0)
        share = Estimate()
        if comparisons:
            share = Estimate(apart / comparisons, *_compute_interval(counts, seed), comparisons)
        measured.append(Boundary(lower, upper, apart, share))
    return tuple(measured)


def _compute_interval(counts: np.ndarray, seed: int) -> tuple[float | None, float | None]:
    query_counts = counts[counts[:, 1] > 0]
    if len(query_counts) < 2:
        return None, None
    resampled_sums = np.concatenate(list(resample_sums(query_counts, seed)))
    return percentile_interval(resampled_sums[:, 0] / resampled_sums[:, 1]) or (None, None)
