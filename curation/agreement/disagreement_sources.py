"""Sources of annotators' disagreement: queries, pairs of grades that the guide must distinguish, confused
grades, and reasons for cannot-tell.

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
from curation.agreement.coefficients import compute_distances, count_coincidences
from curation.agreement.grades import Grades
from curation.agreement.inter_annotator import Overlap
from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.people.seal_access import SealAccess
from curation.store import Cursor

NO_REASON = "no reason given"
SHOWN = 10
"""Maximum number of listed queries, and of listed pairs for each query."""
NAMED = 50
"""Maximum number of listed pairs that got the same two grades."""
Texts = Mapping[str, str]
"""Map from query id to the text of the query."""
Opinions = tuple[str, tuple[tuple[str, int | None], ...]]
"""Id of a document, and each annotator's grade of the document; None is cannot-tell."""


@dataclass(frozen=True)
class QueryShare:
    """A query's share of all disagreement, and the query's share of the pairs judged by two or more
    annotators.

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
    """Two grades that were given to the same pair, so the guide must distinguish them better.

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
    """The queries, pairs of grades and cannot-tell reasons that cause disagreement.

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


@dataclass(frozen=True)
class GradeConfusion:
    """A confusion table: how often any two grades were given to the same pair, in scale order.

    Attributes
    ----------
    pairs: number of pairs of grades of one unit, by the two grades: [row][column] and [column][row] are
        equal.
    shares: the share of the column's grade among the other annotators' grades on units with the row's grade,
        with equal weight of each grade (Krippendorff); None for a grade that nobody gave.
    """

    pairs: tuple[tuple[int, ...], ...]
    shares: tuple[tuple[float, ...] | None, ...]


def read_query_texts(cursor: Cursor) -> dict[str, str]:
    """Read the text of each query."""
    return dict(cursor.execute("SELECT query_id, text FROM queries").fetchall())


def find_sources(
    overlap: Overlap,
    grades: Grades,
    scale: Sequence[int],
    texts: Texts,
    decisions: Decisions,
    access: SealAccess,
) -> DisagreementSources:
    """Divide the observed disagreement among queries and among pairs of grades.

    Grades on sealed queries count, but opinions on sealed queries are not listed.
    """
    counts, queries = overlap.counts, overlap.queries
    coincidences = count_coincidences(counts, queries, overlap.query_count).coincidences
    totals = coincidences.sum(axis=0, keepdims=True)
    distances = compute_distances(totals.sum(axis=2), "ordinal")[0]
    by_query = (coincidences * distances).sum(axis=(1, 2))
    disagreement = float(by_query.sum())
    order = np.argsort(-by_query, kind="stable")
    disagreeing = int((by_query > 0).sum())
    cumulative = np.cumsum(by_query[order])
    query_indexes = np.unique(grades.unit_queries[overlap.units]).tolist()
    may_show = [access.can_show(grades.query_ids[index]) for index in query_indexes]
    shown = [index for index in order[:disagreeing].tolist() if may_show[index]]
    shares = totals[0] * distances / (disagreement or 1.0)
    lines = _compare_grade_pairs(overlap, grades, scale, texts, decisions, shares, access)
    return DisagreementSources(
        queries=tuple(
            _describe_query(overlap, grades, texts, index, by_query[index] / disagreement)
            for index in shown[:SHOWN]
        ),
        disagreeing=disagreeing,
        half=int(np.searchsorted(cumulative, disagreement / 2 * (1 - 1e-12))) + 1 if disagreement else 0,
        sealed=disagreeing - len(shown),
        lines=tuple(sorted(lines, key=lambda line: (-line.disagreement, line.lower, line.upper))),
        unjudged=_count_reasons(grades),
    )


def count_grade_confusion(overlap: Overlap, scale: Sequence[int]) -> GradeConfusion:
    """Build the confusion table of grades on pairs that two or more annotators judged."""
    all_units = np.zeros(len(overlap.counts), dtype=np.int64)
    matrices = count_coincidences(overlap.counts, all_units, 1)
    pairs = np.rint(matrices.meetings[0]).astype(np.int64)
    pairs[np.diag_indices(len(scale))] //= 2
    rows = matrices.coincidences[0]
    return GradeConfusion(
        pairs=tuple(tuple(row) for row in pairs.tolist()),
        shares=tuple(tuple((row / row.sum()).tolist()) if row.any() else None for row in rows),
    )


def _describe_query(overlap: Overlap, grades: Grades, texts: Texts, index: int, share: float) -> QueryShare:
    rows = np.flatnonzero(overlap.queries == index)
    query_id = grades.query_ids[grades.unit_queries[overlap.units[rows[0]]]]
    disputed = rows[(overlap.counts[rows] > 0).sum(axis=1) > 1]
    return QueryShare(
        query_id=query_id,
        text=texts.get(query_id, query_id),
        disagreement=float(share),
        pairs=len(rows) / len(overlap.units),
        units=len(rows),
        disputed=len(disputed),
        opinions=_list_opinions(grades, overlap.units[disputed]),
    )


def _list_opinions(grades: Grades, units: Ints) -> tuple[Opinions, ...]:
    """List annotators' votes on each pair, the pair with the widest range of grades first."""
    votes: dict[int, list[tuple[str, int | None]]] = {unit: [] for unit in units.tolist()}
    for row in np.flatnonzero(np.isin(grades.units, units)).tolist():
        grade = int(grades.grades[row]) if grades.graded[row] else None
        votes[int(grades.units[row])].append((grades.names[grades.people[row]], grade))
    opinions = [(grades.documents[unit], tuple(rows)) for unit, rows in votes.items()]
    return tuple(sorted(opinions, key=lambda opinion: (-_measure_range(opinion), opinion[0]))[:SHOWN])


