"""Why grades changed: each cause and each person tested, over all re-labelings up to a quarter.

What is counted is new votes that differ from the old grade, so that a pair whose new votes disagree with
each other counts too. A cause is compared with all pairs without that cause, in a linear model with the other
causes. Its p is of a permutation of residuals (D. Freedman and
D. Lane (1983), A nonstochastic interpretation of reported significance levels, Journal of Business & Economic
Statistics 1) within blocks of what can be exchanged:

- A document changes by pair: pairs of the same query in the same quarter are exchanged.
- A guide changes for all pairs of a quarter at once: quarters of the same query are exchanged, which
  compares its pairs before and after.
- Traffic and people change for a query's pairs together: queries of the same quarter are exchanged.

A person has drifted whose new grades differ from the others' on the same pairs, and as clearly and in the
same direction from the old grades: the larger p of both counts (R. L. Berger (1982), Multiparameter
hypothesis testing and acceptance sampling, Technometrics 24). No cause counts the votes of who has clearly
drifted: else other people on a pair would seem to change grades. Holm's correction is over all causes and
people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from curation.relabeling.drift.figures import FEW, SEED, DriftFigure
from curation.relabeling.drift.regraded_pairs import TRAFFIC, NewVote
from curation.releases.freeze.relabeled import ANNOTATORS, DOCUMENT, GUIDE
from curation.statistics.arrays import Floats, Ints
from curation.statistics.intervals import MINIMUM_QUERIES, Z95
from curation.statistics.p_values import blocked_p, holm, mean_p, within

TESTED = (DOCUMENT, GUIDE, TRAFFIC, ANNOTATORS)
YEAR = 4
"""A person's grades are those of so many re-labelings: drift is about now."""
ALPHA = 0.05
FEW_PAIRS = f"fewer than {FEW} pairs are with it or without it, or none differ in it alone"


class VoteCount(NamedTuple):
    """New votes, and those that differ from the old grade."""

    differ: int
    votes: int


class CauseRow(NamedTuple):
    """A cause, over all re-labelings up to the quarter.

    Attributes
    ----------
    pairs: with the cause. newest: votes on these in the quarter itself.
    having, others: votes on pairs with the cause, and on all pairs without it.
    difference: of the shares that differ, by the model; `why` says why there is none.
    least: the least difference that would be found in 4 of 5 cases.
    p: of no more votes that differ with it (one side), corrected (Holm).
    """

    cause: str
    pairs: int
    newest: VoteCount
    having: VoteCount
    others: VoteCount
    difference: DriftFigure
    least: float | None = None
    p: float | None = None


class PersonRow(NamedTuple):
    """A person, with the new grades of a year.

    Attributes
    ----------
    others: own grade less the mean of the others' on the same pairs.
    old: own less old grade.
    p: of no drift, corrected (Holm); None where it was not tested.
    """

    annotator: str
    votes: int
    others: DriftFigure
    old: DriftFigure
    p: float | None = None


def named(row: CauseRow | PersonRow) -> bool:
    return row.p is not None and row.p < ALPHA


class DriftCauses(NamedTuple):
    """What was tested together.

    Attributes
    ----------
    quarters: those that the causes are pooled over.
    apart: people who clearly drifted: no cause counts their votes, or all that is new to the pairs they
        judge would seem to change grades.
    """

    quarters: tuple[str, ...]
    rows: tuple[CauseRow, ...]
    people: tuple[PersonRow, ...]
    apart: tuple[str, ...] = ()


class _Pairs(NamedTuple):
    """Pairs of quarters in parallel: shares of votes that differ, causes of shape (pairs, causes), and
    numbers of queries, quarters, and queries in quarters."""

    differ: Floats
    causes: Floats
    query: Ints
    quarter: Ints
    visit: Ints


def drift_causes(votes: Sequence[NewVote]) -> DriftCauses:
    """Test each cause that some pair has, and each person of the year."""
    from scipy.special import ndtri

    quarters = sorted({vote.quarter for vote in votes})
    people = _people([vote for vote in votes if vote.quarter in quarters[-YEAR:]])
    apart = tuple(row.annotator for row in people if row.p is not None and row.p < ALPHA / len(people))
    votes = [vote for vote in votes if vote.annotator not in apart]
    pairs = _pairs(votes)
    tested = [cause for cause in TESTED if any(cause in one.causes for one in votes)]
    causes = [_cause(votes, pairs, cause, quarters[-1]) for cause in tested]
    found = holm(np.array([row.p for row, _ in causes] + [row.p for row in people], np.float64))
    ps = [None if np.isnan(p) else float(p) for p in found]
    reach = float(ndtri(1 - ALPHA / max(1, len(ps) - ps.count(None))) + ndtri(0.8))
    return DriftCauses(
        tuple(quarters),
        tuple(
            row._replace(p=p, least=None if p is None else error * reach)
            for (row, error), p in zip(causes, ps, strict=False)
        ),
        tuple(row._replace(p=p) for row, p in zip(people, ps[len(causes) :], strict=True)),
        apart,
    )


