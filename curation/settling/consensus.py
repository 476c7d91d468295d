"""The grade that a pair ends up with: the reviewer's decision if there is one, else what the rule says.

    majority             the grade that more than half of the votes name
    median               the middle vote; of an even number both middle ones, if they are the same grade
    dawid-skene          the grade that is most probable given what annotators' errors look like
    ordinal-dawid-skene  likewise, with errors that follow the order of the grades (see `dawid_skene`)

Where the rule gives no grade, the pair is disputed and has none until somebody decides; where the votes of a
re-labeling disagree, the grade from before it counts until then. Grades and
cannot-tell are kept apart: a cannot-tell is no vote for any grade. The whole project has one rule:
a pair has the votes of all rounds, and errors are estimated from all votes of an annotator.

Where somebody judged the version of the document that the corpus has now, judgments and decisions about older
versions do not count (`counted_judgments`, `counted_adjudications`). Elsewhere they do, and are marked.

Annotators' errors, as Dawid and Skene's model estimates them from all votes.

What a rule would make of the votes, and what the rule in force makes of them. Nothing is stored.

Relevance of pairs by consensus, from the judgments that count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from curation.filters.stored import outside_pairs
from curation.guides.guide import current_guide
from curation.pooling.relevance import Relevance
from curation.reports.page import NumberCell, Section, ShareCell, Table
from curation.settling.dawid_skene import Estimate, estimate
from curation.settling.votes import (
    MAJORITY,
    MEDIAN,
    ConsensusRule,
    Votes,
    VotesByPair,
    check_consensus_rule,
    given_grades,
    pair_column,
    read_votes,
    votes_by_pair,
)
from curation.statistics.arrays import Floats, Ints
from curation.store import Cursor, Store
from curation.text import amount

BATCH = 10_000
HOWS = ("adjudicated", "majority", "single", "disputed", "unjudgeable", "ruled")
ADJUDICATED, _, SINGLE, DISPUTED, UNJUDGEABLE, RULED = range(len(HOWS))


class PairConsensus(NamedTuple):
    """The consensus on one pair.

    Attributes
    ----------
    grade: None for an unjudgeable pair, and where the reviewer decided that there is none; of a disputed pair
        the grade from before its re-labeling, else None.
    how: 'adjudicated', 'single', 'disputed', 'unjudgeable', or the rule that gave the grade. A single vote
        is 'single' with majority and median; Dawid and Skene's rules weigh it like any others.
    votes: grade → number of annotators, ascending by grade.
    cannot_tell: annotators who could not tell.
    judgments: annotators who judged the pair: votes and cannot-tell together.
    confidence: majority, median: the share of the votes that name the grade; Dawid and Skene's rules: the
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


@dataclass(frozen=True)
class Consensus:
    """The consensus on every judged or adjudicated pair, ordered by query id and document id."""

    rule: str
    pairs: tuple[PairConsensus, ...]

    @property
    def counts(self) -> ConsensusCounts:
        """Pairs by how their grade came about."""
        hows = [HOWS.index(pair.how) if pair.how in HOWS else RULED for pair in self.pairs]
        return _counts(self.rule, np.asarray(hows, dtype=np.int64))


class SettledPairs(NamedTuple):
    """Place of the grade in `values` (-1: none), place in `HOWS`, and confidence (NaN: none) of each pair."""

    value: Ints
    how: Ints
    confidence: Floats


def consensus(cursor: Cursor, round_id: str | None = None) -> Consensus:
    """The consensus on every pair from all of its judgments; with a round, only on the pairs shown in it."""
    return settled(read_votes(cursor, round_id))


def query_consensus(cursor: Cursor, votes: Votes, query_id: str) -> list[PairConsensus]:
    """The consensus on the pairs of one query, of which `read_query_votes` found the votes.

    A rule by errors estimates them from the votes of all queries, which takes its time.
    """
    whole = read_votes(cursor) if votes.rule.by_errors else votes
    return [pair for pair in settle_votes(whole) if pair.query_id == query_id]


@dataclass(frozen=True)
class SettledVotes:
    """The consensus on every pair, in arrays; walking them makes the pairs one by one."""

    rule: str
    by_pair: VotesByPair
    found: SettledPairs

    @property
    def counts(self) -> ConsensusCounts:
        """Pairs by how their grade came about."""
        wanted = pair_column(self.by_pair, "wanted").to_numpy(zero_copy_only=False).astype(bool)
        return _counts(self.rule, self.found.how[wanted])

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
        numbers = (*self.found, self.by_pair.tally, _judgments(self.by_pair))
        for start in range(0, len(self.by_pair.first), BATCH):
            given = [column.slice(start, BATCH).to_pylist() for column in texts]
            yield from zip(*given, *(row[start : start + BATCH].tolist() for row in numbers), strict=True)


