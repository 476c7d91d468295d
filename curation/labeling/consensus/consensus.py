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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from curation.core.reports.tables import Table
from curation.core.statistics.arrays import Floats, Ints
from curation.guides.guide import current_guide
from curation.ingest.filters import find_outside_pairs
from curation.labeling.consensus.dawid_skene import collect_grades, fit_dawid_skene
from curation.labeling.consensus.rule import MAJORITY, MEDIAN, ConsensusRule, check_consensus_rule
from curation.labeling.consensus.votes import Votes, VotesByPair, group_votes, read_votes, take_pair_column
from curation.pooling.relevance import Relevance
from curation.store import Cursor, Store

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
        is_requested = take_pair_column(self.by_pair, "wanted").to_numpy(zero_copy_only=False).astype(bool)
        sources = self.grades[1][is_requested]
        counts = np.bincount(sources, minlength=len(SOURCES)).tolist()
        return ConsensusCounts(self.rule, len(sources), **dict(zip(SOURCES, counts, strict=True)))

    def __iter__(self) -> Iterator[PairConsensus]:
        names, values = (*SOURCES[:RULED], self.rule), self.by_pair.values.tolist()
        for row in self._rows():
            query_id, document_id, decision, is_requested, *grade_columns = row
            if not is_requested:
                continue
            changed, kept, kept_changed, index, source, confidence, counts, n = grade_columns
            votes = {grade: times for grade, times in zip(values, counts, strict=True) if times}
            grade = decision if source == ADJUDICATED else values[index] if index >= 0 else None
            if source == DISPUTED and kept is not None:
                grade, changed = kept, kept_changed
            certainty = confidence if confidence == confidence else None  # NaN is not itself
            judgments = (votes, n - sum(votes.values()), n)
            yield PairConsensus(query_id, document_id, grade, names[source], *judgments, certainty, changed)

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the column values of each pair as plain Python values, converted in batches."""
        column_names = ("query_id", "document_id", "decision", "wanted", "changed", "kept", "kept_changed")
        arrow_columns = [take_pair_column(self.by_pair, name) for name in column_names]
        arrays = (*self.grades, self.by_pair.tally, _count_judgments(self.by_pair))
        for start in range(0, len(self.by_pair.first), BATCH_SIZE):
            batch = [column.slice(start, BATCH_SIZE).to_pylist() for column in arrow_columns]
            yield from zip(*batch, *(row[start : start + BATCH_SIZE].tolist() for row in arrays), strict=True)


def read_consensus(cursor: Cursor, round_id: str | None = None) -> Consensus:
    """Compute the consensus on every pair from all judgments, or only on the pairs of a round."""
    return compute_consensus(read_votes(cursor, round_id))


def compute_query_consensus(cursor: Cursor, votes: Votes, query_id: str) -> list[PairConsensus]:
    """Compute the consensus on the pairs of one query, from the votes that `read_query_votes` returned.

    With Dawid and Skene's rule this takes longer, because annotators' errors are estimated from all queries.
    """
    all_votes = read_votes(cursor) if votes.rule.by_errors else votes
    return [pair for pair in compute_consensus(all_votes) if pair.query_id == query_id]


def compute_consensus(votes: Votes) -> Consensus:
    """Compute the consensus on every pair from the votes that `read_votes` returned."""
    pairs = group_votes(votes.rows)
    return Consensus(votes.rule.name, pairs, grade_pairs(pairs, votes.rule))


def grade_pairs(pairs: VotesByPair, rule: ConsensusRule) -> PairGrades:
    """Compute the grade of each pair from reviewers' decisions or else by a rule, in the order of the
    pairs."""
    is_decided = take_pair_column(pairs, "decided").to_numpy(zero_copy_only=False).astype(bool)
    vote_counts = pairs.tally.sum(axis=1)
    if rule.by_errors:
        grade_indexes, confidence = _find_most_probable(pairs, rule)
        sources = np.full(len(vote_counts), RULED)
    else:
        grade_indexes = _find_median(pairs.tally) if rule.name == MEDIAN else _find_majority(pairs.tally)
        confidence = _compute_vote_shares(pairs.tally, grade_indexes)
        confidence[vote_counts == 1] = np.nan
        rule_source = SOURCES.index(MAJORITY) if rule.name == MAJORITY else RULED
        sources = np.where(vote_counts == 1, SINGLE, rule_source)
    sources = np.where(grade_indexes < 0, DISPUTED, sources)
    sources = np.where(vote_counts == 0, UNJUDGEABLE, sources)
    is_ungraded = (grade_indexes < 0) | is_decided
    sources = np.where(is_decided, ADJUDICATED, sources)
    return np.where(is_decided, -1, grade_indexes), sources, np.where(is_ungraded, np.nan, confidence)


def compute_rule_effect(store: Store, rule: ConsensusRule) -> tuple[ConsensusCounts, int, int, int]:
    """Compare a consensus rule with the project's current rule, on all votes and decisions.

    Returns
    -------
    The counts of pairs under the rule, and the numbers of pairs that would gain a grade, lose their grade,
    and get a different grade.

    Raises
    ------
    InputError: the rule is unknown, or its settings are out of range.
    """
    check_consensus_rule(rule)
    with store.reading() as cursor:
        votes = read_votes(cursor)
    pairs = group_votes(votes.rows)
    current, proposed = grade_pairs(pairs, votes.rule), grade_pairs(pairs, rule)
    is_graded, will_be_graded = current[0] >= 0, proposed[0] >= 0
    gained, lost = np.sum(~is_graded & will_be_graded), np.sum(is_graded & ~will_be_graded)
    regraded = np.sum(is_graded & will_be_graded & (current[0] != proposed[0]))
    return Consensus(rule.name, pairs, proposed).counts, int(gained), int(lost), int(regraded)


def prepare_relevance(cursor: Cursor, votes: Votes | None = None) -> Callable[[], Relevance]:
    """Read votes, guide and filters, and return a function that computes the relevance of every judged pair.

    Call the function after the database lease ends, because Dawid and Skene's rule takes longer.

    Parameters
    ----------
    votes: result of `read_votes`, if the caller has already read the votes.
    """
    votes, lowest = votes or read_votes(cursor), current_guide(cursor).values[0]
    outside = find_outside_pairs(cursor)
    return lambda: derive_relevance(compute_consensus(votes).pairs, lowest).with_outside(outside)


def derive_relevance(pairs: Sequence[PairConsensus], lowest: int) -> Relevance:
    """Turn the consensus on pairs into their relevance, on a scale whose lowest grade is `lowest`."""
    return Relevance(
        {(pair.query_id, pair.document_id): pair.grade for pair in pairs if pair.grade is not None},
        frozenset((pair.query_id, pair.document_id) for pair in pairs if pair.grade is None),
        lowest,
        frozenset((pair.query_id, pair.document_id) for pair in pairs if pair.changed),
    )


def read_relevance(store: Store) -> Relevance:
    """Compute the relevance of every judged pair of a project."""
    with store.reading() as cursor:
        relevance = prepare_relevance(cursor)
    return relevance()


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


def _compute_vote_shares(tally: Ints, indexes: Ints) -> Floats:
    """Compute the share of each pair's votes that name the chosen grade; NaN for a pair without a grade."""
    shares = np.full(len(indexes), np.nan)
    graded = np.flatnonzero(indexes >= 0)
    shares[graded] = np.round(tally[graded, indexes[graded]] / tally[graded].sum(axis=1), 6)
    return shares


def _find_most_probable(pairs: VotesByPair, rule: ConsensusRule) -> tuple[Ints, Floats]:
    """Find each pair's most probable grade and its probability, rounded to six decimals."""
    grade_indexes, confidence = np.full(len(pairs.first), -1), np.full(len(pairs.first), np.nan)
    if len(pairs.item):
        posterior = np.round(fit_dawid_skene(collect_grades(pairs), rule.smoothing).posterior, 6)
        graded_pairs = np.unique(pairs.item)
        confidence[graded_pairs] = posterior.max(axis=1)
        is_sure = posterior.max(axis=1) > rule.least
        grade_indexes[graded_pairs] = np.where(is_sure, posterior.argmax(axis=1), -1)
    return grade_indexes, confidence