def _pairs(votes: Sequence[NewVote]) -> _Pairs:
    pair = _numbers([(vote.quarter, vote.query_id, vote.document_id) for vote in votes])
    rows = [votes[place] for place in np.unique(pair, return_index=True)[1]]
    return _Pairs(
        np.bincount(pair, [vote.before != vote.after for vote in votes]) / np.bincount(pair),
        np.array([[cause in one.causes for cause in TESTED] for one in rows], np.float64),
        _numbers([(one.query_id,) for one in rows]),
        _numbers([(one.quarter,) for one in rows]),
        _numbers([(one.quarter, one.query_id) for one in rows]),
    )


def _numbers(keys: Sequence[tuple[str, ...]]) -> Ints:
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([places[key] for key in keys], np.int64)


def _cause(votes: Sequence[NewVote], pairs: _Pairs, cause: str, newest: str) -> tuple[CauseRow, float]:
    """The row of a cause with its p as it is, and the standard error of its difference."""
    place = TESTED.index(cause)
    having = [vote for vote in votes if cause in vote.causes]
    others = [vote for vote in votes if cause not in vote.causes]
    new, with_it, without = (
        VoteCount(sum(vote.before != vote.after for vote in some), len(some))
        for some in ([vote for vote in having if vote.quarter == newest], having, others)
    )
    value, error, p = _compared(pairs, place)
    figure = DriftFigure(value, value - Z95 * error, value + Z95 * error)
    figure = DriftFigure(None, None, None, FEW_PAIRS) if p is None else figure
    return CauseRow(cause, int(pairs.causes[:, place].sum()), new, with_it, without, figure, p=p), error


def _compared(pairs: _Pairs, place: int) -> tuple[float, float, float | None]:
    """The difference that a cause makes, its standard error, and p; None where too little can be compared."""
    cause = TESTED[place]
    unit = np.arange(len(pairs.differ)) if cause == DOCUMENT else pairs.visit
    block = {DOCUMENT: pairs.visit, GUIDE: pairs.query}.get(cause, pairs.quarter)
    columns = np.array([within(column, block) for column in (*pairs.causes.T, pairs.differ)])
    others = np.delete(columns[:-1], place, axis=0).T
    has, differ = (one - others @ np.linalg.lstsq(others, one, rcond=None)[0] for one in columns[[place, -1]])
    _, first, size = np.unique(unit, return_index=True, return_counts=True)
    block = np.unique(block[first], return_inverse=True)[1]
    weights = within(np.bincount(unit, has) / size, block)
    values = within(np.bincount(unit, differ).astype(np.float64), block)
    scale = float(size @ weights**2)
    number = pairs.causes[:, place].sum()
    if min(number, len(pairs.differ) - number) < FEW or scale < 1e-9:
        return 0.0, 0.0, None
    p, spread = blocked_p(weights, values, block, SEED)
    value = float(weights @ values) / scale
    return value, spread / scale, p / 2 if value > 0 else 1 - p / 2


def _people(votes: Sequence[NewVote]) -> list[PersonRow]:
    """A row with its p as it is of each person, by name.

    The clearest drift comes first, and is no measure for the others any more: who grades with a person who
    drifts would seem to drift the other way.
    """
    left, counted = sorted({vote.annotator for vote in votes}), list(votes)
    rows: list[PersonRow] = []
    while left:
        found = sorted(
            (_person(votes, counted, name) for name in left), key=lambda row: 1.0 if row.p is None else row.p
        )
        clear = [row for row in found[:1] if row.p is not None and row.p < ALPHA / len(left)]
        rows += clear or found
        left = [name for name in left if clear and name != clear[0].annotator]
        counted = [vote for vote in counted if not clear or vote.annotator != clear[0].annotator]
    return sorted(rows, key=lambda row: row.annotator)


def _person(votes: Sequence[NewVote], counted: Sequence[NewVote], name: str) -> PersonRow:
    """A person against those who count."""
    others: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for vote in counted:
        if vote.annotator != name:
            others[vote.quarter, vote.query_id, vote.document_id].append(vote.after)
    own = [vote for vote in votes if vote.annotator == name]
    shared = [(vote, others.get((vote.quarter, vote.query_id, vote.document_id))) for vote in own]
    apart, p = _mean([(vote.query_id, vote.after - float(np.mean(them))) for vote, them in shared if them])
    old, q = _mean([(vote.query_id, float(vote.after - vote.before)) for vote in own])
    same = (apart.value or 0) * (old.value or 0) > 0
    both = None if p is None or q is None else max(p, q) if same else 1.0
    return PersonRow(name, len(own), apart, old, both)


def _mean(given: Sequence[tuple[str, float]]) -> tuple[DriftFigure, float | None]:
    """The mean of numbers of queries with Student's t interval over queries, and the p of 0."""
    query, off = _numbers([(name,) for name, _ in given]), np.array([number for _, number in given])
    queries = len(set(query.tolist()))
    if len(off) < FEW or queries < MINIMUM_QUERIES:
        return DriftFigure(None, None, None, f"fewer than {FEW} votes or {MINIMUM_QUERIES} queries"), None
    from scipy.special import stdtrit

    value = float(off.mean())
    rest = np.bincount(query, off - value) / len(off)
    half = float(stdtrit(queries - 1, 0.975)) * sqrt(queries / (queries - 1) * float(rest @ rest))
    return DriftFigure(value, value - half, value + half), mean_p(value, rest)
