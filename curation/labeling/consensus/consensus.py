"""The consensus on pairs: each pair's grade, from the reviewer's decision or else by the project's rule.

A reviewer's decision is the grade of its pair. All other pairs get their grade by the project's consensus
rule:

    majority     the grade that more than half of the votes name
    median       the middle vote; of an even number of votes, the two middle votes if they are equal
    dawid-skene  the most probable grade, given each annotator's estimated errors (`dawid_skene`)

Where the rule gives no grade, the pair is disputed and has no grade until a reviewer decides. Where the votes
of a re-labeling disagree, the earlier grade counts until a reviewer decides. The answer cannot-tell is not a
vote for any grade. A project has one rule for all rounds: a pair has the votes of all rounds, and annotators'
errors are estimated from all their votes.

If somebody judged the corpus's current version of the document, judgments and decisions about older
versions do not count (`counted_judgments`, `counted_adjudications`). For all other pairs, judgments of older
versions count, and are marked as judgments of an older text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from curation.core.reports.tables import Table
from curation.core.statistics.arrays import Floats, Ints
from curation.labeling.consensus.dawid_skene import collect_grades, fit_dawid_skene
from curation.labeling.consensus.rule import MAJORITY, MEDIAN, ConsensusRule
from curation.labeling.consensus.votes import Votes, VotesByPair, group_votes, read_votes, take_pair_column
from curation.store import Cursor

BATCH_SIZE = 10_000
SOURCES = ("adjudicated", "majority", "single", "disputed", "unjudgeable", "ruled")
ADJUDICATED, _, SINGLE, DISPUTED, UNJUDGEABLE, RULED = range(len(SOURCES))
PairGrades = tuple[Ints, Ints, Floats]
"""Three arrays with a value for each pair: index of its grade in `values` (-1: no grade), index in `SOURCES`,
confidence (NaN: unknown)."""


class PairConsensus(NamedTuple):
    """The consensus on a pair: its grade, votes and confidence.

    Attributes
    ----------
    grade: None for an unjudgeable pair, and for a pair that a reviewer decided cannot be graded; a disputed
        pair keeps its grade from before the re-labeling, if any.
    how: 'adjudicated', 'single', 'disputed', 'unjudgeable', or the rule that gave the grade. A single vote is
        'single' with majority and median; Dawid and Skene's rule weighs a single vote like all others.
    votes: grade → number of annotators, ascending by grade.
    cannot_tell: number of annotators who answered cannot-tell.
    judgments: number of annotators who judged the pair, including cannot-tell.
    confidence: share of the votes for the grade (majority, median), or probability of the grade (Dawid and
        Skene's rule). None for a decision, for a single vote, and where there is no grade.
    changed: whether all judgments and decisions are about an older text of the document.
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
    """The number of pairs by the source of their grade: a decision, a single vote or a rule.

    Attributes
    ----------
    rule: the name of the project's rule.
    pairs: number of all pairs.
    ruled: number of pairs whose grade comes from a rule other than majority.
    """

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
        """The numbers as a table with one row."""
        columns = ("Rule", "Pairs", "By the rule", "Single grade", "Adjudicated", "Disputed", "Unjudgeable")
        counts = (self.single, self.adjudicated, self.disputed, self.unjudgeable)
        return Table("Consensus", columns, ((self.rule, self.pairs, self.majority + self.ruled, *counts),))


@dataclass(frozen=True)
class Consensus:
    """The consensus on every judged or adjudicated pair, ordered by query id and document id.

    Arrays hold it. Iteration yields the `PairConsensus` of each pair; `pairs` holds all in a list.
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
        """The number of pairs by how they got their grade."""
        wanted = take_pair_column(self.by_pair, "wanted").to_numpy(zero_copy_only=False).astype(bool)
        hows = self.grades[1][wanted]
        times = np.bincount(hows, minlength=len(SOURCES)).tolist()
        return ConsensusCounts(self.rule, len(hows), **dict(zip(SOURCES, times, strict=True)))

    def __iter__(self) -> Iterator[PairConsensus]:
        names, values = (*SOURCES[:RULED], self.rule), self.by_pair.values.tolist()
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
        """Yield the column values of each pair as plain Python values, converted in batches."""
        names = ("query_id", "document_id", "decision", "wanted", "changed", "kept", "kept_changed")
        texts = [take_pair_column(self.by_pair, name) for name in names]
        numbers = (*self.grades, self.by_pair.tally, _count_judgments(self.by_pair))
        for start in range(0, len(self.by_pair.first), BATCH_SIZE):
            given = [column.slice(start, BATCH_SIZE).to_pylist() for column in texts]
            yield from zip(
                *given, *(row[start : start + BATCH_SIZE].tolist() for row in numbers), strict=True
            )


def read_consensus(cursor: Cursor, round_id: str | None = None) -> Consensus:
    """Compute the consensus on every pair from all judgments, or only on the pairs of a round."""
    return compute_consensus(read_votes(cursor, round_id))


def compute_query_consensus(cursor: Cursor, votes: Votes, query_id: str) -> list[PairConsensus]:
    """Compute the consensus on the pairs of one query, from the votes that `read_query_votes` returned.

    With Dawid and Skene's rule this takes longer, because annotators' errors are estimated from all queries.
    """
    whole = read_votes(cursor) if votes.rule.by_errors else votes
    return [pair for pair in compute_consensus(whole) if pair.query_id == query_id]


def compute_consensus(votes: Votes) -> Consensus:
    """Compute the consensus on every pair from the votes that `read_votes` returned."""
    pairs = group_votes(votes.rows)
    return Consensus(votes.rule.name, pairs, grade_pairs(pairs, votes.rule))


def grade_pairs(pairs: VotesByPair, rule: ConsensusRule) -> PairGrades:
    """Compute the grade of each pair from reviewers' decisions or else by a rule, in the order of the
    pairs."""
    decided = take_pair_column(pairs, "decided").to_numpy(zero_copy_only=False).astype(bool)
    total = pairs.tally.sum(axis=1)
    if rule.by_errors:
        value, confidence = _find_most_probable(pairs, rule)
        how = np.full(len(total), RULED)
    else:
        value = _find_median(pairs.tally) if rule.name == MEDIAN else _find_majority(pairs.tally)
        confidence = _compute_vote_shares(pairs.tally, value)
        confidence[total == 1] = np.nan
        ruled = SOURCES.index(MAJORITY) if rule.name == MAJORITY else RULED
        how = np.where(total == 1, SINGLE, ruled)
    how = np.where(value < 0, DISPUTED, how)
    how = np.where(total == 0, UNJUDGEABLE, how)
    none = (value < 0) | decided
    how = np.where(decided, ADJUDICATED, how)
    return np.where(decided, -1, value), how, np.where(none, np.nan, confidence)


def _count_judgments(pairs: VotesByPair) -> Ints:
    """Count the annotators who judged each pair, including the answer cannot-tell."""
    judged = pc.is_valid(pairs.rows["annotator"]).to_numpy().astype(np.int64)
    return np.add.reduceat(judged, pairs.first) if len(pairs.first) else judged


def _find_majority(tally: Ints) -> Ints:
    if not tally.size:
        return np.full(len(tally), -1)
    value = tally.argmax(axis=1)
    grade_indexes: Ints = np.where(2 * tally.max(axis=1) > tally.sum(axis=1), value, -1)
    return grade_indexes


def _find_median(tally: Ints) -> Ints:
    if not tally.size:
        return np.full(len(tally), -1)
    below, total = 2 * tally.cumsum(axis=1), tally.sum(axis=1, keepdims=True)
    lower, upper = (below >= total).argmax(axis=1), (below > total).argmax(axis=1)
    grade_indexes: Ints = np.where((lower == upper) & (total[:, 0] > 0), lower, -1)
    return grade_indexes


def _compute_vote_shares(tally: Ints, value: Ints) -> Floats:
    """Compute the share of each pair's votes that name the chosen grade; NaN for a pair without a grade."""
    shares = np.full(len(value), np.nan)
    chosen = np.flatnonzero(value >= 0)
    shares[chosen] = np.round(tally[chosen, value[chosen]] / tally[chosen].sum(axis=1), 6)
    return shares


def _find_most_probable(pairs: VotesByPair, rule: ConsensusRule) -> tuple[Ints, Floats]:
    """Find each pair's most probable grade and its probability, rounded to six decimals."""
    value, confidence = np.full(len(pairs.first), -1), np.full(len(pairs.first), np.nan)
    if len(pairs.item):
        posterior = np.round(fit_dawid_skene(collect_grades(pairs), rule.smoothing).posterior, 6)
        graded = np.unique(pairs.item)
        confidence[graded] = posterior.max(axis=1)
        sure = posterior.max(axis=1) > rule.least
        value[graded] = np.where(sure, posterior.argmax(axis=1), -1)
    return value, confidence
