"""Sources of disagreement: queries, lines of the guide, confused grades, and reasons for cannot-tell.

The total is the observed disagreement of ordinal alpha: every two grades of a pair add their squared
distance, so a 0 against a 3 weighs as much as in alpha. This sum is divided among queries and among confused
grades. Annotators are not asked which line of the guide they followed. So the report names a line of the
guide by the two grades that the line must distinguish.

Nobody knows the true grade, so the confusion table is symmetric: the row of a grade has the others' grades on
pairs to which one annotator gave this grade. The module `breakdowns` computes which of two annotators grades
higher.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from curation.agreement.bias import Decisions
from curation.agreement.grades import Grades
from curation.agreement.inter_annotator import Basis, distances_of, meetings
from curation.core.statistics.arrays import Floats, Ints
from curation.people.seal_access import SealAccess
from curation.store import Cursor

NO_REASON = "no reason given"
SHOWN = 10
"""Maximum number of listed queries, and of listed pairs for each query."""
NAMED = 50
"""Maximum number of listed pairs that got the same two grades."""
Opinions = tuple[str, tuple[tuple[str, int | None], ...]]
"""A document id, and each annotator with the annotator's grade; None is cannot-tell."""


@dataclass(frozen=True)
class QueryShare:
    """A query's share of all disagreement, and its share of the doubly judged pairs.

    `opinions` are the votes on at most `SHOWN` pairs with different grades, the pair with the widest range
    first.
    """

    query_id: str
    text: str
    disagreement: float
    pairs: float
    units: int
    disputed: int
    opinions: tuple[Opinions, ...] = ()


@dataclass(frozen=True)
class GuideLine:
    """Two grades that were given to the same pair, so that the guide must distinguish them better.

    Attributes
    ----------
    lower, upper: the two grades. met: number of times that these two grades met on a pair.
    disagreement: share of all disagreement that these two grades cause.
    pairs: number of pairs that got both grades; `named` are the first `NAMED` pairs that may be shown, each
        with the text and id of its query and the id of its document.
    units: number of pairs with these two grades as lowest and highest grade. decided: number of these units
        that a reviewer decided; `towards_upper` got the upper grade, and `towards_lower` got the lower grade.
    """

    lower: int
    upper: int
    met: int
    disagreement: float
    pairs: int
    named: tuple[tuple[str, str, str], ...]
    units: int
    decided: int
    towards_lower: int
    towards_upper: int


@dataclass(frozen=True)
class DisagreementSources:
    """The sources of disagreement.

    Attributes
    ----------
    queries: the `SHOWN` queries with the most disagreement among the queries that may be shown. disagreeing:
        number of queries with disagreement; `sealed` of these queries are not named.
    half: the smallest number of queries with half of the disagreement.
    lines: lines of the guide by two grades, the most disagreement first.
    unjudged: reasons for cannot-tell by frequency, each with the number of its pairs, and of its pairs that
        somebody else graded.
    """

    queries: tuple[QueryShare, ...]
    disagreeing: int
    half: int
    sealed: int
    lines: tuple[GuideLine, ...]
    unjudged: tuple[tuple[str, int, int], ...]


def query_texts(cursor: Cursor) -> dict[str, str]:
    """Read the text of each query."""
    return dict(cursor.execute("SELECT query_id, text FROM queries").fetchall())


def disagreement_sources(
    basis: Basis,
    grades: Grades,
    scale: Sequence[int],
    texts: Mapping[str, str],
    decisions: Decisions,
    access: SealAccess,
) -> DisagreementSources:
    """Divide the observed disagreement among queries and among pairs of grades.

    Grades on sealed queries count, but opinions on sealed queries are not listed.
    """
    met = meetings(basis.counts, basis.queries, basis.number)
    whole = met.coincidences.sum(axis=0, keepdims=True)
    distances = distances_of(whole.sum(axis=2), "ordinal")[0]
    per_query = (met.coincidences * distances).sum(axis=(1, 2))
    total = float(per_query.sum())
    order = np.argsort(-per_query, kind="stable")
    disagreeing = int((per_query > 0).sum())
    sums = np.cumsum(per_query[order])
    ids = [grades.query_ids[number] for number in np.unique(grades.unit_queries[basis.units]).tolist()]
    shown = [index for index in order[:disagreeing].tolist() if access.shows(ids[index])]
    lines = _lines(basis, grades, scale, texts, decisions, whole[0] * distances / (total or 1.0), access)
    return DisagreementSources(
        queries=tuple(
            _query(basis, grades, texts, index, per_query[index] / total) for index in shown[:SHOWN]
        ),
        disagreeing=disagreeing,
        half=int(np.searchsorted(sums, total / 2 * (1 - 1e-12))) + 1 if total else 0,
        sealed=disagreeing - len(shown),
        lines=tuple(sorted(lines, key=lambda line: (-line.disagreement, line.lower, line.upper))),
        unjudged=_unjudged(grades),
    )