def settle_votes(votes: Votes) -> SettledVotes:
    """The consensus on every pair, from what `read_votes` found; no object is kept for a pair."""
    pairs = votes_by_pair(votes.rows)
    return SettledVotes(votes.rule.name, pairs, settle_pairs(pairs, votes.rule))


def settled(votes: Votes) -> Consensus:
    """The consensus on every pair, from what `read_votes` found."""
    found = settle_votes(votes)
    return Consensus(found.rule, tuple(found))


def counted(votes: Votes) -> ConsensusCounts:
    """Pairs by how their grade came about: `settled(votes).counts`, without an object for each pair."""
    return settle_votes(votes).counts


def settle(votes: Mapping[int, int]) -> tuple[int | None, str]:
    """The grade that more than half of the votes name, and how it came about; without votes, unjudgeable."""
    total = sum(votes.values())
    if total == 0:
        return None, "unjudgeable"
    grade = max(votes, key=lambda value: votes[value])
    if 2 * votes[grade] <= total:
        return None, "disputed"
    return grade, "single" if total == 1 else MAJORITY


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
    said = pc.is_valid(pairs.rows["annotator"]).to_numpy().astype(np.int64)
    return np.add.reduceat(said, pairs.first) if len(pairs.first) else said


def settle_pairs(pairs: VotesByPair, rule: ConsensusRule) -> SettledPairs:
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
    return SettledPairs(
        np.where(decided, -1, value), np.where(decided, ADJUDICATED, how), np.where(none, np.nan, confidence)
    )


def _majority(tally: Ints) -> Ints:
    if not tally.size:
        return np.full(len(tally), -1)
    value = tally.argmax(axis=1)
    found: Ints = np.where(2 * tally.max(axis=1) > tally.sum(axis=1), value, -1)
    return found


def _median(tally: Ints) -> Ints:
    if not tally.size:
        return np.full(len(tally), -1)
    below, total = 2 * tally.cumsum(axis=1), tally.sum(axis=1, keepdims=True)
    lower, upper = (below >= total).argmax(axis=1), (below > total).argmax(axis=1)
    found: Ints = np.where((lower == upper) & (total[:, 0] > 0), lower, -1)
    return found


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
        posterior = np.round(estimate(given_grades(pairs), rule.ordinal, rule.smoothing).posterior, 6)
        graded = np.unique(pairs.item)
        confidence[graded] = posterior.max(axis=1)
        sure = posterior.max(axis=1) > rule.least
        value[graded] = np.where(sure, posterior.argmax(axis=1), -1)
    return value, confidence


class AnnotatorConfusion(NamedTuple):
    """What one annotator's grades look like against the true ones, as Dawid and Skene's model estimates them.

    Attributes
    ----------
    grades: how many they gave.
    right: how probable it is that they give the true grade.
    bias: the mean of the given less the true grade, in grades.
    matrix: rows are the true, columns the given grade; each row adds up to 1.
    """

    annotator: str
    grades: int
    right: float
    bias: float
    matrix: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class AnnotatorErrors:
    """Annotators' estimated errors.

    Attributes
    ----------
    values: the grades that were given, ascending: the rows and columns of the matrices.
    shares: how frequent each of them is estimated to be.
    converged: False where EM was stopped after its last step: read the figures with care.
    """

    values: tuple[int, ...]
    shares: tuple[float, ...]
    iterations: int
    converged: bool
    annotators: tuple[AnnotatorConfusion, ...]


def error_section(found: AnnotatorErrors) -> Section:
    """What each annotator is estimated to say where a grade is true."""
    rows: list[tuple[object, ...]] = []
    for one in found.annotators:
        first: tuple[object, ...] = (one.annotator, one.grades, ShareCell(one.right), NumberCell(one.bias, 2))
        for value, given in zip(found.values, one.matrix, strict=True):
            rows.append((*first, value, *given))
            first = ("", "", "", "")
    scale = (f"Says {value}" for value in found.values)
    columns = ("Annotator", "Grades", "Right", "Bias in grades", "Where true is", *scale)
    table = Table("Annotators' errors, estimated by this rule", columns, tuple(rows))
    late = f"The estimate did not settle in {amount(found.iterations, 'step')}: read it with care."
    return Section("", "", tables=(table,), remark="" if found.converged else late)


