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
from math import isnan
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
    """How many pairs got their grade from each source: a decision, a single vote or a rule.

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
        """Return a table with one row: the number of pairs that got their grade from each source."""
        columns = ("Rule", "Pairs", "By the rule", "Single grade", "Adjudicated", "Disputed", "Unjudgeable")
        counts = (self.single, self.adjudicated, self.disputed, self.unjudgeable)
        return Table("Consensus", columns, ((self.rule, self.pairs, self.majority + self.ruled, *counts),))


@dataclass(frozen=True)
class Consensus:
    """The consensus on every judged or adjudicated pair, ordered by query id and document id.

    Iteration yields the `PairConsensus` of each pair; `pairs` holds the consensus on all pairs.

    Attributes
    ----------
    rule: name of the consensus rule.
    votes: the votes grouped by pair.
    grade_indexes: shape (P,), index of each pair's grade in `votes.values`; -1 if the rule gives no grade.
    sources: shape (P,), index in `SOURCES` of the source of each pair's grade.
    confidence: shape (P,), as in `PairConsensus`; NaN if unknown.
    """

    rule: str
    votes: VotesByPair
    grade_indexes: Ints
    sources: Ints
    confidence: Floats

    @cached_property
    def pairs(self) -> tuple[PairConsensus, ...]:
        """Return the consensus on each pair."""
        return tuple(self)

    @property
    def counts(self) -> ConsensusCounts:
        """Count the pairs by the source of their grades."""
        is_requested = take_pair_column(self.votes, "wanted").to_numpy(zero_copy_only=False).astype(bool)
        sources = self.sources[is_requested]
        counts = np.bincount(sources, minlength=len(SOURCES)).tolist()
        return ConsensusCounts(self.rule, len(sources), **dict(zip(SOURCES, counts, strict=True)))

    def __iter__(self) -> Iterator[PairConsensus]:
        source_names = (*SOURCES[:RULED], self.rule)
        values = self.votes.values.tolist()
        for row in self._rows():
            query_id, document_id, decision, is_requested, *columns = row
            if not is_requested:
                continue
            changed, kept_grade, kept_changed, index, source, confidence, counts, n_judgments = columns
            votes = {grade: count for grade, count in zip(values, counts, strict=True) if count}
            grade = values[index] if index >= 0 else None
            if source == ADJUDICATED:
                grade = decision
            elif source == DISPUTED and kept_grade is not None:
                grade, changed = kept_grade, kept_changed
            yield PairConsensus(
                query_id=query_id,
                document_id=document_id,
                grade=grade,
                how=source_names[source],
                votes=votes,
                cannot_tell=n_judgments - sum(votes.values()),
                judgments=n_judgments,
                confidence=None if isnan(confidence) else confidence,
                changed=changed,
            )

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the column values of each pair as plain Python values, converted in batches."""
        column_names = ("query_id", "document_id", "decision", "wanted", "changed", "kept", "kept_changed")
        arrow_columns = [take_pair_column(self.votes, name) for name in column_names]
        grades = (self.grade_indexes, self.sources, self.confidence)
        arrays = (*grades, self.votes.tally, _count_judgments(self.votes))
        for start in range(0, len(self.votes.first), BATCH_SIZE):
            batch = [column.slice(start, BATCH_SIZE).to_pylist() for column in arrow_columns]
            array_batch = [array[start : start + BATCH_SIZE].tolist() for array in arrays]
            yield from zip(*batch, *array_batch, strict=True)


def read_consensus(cursor: Cursor, round_id: str | None = None) -> Consensus:
    """Compute the consensus on every pair of the project, or on one round's pairs."""
    return compute_consensus(read_votes(cursor, round_id))


def compute_query_consensus(cursor: Cursor, votes: Votes, query_id: str) -> list[PairConsensus]:
    """Compute the consensus on the pairs of one query, from the votes returned by `read_query_votes`.

    With Dawid and Skene's rule this takes longer, because annotators' errors are estimated from all queries.
    """
    all_votes = read_votes(cursor) if votes.rule.by_errors else votes
    return [pair for pair in compute_consensus(all_votes) if pair.query_id == query_id]


def compute_consensus(votes: Votes) -> Consensus:
    """Compute the consensus on every pair from the votes returned by `read_votes`."""
    return grade_pairs(group_votes(votes.rows), votes.rule)