def _query(basis: Basis, grades: Grades, texts: Mapping[str, str], index: int, share: float) -> QueryShare:
    unit_rows = np.flatnonzero(basis.queries == index)
    query_id = grades.query_ids[grades.unit_queries[basis.units[unit_rows[0]]]]
    different = unit_rows[(basis.counts[unit_rows] > 0).sum(axis=1) > 1]
    text, part = texts.get(query_id, query_id), len(unit_rows) / len(basis.units)
    opinions = _opinions(grades, basis.units[different])
    return QueryShare(query_id, text, float(share), part, len(unit_rows), len(different), opinions)


def _opinions(grades: Grades, units: Ints) -> tuple[Opinions, ...]:
    """List the opinions on each pair, the pair with the widest range of grades first."""
    given: dict[int, list[tuple[str, int | None]]] = {unit: [] for unit in units.tolist()}
    for row in np.flatnonzero(np.isin(grades.units, units)).tolist():
        grade = int(grades.grades[row]) if grades.graded[row] else None
        given[int(grades.units[row])].append((grades.names[grades.people[row]], grade))
    opinions = [(grades.documents[unit], tuple(rows)) for unit, rows in given.items()]
    return tuple(sorted(opinions, key=lambda opinion: (-_width(opinion), opinion[0]))[:SHOWN])


def _width(opinions: Opinions) -> int:
    given = [grade for _, grade in opinions[1] if grade is not None]
    return max(given) - min(given)


def _lines(
    basis: Basis,
    grades: Grades,
    scale: Sequence[int],
    texts: Mapping[str, str],
    decisions: Decisions,
    shares: Floats,
    access: SealAccess,
) -> Iterator[GuideLine]:
    there = basis.counts > 0
    lowest = there.argmax(axis=1)
    highest = len(scale) - 1 - there[:, ::-1].argmax(axis=1)

    def pairs_of(rows: Ints) -> list[tuple[str, str]]:
        units = basis.units[rows].tolist()
        return [(grades.query_ids[grades.unit_queries[unit]], grades.documents[unit]) for unit in units]

    for low, high in combinations(range(len(scale)), 2):
        both = pairs_of(np.flatnonzero(there[:, low] & there[:, high]))
        if not both:
            continue
        between = pairs_of(np.flatnonzero((lowest == low) & (highest == high)))
        verdicts = [decisions[pair] for pair in between if pair in decisions]
        named = [(texts.get(pair[0], pair[0]), *pair) for pair in both if access.shows(pair[0])]
        yield GuideLine(
            lower=scale[low],
            upper=scale[high],
            met=int((basis.counts[:, low] * basis.counts[:, high]).sum()),
            disagreement=float(shares[low, high] + shares[high, low]),
            pairs=len(both),
            named=tuple(named[:NAMED]),
            units=len(between),
            decided=len(verdicts),
            towards_lower=verdicts.count(scale[low]),
            towards_upper=verdicts.count(scale[high]),
        )


def _unjudged(grades: Grades) -> tuple[tuple[str, int, int], ...]:
    number = len(grades.documents)
    graded = np.bincount(grades.units[grades.graded], minlength=number) > 0
    silent = np.bincount(grades.units[~grades.graded], minlength=number)
    np.subtract.at(silent, np.array([unit for unit, _ in grades.reasons], dtype=np.int64), 1)
    times = Counter(reason for _, reason in grades.reasons)
    others = Counter(reason for unit, reason in set(grades.reasons) if graded[unit])
    unjudged = [(reason, number, others[reason]) for reason, number in times.items()]
    if silent.any():
        unjudged.append((NO_REASON, int(silent.sum()), int(graded[silent > 0].sum())))
    return tuple(sorted(unjudged, key=lambda row: (-row[1], row[0])))


@dataclass(frozen=True)
class GradeConfusion:
    """Confusion table: the number of times that each two grades were given to one pair, in the order of the
    scale.

    Attributes
    ----------
    pairs: number of pairs of grades of one unit, by the two grades: [row][column] and [column][row] are
        equal.
    shares: the share of the column's grade among the other annotators' grades on units with the row's grade,
        with equal weight of each grade (Krippendorff); None for a grade that nobody gave.
    """

    pairs: tuple[tuple[int, ...], ...]
    shares: tuple[tuple[float, ...] | None, ...]


def confusion(basis: Basis, scale: Sequence[int]) -> GradeConfusion:
    """Count the confusion table of doubly judged pairs."""
    met = meetings(basis.counts, np.zeros(len(basis.counts), dtype=np.int64), 1)
    both = np.rint(met.meetings[0]).astype(np.int64)
    both[np.diag_indices(len(scale))] //= 2
    coincidences = met.coincidences[0]
    return GradeConfusion(
        pairs=tuple(tuple(row) for row in both.tolist()),
        shares=tuple(tuple((row / row.sum()).tolist()) if row.any() else None for row in coincidences),
    )
