"""The consensus on pairs: each pair's grade, and the relevance that follows.

The reviewer's decision is the grade, if there is one; else the rule of the project gives it:

    majority     the grade that more than half of the votes name
    median       the middle vote; of an even number both middle ones, if they are the same grade
    dawid-skene  the grade that is most probable given what annotators' errors look like (`dawid_skene`)

Where the rule gives no grade, the pair is disputed and has none until somebody decides; where the votes of a
re-labeling disagree, the grade from before it counts until then. Grades and cannot-tell are kept
apart: a cannot-tell is no vote for any grade. The whole project has one rule: a pair has the votes of all
rounds, and errors are estimated from all votes of an annotator.

Where somebody judged the version of the document that the corpus has now, judgments and decisions about older
versions do not count (`counted_judgments`, `counted_adjudications`). Elsewhere they do, and are marked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from curation.core.reports.page import Table
from curation.core.statistics.arrays import Floats, Ints
from curation.guides.guide import current_guide
from curation.ingest.filters import outside_pairs
from curation.labeling.consensus.dawid_skene import estimate, given_grades
from curation.labeling.consensus.votes import (
    MAJORITY,
    MEDIAN,
    ConsensusRule,
    Votes,
    VotesByPair,
    check_consensus_rule,
    pair_column,
    read_votes,
    votes_by_pair,
)
from curation.pooling.contributions import Relevance
from curation.store import Cursor, Store

BATCH = 10_000
HOWS = ("adjudicated", "majority", "single", "disputed", "unjudgeable", "ruled")
ADJUDICATED, _, SINGLE, DISPUTED, UNJUDGEABLE, RULED = range(len(HOWS))


PairGrades = tuple[Ints, Ints, Floats]
"""One value a pair: the place of its grade in `values` (-1: no grade), its place in `HOWS`, its confidence
(NaN: unknown)."""


class PairConsensus(NamedTuple):
    """The consensus on one pair.

    Attributes
    ----------
    grade: None for an unjudgeable pair, and where the reviewer decided that it has no grade; a disputed pair
        keeps the grade from before its re-labeling, if it had one.
    how: 'adjudicated', 'single', 'disputed', 'unjudgeable', or the rule that gave the grade. A single vote
        is 'single' with majority and median; Dawid and Skene's rule weighs it like any others.
    votes: grade → number of annotators, ascending by grade.
    cannot_tell: annotators who could not tell.
    judgments: annotators who judged the pair: votes and cannot-tell together.
    confidence: majority, median: the share of the votes that name the grade; Dawid and Skene's rule: the
        grade's probability. None for a decision, for a single vote, and where there is no grade.
    changed: this is about an older text of the document: nobody judged or decided the version in force.
    """

    query_id: str
    document_id: str
    grade: int | None
    how: str
    votes: Mapping[int, int]
    cannot_tell: int
    judgments: int
    confidence: float | None = None
    changed: bool = False


@dataclass(frozen=True)
class ConsensusCounts:
    """Pairs by how their grade came about; `pairs` is their sum, `ruled` is by another rule than majority."""

    rule: str
    pairs: int
    disputed: int
    adjudicated: int
    majority: int
    single: int
    unjudgeable: int
    ruled: int = 0

    @property
    def table(self) -> Table:
        """The numbers in a row."""
        columns = ("Rule", "Pairs", "By the rule", "Single grade", "Adjudicated", "Disputed", "Unjudgeable")
        counts = (self.single, self.adjudicated, self.disputed, self.unjudgeable)
        return Table("Consensus", columns, ((self.rule, self.pairs, self.majority + self.ruled, *counts),))


@dataclass(frozen=True)
class Consensus:
    """The consensus on every judged or adjudicated pair, ordered by query id and document id.

    It is held in arrays: walking them makes the pairs one by one, `pairs` makes all of them at once.
    """

    rule: str
    by_pair: VotesByPair
    grades: PairGrades

    @cached_property
    def pairs(self) -> tuple[PairConsensus, ...]:
        """The consensus on each pair."""
        return tuple(self)

    @property
    def counts(self) -> ConsensusCounts:
        """Pairs by how their grade came about."""
        wanted = pair_column(self.by_pair, "wanted").to_numpy(zero_copy_only=False).astype(bool)
        return _counts(self.rule, self.grades[1][wanted])

    def __iter__(self) -> Iterator[PairConsensus]:
        names, values = (*HOWS[:RULED], self.rule), self.by_pair.values.tolist()
        for row in self._rows():
            query_id, document_id, decision, asked, older, kept, of_older, value, how, *figures = row
            if not asked:
                continue
            confidence, tally, number = figures
            given = {grade: times for grade, times in zip(values, tally, strict=True) if times}
            grade = decision if how == ADJUDICATED else values[value] if value >= 0 else None
            if how == DISPUTED and kept is not None:
                grade, older = kept, of_older
            sure = confidence if confidence == confidence else None  # NaN is not itself
            silent = number - sum(given.values())
            yield PairConsensus(query_id, document_id, grade, names[how], given, silent, number, sure, older)

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """Columns of each pair, as Python's own values; a batch of them at a time."""
        names = ("query_id", "document_id", "decision", "wanted", "changed", "kept", "kept_changed")
        texts = [pair_column(self.by_pair, name) for name in names]
        numbers = (*self.grades, self.by_pair.tally, _judgments(self.by_pair))
        for start in range(0, len(self.by_pair.first), BATCH):
            given = [column.slice(start, BATCH).to_pylist() for column in texts]
            yield from zip(*given, *(row[start : start + BATCH].tolist() for row in numbers), strict=True)