def errors(votes: Votes, ordinal: bool = False) -> AnnotatorErrors | None:
    """Annotators' errors as Dawid and Skene's model estimates them, by name; None without a grade."""
    pairs = votes_by_pair(votes.rows)
    if not len(pairs.item):
        return None
    found = estimate(given_grades(pairs), ordinal, votes.rule.smoothing)
    given = np.bincount(pairs.annotator, minlength=len(pairs.names)).tolist()
    shares, steps = found.shares, pairs.values[None, :] - pairs.values[:, None]
    right = np.einsum("k,akk->a", shares, found.confusion)
    bias = np.einsum("k,akl,kl->a", shares, found.confusion, steps.astype(np.float64))
    people = [
        AnnotatorConfusion(name, given[place], _six(right[place]), _six(bias[place]), _matrix(found, place))
        for place, name in enumerate(pairs.names)
    ]
    return AnnotatorErrors(
        tuple(pairs.values.tolist()),
        tuple(map(_six, shares)),
        found.iterations,
        found.converged,
        tuple(people),
    )


def _six(value: np.float64) -> float:
    return round(float(value), 6) + 0.0  # never -0.0


def _matrix(found: Estimate, place: int) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(_six, row)) for row in found.confusion[place])


class GradeChanges(NamedTuple):
    """Pairs that get a grade and had none, lose theirs, or get another one."""

    settled: int
    opened: int
    regraded: int


def grade_changes(now: Ints, then: Ints) -> GradeChanges:
    """How the grades of pairs differ, as places in one scale; -1 is none."""
    return GradeChanges(
        settled=int(np.sum((now < 0) & (then >= 0))),
        opened=int(np.sum((now >= 0) & (then < 0))),
        regraded=int(np.sum((now >= 0) & (then >= 0) & (now != then))),
    )


def errors_by_rule(store: Store, rule: ConsensusRule) -> AnnotatorErrors | None:
    """Annotators' errors as a rule estimates them from all votes."""
    with store.reading() as cursor:
        votes = read_votes(cursor)
    return errors(votes._replace(rule=rule), rule.ordinal)


class RuleEffect(NamedTuple):
    """What a rule makes of all pairs, against the rule in force."""

    counts: ConsensusCounts
    settled: int
    opened: int
    regraded: int


def rule_effect(store: Store, rule: ConsensusRule) -> RuleEffect:
    """What a rule would make of all votes, decisions included.

    Raises
    ------
    InputError: there is no such rule, or its settings are out of range.
    """
    check_consensus_rule(rule)
    with store.reading() as cursor:
        votes = read_votes(cursor)
    pairs = votes_by_pair(votes.rows)
    now, then = (settle_pairs(pairs, one).value for one in (votes.rule, rule))
    return RuleEffect(counted(votes._replace(rule=rule)), *grade_changes(now, then))


class VotesOnScale(NamedTuple):
    """All votes, and the lowest grade of the guide in force: what relevance is worked out from.

    outside: pairs outside the filter of their query, which are not relevant.
    """

    votes: Votes
    lowest: int
    outside: Collection[tuple[str, str]] = ()


def read_votes_on_scale(cursor: Cursor, round_id: str | None = None) -> VotesOnScale:
    """All votes; with a round, those on the pairs shown in it."""
    return VotesOnScale(read_votes(cursor, round_id), current_guide(cursor).values[0], outside_pairs(cursor))


def relevance_of(read: VotesOnScale) -> Relevance:
    """The relevance of every judged pair. Call it outside a lease: some rules estimate for a while."""
    return relevance_of_pairs(settled(read.votes).pairs, read.lowest).with_outside(read.outside)


def relevance_of_pairs(pairs: Sequence[PairConsensus], lowest: int) -> Relevance:
    """The relevance of settled pairs, on a scale from `lowest` on."""
    return Relevance(
        {(pair.query_id, pair.document_id): pair.grade for pair in pairs if pair.grade is not None},
        frozenset((pair.query_id, pair.document_id) for pair in pairs if pair.grade is None),
        lowest,
        frozenset((pair.query_id, pair.document_id) for pair in pairs if pair.changed),
    )


def read_relevance(store: Store) -> Relevance:
    """The relevance of every judged pair of a project."""
    with store.reading() as cursor:
        read = read_votes_on_scale(cursor)
    return relevance_of(read)
