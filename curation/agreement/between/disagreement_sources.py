"""Where the disagreement comes from: which queries, which lines of the guide, and reasons for cannot-tell.

The whole is the observed disagreement of ordinal alpha: every two grades of a pair add their squared
distance, so a 0 against a 3 weighs as much as it does in alpha. It is a sum, and can be shared out: over
queries, and over the grades that were taken for each other. Nobody is asked which rule of the guide they
followed. What the guide must keep apart are its grades. So its lines are named by the two grades between
which opinions differ, with the words that reviewers and annotators left on just those pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from curation.agreement.between.coefficients import distances_of, meetings
from curation.agreement.between.grades import Grades
from curation.agreement.between.inter_annotator import Basis
from curation.core.statistics.arrays import Floats, Ints
from curation.people.seal_access import SealAccess
from curation.store import Cursor

NO_REASON = "no reason given"

SHOWN = 10
"""Queries, and remarks on a line of the guide, that are listed one by one."""

NAMED = 50
"""Pairs with the same two grades that are listed."""


class PairOpinions(NamedTuple):
    """What annotators said about one document of a query; None is cannot-tell."""

    document_id: str
    said: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True)
class QueryShare:
    """A query's share of all disagreement, and its share of the doubly judged pairs.

    `opinions` are those on its pairs with different grades, the widest apart first, at most `SHOWN`.
    """

    query_id: str
    text: str
    disagreement: float
    pairs: float
    units: int
    disputed: int
    opinions: tuple[PairOpinions, ...] = ()


class MetPair(NamedTuple):
    """A document of a query."""

    query_id: str
    text: str
    document_id: str


class ConfusedGrades(NamedTuple):
    """Two grades that were given to the same pairs, and the first `NAMED` of these that may be shown."""

    lower: int
    higher: int
    pairs: int
    named: tuple[MetPair, ...]


class PairRemark(NamedTuple):
    """Words on pairs about which opinions went apart: a reviewer's 'decision', a 'question', a 'note'."""

    kind: str
    words: str
    times: int


@dataclass(frozen=True)
class GuideLine:
    """What the guide has to keep apart: two grades that were given to one and the same pair.

    Attributes
    ----------
    lower, upper: the two grades. met: pairs of grades that went apart just so.
    disagreement: their share of all disagreement.
    units: pairs whose lowest and highest grade these are. decided: those that a reviewer decided; of these
        `towards_upper` got the upper grade and `towards_lower` the lower one.
    remarks: the words that were left on these pairs, the most frequent first, at most `SHOWN` of them.
    unshown: remarks beyond those.
    """

    lower: int
    upper: int
    met: int
    disagreement: float
    units: int
    decided: int
    towards_lower: int
    towards_upper: int
    remarks: tuple[PairRemark, ...]
    unshown: int


class Unjudged(NamedTuple):
    """A reason for cannot-tell: how often it was given, and on how many of these pairs there is a grade."""

    reason: str
    times: int
    graded_by_others: int


@dataclass(frozen=True)
class DisagreementSources:
    """Where the disagreement comes from.

    Attributes
    ----------
    queries: the `SHOWN` with the most of it, of those that may be shown. disagreeing: all that have some;
        `sealed` of these are not named.
    half: the smallest number of queries that hold half of it.
    lines: by two grades, the most disagreement first. unjudged: reasons for cannot-tell, by frequency.
    met: by two grades, in the order of the scale: the pairs of a cell of the confusion table.
    """

    queries: tuple[QueryShare, ...]
    disagreeing: int
    half: int
    sealed: int
    lines: tuple[GuideLine, ...]
    unjudged: tuple[Unjudged, ...]
    met: tuple[ConfusedGrades, ...] = ()


class Words(NamedTuple):
    """What was said about pairs next to their grades, and the queries' texts.

    `decisions`: query, document, grade and reason. `questions`: query, document and words.
    """

    texts: dict[str, str]
    decisions: Sequence[tuple[str, str, int | None, str]]
    questions: Sequence[tuple[str, str, str]]


def read_words(cursor: Cursor) -> Words:
    """Decisions, questions about the guide, and the texts of judged queries."""
    texts = cursor.execute("SELECT query_id, text FROM queries").fetchall()
    decided = """
        SELECT query_id, document_id, grade, reason FROM counted_adjudications ORDER BY query_id, document_id
    """
    asked = "SELECT query_id, document_id, words FROM guide_questions WHERE query_id IS NOT NULL ORDER BY ALL"
    return Words(dict(texts), cursor.execute(decided).fetchall(), cursor.execute(asked).fetchall())