def _measure_range(opinions: Opinions) -> int:
    grades = [grade for _, grade in opinions[1] if grade is not None]
    return max(grades) - min(grades)


def _compare_grade_pairs(
    overlap: Overlap,
    grades: Grades,
    scale: Sequence[int],
    texts: Texts,
    decisions: Decisions,
    shares: Floats,
    access: SealAccess,
) -> Iterator[GuideLine]:
    """Yield, for every two grades given to the same pair, the two grades' share of the disagreement and the
    pairs that got both."""
    counts = overlap.counts
    is_given = counts > 0
    lowest = is_given.argmax(axis=1)
    highest = len(scale) - 1 - is_given[:, ::-1].argmax(axis=1)

    def list_pairs(is_member: Mask) -> list[tuple[str, str]]:
        units = overlap.units[is_member].tolist()
        return [(grades.query_ids[grades.unit_queries[unit]], grades.documents[unit]) for unit in units]

    for low, high in combinations(range(len(scale)), 2):
        pairs = list_pairs(is_given[:, low] & is_given[:, high])
        if not pairs:
            continue
        extremes = list_pairs((lowest == low) & (highest == high))
        verdicts = [decisions[pair] for pair in extremes if pair in decisions]
        named = [(texts.get(pair[0], pair[0]), *pair) for pair in pairs if access.can_show(pair[0])]
        yield GuideLine(
            lower=scale[low],
            upper=scale[high],
            met=int((counts[:, low] * counts[:, high]).sum()),
            disagreement=float(shares[low, high] + shares[high, low]),
            pairs=len(pairs),
            named=tuple(named[:NAMED]),
            units=len(extremes),
            decided=len(verdicts),
            towards_lower=verdicts.count(scale[low]),
            towards_upper=verdicts.count(scale[high]),
        )


def _count_reasons(grades: Grades) -> tuple[tuple[str, int, int], ...]:
    """Count cannot-tell judgments by reason, and how many of these judgments' pairs somebody else graded."""
    unit_count = len(grades.documents)
    is_graded = np.bincount(grades.units[grades.graded], minlength=unit_count) > 0
    unexplained = np.bincount(grades.units[~grades.graded], minlength=unit_count)
    np.subtract.at(unexplained, np.array([unit for unit, _ in grades.reasons], dtype=np.int64), 1)
    times = Counter(reason for _, reason in grades.reasons)
    graded_pairs = Counter(reason for unit, reason in set(grades.reasons) if is_graded[unit])
    rows = [(reason, count, graded_pairs[reason]) for reason, count in times.items()]
    if unexplained.any():
        rows.append((NO_REASON, int(unexplained.sum()), int(is_graded[unexplained > 0].sum())))
    return tuple(sorted(rows, key=lambda row: (-row[1], row[0])))