def read_consensus(cursor: Cursor, round_id: str | None = None) -> Consensus:
    """The consensus on every pair from all of its judgments; with a round, only on the pairs shown in it."""
    return compute_consensus(read_votes(cursor, round_id))


def query_consensus(cursor: Cursor, votes: Votes, query_id: str) -> list[PairConsensus]:
    """The consensus on the pairs of one query, from the votes that `read_query_votes` returned.

    A rule by errors estimates them from the votes of all queries, which takes its time.
    """
    whole = read_votes(cursor) if votes.rule.by_errors else votes
    return [pair for pair in compute_consensus(whole) if pair.query_id == query_id]


def compute_consensus(votes: Votes) -> Consensus:
    """The consensus on every pair, from what `read_votes` found; no object is kept for a pair."""
    pairs = votes_by_pair(votes.rows)
    return Consensus(votes.rule.name, pairs, pair_grades(pairs, votes.rule))


def dispute_weight(votes: Mapping[int, int], traffic: float = 1.0) -> float:
    """What a decision on a disputed pair would change: grades to move, times how often the query is asked.

    The decision is taken to fall like the votes; what it moves is its mean distance from their median.
    Without votes nothing is known, and the weight is 0.
    """
    grades = sorted(grade for grade, times in votes.items() for _ in range(times))
    if not grades:
        return 0.0
    middle = grades[(len(grades) - 1) // 2]  # any point between two middle votes has the same distance
    return traffic * sum(abs(grade - middle) for grade in grades) / len(grades)


def _counts(rule: str, hows: Ints) -> ConsensusCounts:
    times = np.bincount(hows, minlength=len(HOWS)).tolist()
    return ConsensusCounts(rule, len(hows), **dict(zip(HOWS, times, strict=True)))


def _judgments(pairs: VotesByPair) -> Ints:
    """How many annotators judged each pair, cannot-tell included."""
    judged = pc.is_valid(pairs.rows["annotator"]).to_numpy().astype(np.int64)
    return np.add.reduceat(judged, pairs.first) if len(pairs.first) else judged


def pair_grades(pairs: VotesByPair, rule: ConsensusRule) -> PairGrades:
    """What a rule and the decisions make of each pair, in the order of the pairs."""
    decided = pair_column(pairs, "decided").to_numpy(zero_copy_only=False).astype(bool)
    total = pairs.tally.sum(axis=1)
    if rule.by_errors:
        value, confidence = _by_errors(pairs, rule)
        how = np.full(len(total), RULED)
    else:
        value = _median(pairs.tally) if rule.name == MEDIAN else _majority(pairs.tally)
        confidence = _share(pairs.tally, value)
        confidence[total == 1] = np.nan
        ruled = HOWS.index(MAJORITY) if rule.name == MAJORITY else RULED
        how = np.where(total == 1, SINGLE, ruled)
    how = np.where(value < 0, DISPUTED, how)
    how = np.where(total == 0, UNJUDGEABLE, how)
    none = (value < 0) | decided
    how = np.where(decided, ADJUDICATED, how)
    return np.where(decided, -1, value), how, np.where(none, np.nan, confidence)


def _majority(tally: Ints) -> Ints:
    if not tally.size:
        return np.full(len(tally), -1)
    value = tally.argmax(axis=1)
    grade_indexes: Ints = np.where(2 * tally.max(axis=1) > tally.sum(axis=1), value, -1)
    return grade_indexes


def _median(tally: Ints) -> Ints:
    if not tally.size:
        return np.full(len(tally), -1)
    below, total = 2 * tally.cumsum(axis=1), tally.sum(axis=1, keepdims=True)
    lower, upper = (below >= total).argmax(axis=1), (below > total).argmax(axis=1)
    grade_indexes: Ints = np.where((lower == upper) & (total[:, 0] > 0), lower, -1)
    return grade_indexes


def _share(tally: Ints, value: Ints) -> Floats:
    """The share of the votes that name the chosen grade; NaN where none is chosen."""
    shares = np.full(len(value), np.nan)
    chosen = np.flatnonzero(value >= 0)
    shares[chosen] = np.round(tally[chosen, value[chosen]] / tally[chosen].sum(axis=1), 6)
    return shares


def _by_errors(pairs: VotesByPair, rule: ConsensusRule) -> tuple[Ints, Floats]:
    """Each pair's most probable grade and its probability, to six decimals: the rest is the machine's."""
    value, confidence = np.full(len(pairs.first), -1), np.full(len(pairs.first), np.nan)
    if len(pairs.item):
        posterior = np.round(estimate(given_grades(pairs), rule.smoothing).posterior, 6)
        graded = np.unique(pairs.item)
        confidence[graded] = posterior.max(axis=1)
        sure = posterior.max(axis=1) > rule.least
        value[graded] = np.where(sure, posterior.argmax(axis=1), -1)
    return value, confidence


def rule_effect(store: Store, rule: ConsensusRule) -> tuple[ConsensusCounts, int, int, int]:
    """What a rule would make of all votes, decisions included.

    Returns
    -------
    The counts; and, against the rule in force, the pairs that get a grade and had none, those that lose
    theirs, and those that get another one.

    Raises
    ------
    InputError: there is no such rule, or its settings are out of range.
    """
    check_consensus_rule(rule)
    with store.reading() as cursor:
        votes = read_votes(cursor)
    pairs = votes_by_pair(votes.rows)
    now, proposed = pair_grades(pairs, votes.rule)[0], pair_grades(pairs, rule)
    then = proposed[0]
    changes = (now < 0) & (then >= 0), (now >= 0) & (then < 0), (now >= 0) & (then >= 0) & (now != then)
    graded, opened, regraded = (int(np.sum(change)) for change in changes)
    return Consensus(rule.name, pairs, proposed).counts, graded, opened, regraded


def read_for_relevance(cursor: Cursor, votes: Votes | None = None) -> Callable[[], Relevance]:
    """Read what relevance follows from; call the result outside a lease, as some rules estimate for a while.

    Parameters
    ----------
    votes: from `read_votes`, where they are read already.

    Returns
    -------
    A function that works out the relevance of every judged pair.
    """
    votes, lowest = votes or read_votes(cursor), current_guide(cursor).values[0]
    outside = outside_pairs(cursor)
    return lambda: relevance_of_pairs(compute_consensus(votes).pairs, lowest).with_outside(outside)


def relevance_of_pairs(pairs: Sequence[PairConsensus], lowest: int) -> Relevance:
    """The relevance of pairs by their consensus, on a scale from `lowest` on."""
    return Relevance(
        {(pair.query_id, pair.document_id): pair.grade for pair in pairs if pair.grade is not None},
        frozenset((pair.query_id, pair.document_id) for pair in pairs if pair.grade is None),
        lowest,
        frozenset((pair.query_id, pair.document_id) for pair in pairs if pair.changed),
    )


def read_relevance(store: Store) -> Relevance:
    """The relevance of every judged pair of a project."""
    with store.reading() as cursor:
        relevance = read_for_relevance(cursor)
    return relevance()