def grade_pairs(pairs: VotesByPair, rule: ConsensusRule) -> Consensus:
    """Compute the consensus on each pair from the reviewer's decision, or otherwise by a rule."""
    is_decided = take_pair_column(pairs, "decided").to_numpy(zero_copy_only=False).astype(bool)
    vote_counts = pairs.tally.sum(axis=1)
    if rule.by_errors:
        grade_indexes, confidence = _find_most_probable(pairs, rule)
        sources = np.full(len(vote_counts), RULED)
    else:
        find_grades = _find_median if rule.name == MEDIAN else _find_majority
        grade_indexes = find_grades(pairs.tally) if pairs.tally.size else np.full(len(pairs.tally), -1)
        confidence = _compute_vote_shares(pairs.tally, grade_indexes)
        confidence[vote_counts == 1] = np.nan
        rule_source = SOURCES.index(MAJORITY) if rule.name == MAJORITY else RULED
        sources = np.where(vote_counts == 1, SINGLE, rule_source)
    sources = np.where(grade_indexes < 0, DISPUTED, sources)
    sources = np.where(vote_counts == 0, UNJUDGEABLE, sources)
    is_ungraded = (grade_indexes < 0) | is_decided
    sources = np.where(is_decided, ADJUDICATED, sources)
    return Consensus(
        rule=rule.name,
        votes=pairs,
        grade_indexes=np.where(is_decided, -1, grade_indexes),
        sources=sources,
        confidence=np.where(is_ungraded, np.nan, confidence),
    )


def compute_rule_effect(store: Store, rule: ConsensusRule) -> tuple[ConsensusCounts, dict[str, int]]:
    """Compare a consensus rule with the project's current rule, on all votes and decisions.

    Returns
    -------
    The counts of pairs under the rule, and change → number of pairs, for the changes 'gained' (a grade),
    'lost' (the grade) and 'regraded'.

    Raises
    ------
    InputError: the rule is unknown, or its settings are out of range.
    """
    check_consensus_rule(rule)
    with store.reading() as cursor:
        votes = read_votes(cursor)
    pairs = group_votes(votes.rows)
    current, proposed = grade_pairs(pairs, votes.rule), grade_pairs(pairs, rule)
    is_graded, will_be_graded = current.grade_indexes >= 0, proposed.grade_indexes >= 0
    is_other_grade = current.grade_indexes != proposed.grade_indexes
    changes = {
        "gained": int(np.sum(~is_graded & will_be_graded)),
        "lost": int(np.sum(is_graded & ~will_be_graded)),
        "regraded": int(np.sum(is_graded & will_be_graded & is_other_grade)),
    }
    return proposed.counts, changes


def prepare_relevance(cursor: Cursor, votes: Votes | None = None) -> Callable[[], Relevance]:
    """Read votes, guide and filters, and return a function that computes the relevance of every judged pair.

    Call the function after the database lease ends, because Dawid and Skene's rule takes longer.

    Parameters
    ----------
    votes: result of `read_votes`, if the caller has already read the votes.
    """
    votes_read = votes or read_votes(cursor)
    lowest_grade = current_guide(cursor).values[0]
    outside_pairs = find_outside_pairs(cursor)

    def compute_relevance() -> Relevance:
        pairs = compute_consensus(votes_read).pairs
        return derive_relevance(pairs, lowest_grade).with_outside(outside_pairs)

    return compute_relevance


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
    """Count the annotators who judged each pair, including those who answered cannot-tell."""
    judged = pc.is_valid(pairs.rows["annotator"]).to_numpy().astype(np.int64)
    return np.add.reduceat(judged, pairs.first) if len(pairs.first) else judged


def _find_majority(tally: Ints) -> Ints:
    has_majority = 2 * tally.max(axis=1) > tally.sum(axis=1)
    grade_indexes: Ints = np.where(has_majority, tally.argmax(axis=1), -1)
    return grade_indexes


def _find_median(tally: Ints) -> Ints:
    below, total = 2 * tally.cumsum(axis=1), tally.sum(axis=1, keepdims=True)
    lower, upper = (below >= total).argmax(axis=1), (below > total).argmax(axis=1)
    grade_indexes: Ints = np.where((lower == upper) & (total[:, 0] > 0), lower, -1)
    return grade_indexes


def _compute_vote_shares(tally: Ints, indexes: Ints) -> Floats:
    """Compute the share of each pair's votes that name the chosen grade; NaN if the pair has no grade."""
    shares = np.full(len(indexes), np.nan)
    graded = np.flatnonzero(indexes >= 0)
    shares[graded] = np.round(tally[graded, indexes[graded]] / tally[graded].sum(axis=1), 6)
    return shares


def _find_most_probable(pairs: VotesByPair, rule: ConsensusRule) -> tuple[Ints, Floats]:
    """Find each pair's most probable grade and the grade's probability, rounded to six decimals."""
    grade_indexes, confidence = np.full(len(pairs.first), -1), np.full(len(pairs.first), np.nan)
    if len(pairs.item):
        posterior = np.round(fit_dawid_skene(collect_grades(pairs), rule.smoothing).posterior, 6)
        graded_pairs = np.unique(pairs.item)
        confidence[graded_pairs] = posterior.max(axis=1)
        is_sure = posterior.max(axis=1) > rule.least
        grade_indexes[graded_pairs] = np.where(is_sure, posterior.argmax(axis=1), -1)
    return grade_indexes, confidence