def disagreement_sources(
    basis: Basis, grades: Grades, scale: Sequence[int], words: Words, door: SealAccess
) -> DisagreementSources:
    """Share the observed disagreement out over queries and over the grades that met.

    Of queries behind a shut door neither opinions nor words are in it; their grades count.
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
    shown = [place for place in order[:disagreeing].tolist() if door.shows(ids[place])]
    return DisagreementSources(
        queries=tuple(
            _query(basis, grades, words, place, per_query[place] / total) for place in shown[:SHOWN]
        ),
        disagreeing=disagreeing,
        half=int(np.searchsorted(sums, total / 2 * (1 - 1e-12))) + 1 if total else 0,
        sealed=disagreeing - len(shown),
        lines=_lines(basis, grades, scale, words, whole[0] * distances / (total or 1.0), door),
        unjudged=_unjudged(grades),
        met=tuple(_met(basis, grades, scale, words, door)),
    )


def _met(
    basis: Basis, grades: Grades, scale: Sequence[int], words: Words, door: SealAccess
) -> Iterator[ConfusedGrades]:
    there = basis.counts > 0
    for first, second in combinations(range(len(scale)), 2):
        units = basis.units[there[:, first] & there[:, second]].tolist()
        ids = [(grades.query_ids[grades.unit_queries[unit]], grades.documents[unit]) for unit in units]
        named = [MetPair(one, words.texts.get(one, one), other) for one, other in ids if door.shows(one)]
        if units:
            yield ConfusedGrades(scale[first], scale[second], len(units), tuple(named[:NAMED]))


def _query(basis: Basis, grades: Grades, words: Words, place: int, share: float) -> QueryShare:
    own = np.flatnonzero(basis.queries == place)
    query_id = grades.query_ids[grades.unit_queries[basis.units[own[0]]]]
    different = own[(basis.counts[own] > 0).sum(axis=1) > 1]
    text, part = words.texts.get(query_id, query_id), len(own) / len(basis.units)
    opinions = _opinions(grades, basis.units[different])
    return QueryShare(query_id, text, float(share), part, len(own), len(different), opinions)


def _opinions(grades: Grades, units: Ints) -> tuple[PairOpinions, ...]:
    """By pair, the widest apart first."""
    said: dict[int, list[tuple[str, int | None]]] = {unit: [] for unit in units.tolist()}
    for row in np.flatnonzero(np.isin(grades.units, units)).tolist():
        grade = int(grades.grades[row]) if grades.graded[row] else None
        said[int(grades.units[row])].append((grades.names[grades.people[row]], grade))
    found = [PairOpinions(grades.documents[unit], tuple(rows)) for unit, rows in said.items()]
    return tuple(sorted(found, key=lambda one: (-_width(one), one.document_id))[:SHOWN])


def _width(pair_opinions: PairOpinions) -> int:
    given = [grade for _, grade in pair_opinions.said if grade is not None]
    return max(given) - min(given)


def _lines(
    basis: Basis, grades: Grades, scale: Sequence[int], words: Words, shares: Floats, door: SealAccess
) -> tuple[GuideLine, ...]:
    there = basis.counts > 0
    lowest = there.argmax(axis=1)
    highest = len(scale) - 1 - there[:, ::-1].argmax(axis=1)
    remarks, decided = _remarks(basis, grades, words, door)
    found = []
    for low, high in combinations(range(len(scale)), 2):
        own = (lowest == low) & (highest == high)
        between = int((basis.counts[:, low] * basis.counts[:, high]).sum())
        if not between and not own.any():
            continue
        units = set(np.flatnonzero(own).tolist())
        said = Counter((kind, text) for unit, kind, text in remarks if unit in units)
        shown = sorted(said.items(), key=lambda item: (-item[1], item[0]))
        verdicts = [grade for unit, grade in decided if unit in units]
        line = GuideLine(
            lower=scale[low],
            upper=scale[high],
            met=between,
            disagreement=float(shares[low, high] + shares[high, low]),
            units=len(units),
            decided=len(verdicts),
            towards_lower=verdicts.count(scale[low]),
            towards_upper=verdicts.count(scale[high]),
            remarks=tuple(PairRemark(*key, times) for key, times in shown[:SHOWN]),
            unshown=sum(times for _, times in shown[SHOWN:]),
        )
        found.append(line)
    return tuple(sorted(found, key=lambda line: (-line.disagreement, line.lower, line.upper)))


def _remarks(
    basis: Basis, grades: Grades, words: Words, door: SealAccess
) -> tuple[list[tuple[int, str, str]], list[tuple[int, int | None]]]:
    """Words and decisions by place among the doubly judged pairs; sealed decisions without their words."""
    decided_pairs = {(query_id, document_id) for query_id, document_id, *_ in words.decisions}
    asked = {(query_id, document_id) for query_id, document_id, _ in words.questions}
    places = _places(basis, grades, decided_pairs | asked)
    rank = dict(zip(basis.units.tolist(), range(len(basis.units)), strict=True))
    remarks = [
        (rank[one.unit], one.kind, one.words)
        for one in grades.said
        if one.kind == "note"
        and one.unit in rank
        and door.shows(grades.query_ids[grades.unit_queries[one.unit]])
    ]
    decided = []
    for query_id, document_id, grade, reason in words.decisions:
        place = places.get((query_id, document_id))
        if place is not None:
            decided.append((place, grade))
            if door.shows(query_id):
                remarks.append((place, "decision", reason))
    for query_id, document_id, question in words.questions:
        place = places.get((query_id, document_id))
        if place is not None and door.shows(query_id):
            remarks.append((place, "question", question))
    return remarks, decided


def _places(basis: Basis, grades: Grades, wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """The places among the doubly judged pairs of the pairs that words are about."""
    if not wanted:
        return {}
    queries = grades.unit_queries[basis.units].tolist()
    keys = (
        (grades.query_ids[query], grades.documents[unit])
        for query, unit in zip(queries, basis.units.tolist(), strict=True)
    )
    return {key: place for place, key in enumerate(keys) if key in wanted}


def _unjudged(grades: Grades) -> tuple[Unjudged, ...]:
    number = len(grades.documents)
    graded = np.bincount(grades.units[grades.graded], minlength=number) > 0
    silent = np.bincount(grades.units[~grades.graded], minlength=number)
    reasons = [(one.words, one.unit) for one in grades.said if one.kind == "cannot tell"]
    np.subtract.at(silent, np.array([unit for _, unit in reasons], dtype=np.int64), 1)
    times = Counter(reason for reason, _ in reasons)
    others = Counter(reason for reason, unit in set(reasons) if graded[unit])
    found = [Unjudged(reason, number, others[reason]) for reason, number in times.items()]
    if silent.any():
        found.append(Unjudged(NO_REASON, int(silent.sum()), int(graded[silent > 0].sum())))
    return tuple(sorted(found, key=lambda one: (-one.times, one.reason)))
