"""The grade that a pair ends up with: the reviewer's decision if there is one, else what the rule says.

    majority             the grade that more than half of the votes name
    median               the middle vote; of an even number both middle ones, if they are the same grade
    dawid-skene          the grade that is most probable given what annotators' errors look like
    ordinal-dawid-skene  likewise, with errors that follow the order of the grades (see `dawid_skene`)

Where the rule gives no grade, the pair is disputed and has none until somebody decides. Grades and
cannot-tell are kept apart: a cannot-tell is no vote for any grade. The rule is one for the whole project:
votes of all rounds are on one pair, and errors are estimated from all that an annotator did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.agreement.dawid_skene import Estimate, Floats, Ints, Said, estimate
from curation.agreement.rule import MAJORITY, MEDIAN, Rule, read_rule
from curation.store import Cursor

HOWS = ("adjudicated", "majority", "single", "disputed", "unjudgeable", "ruled")
ADJUDICATED, _, SINGLE, DISPUTED, UNJUDGEABLE, RULED = range(len(HOWS))


class PairConsensus(NamedTuple):
    """Where one pair stands.

    Attributes
    ----------
    grade: None for a disputed or unjudgeable pair, and where the reviewer decided that there is none.
    how: 'adjudicated', 'single', 'disputed', 'unjudgeable', or the rule that gave the grade. A single vote
        is 'single' with majority and median; Dawid and Skene's rules weigh it like any others.
    votes: grade → number of annotators, ascending by grade.
    cannot_tell: annotators who could not tell.
    judgments: annotators who said something: votes and cannot-tell together.
    confidence: majority, median: the share of the votes that name the grade; Dawid and Skene's rules: the
        grade's probability. None for a decision, for a single vote, and where there is no grade.
    """

    query_id: str
    document_id: str
    grade: int | None
    how: str
    votes: Mapping[int, int]
    cannot_tell: int
    judgments: int
    confidence: float | None = None


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
    """The standing of every judged or adjudicated pair, ordered by query id and document id."""

    rule: str
    pairs: tuple[PairConsensus, ...]

    @property
    def counts(self) -> ConsensusCounts:
        """How many pairs stand how."""
        hows = [HOWS.index(pair.how) if pair.how in HOWS else RULED for pair in self.pairs]
        return _counts(self.rule, np.asarray(hows, dtype=np.int64))


class Votes(NamedTuple):
    """What `settled` and `counted` work on, as it was read.

    Attributes
    ----------
    rows: query_id, document_id, annotator, grade (null: cannot tell), decided, decision, wanted; one row a
        judgment, or one without an annotator for a pair that was only decided; ordered by the ids.
    """

    rule: Rule
    rows: pa.Table


class Confusion(NamedTuple):
    """What one annotator's grades look like beside the true ones, as Dawid and Skene's model estimates them.

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
class Errors:
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
    annotators: tuple[Confusion, ...]


class _Pairs(NamedTuple):
    """The rows of `Votes` by pair, as arrays.

    Attributes
    ----------
    first: shape (P,), each pair's first row.
    item, annotator, value: shape (J,), pair, annotator and place of the grade in `values`; cannot-tell
        is not among them.
    tally: shape (P, values), votes.
    """

    rows: pa.Table
    first: Ints
    item: Ints
    annotator: Ints
    value: Ints
    names: tuple[str, ...]
    values: Ints
    tally: Ints


class _Standing(NamedTuple):
    """Place of the grade in `values` (-1: none), place in `HOWS`, and confidence (NaN: none) of each pair."""

    value: Ints
    how: Ints
    confidence: Floats


def consensus(cursor: Cursor, round_id: str | None = None) -> Consensus:
    """Where every pair stands, by all that was said about it; with a round, only the pairs shown in it."""
    return settled(read_votes(cursor, round_id))


def read_votes(cursor: Cursor, round_id: str | None = None) -> Votes:
    """What was said about every pair, what was decided, and the rule in force."""
    rows = cursor.sql(
        """
        SELECT query_id, document_id, j.annotator, j.grade,
               a.revision IS NOT NULL AS decided, a.grade AS decision,
               ?::TEXT IS NULL OR (query_id, document_id) IN (
                    SELECT (query_id, document_id) FROM presentations WHERE round_id = ?) AS wanted
        FROM counted_judgments j FULL JOIN current_adjudications a USING (query_id, document_id)
        ORDER BY query_id, document_id
        """,
        params=[round_id, round_id],
    ).to_arrow_table()
    return Votes(read_rule(cursor), rows)


def settled(votes: Votes) -> Consensus:
    """Where every pair stands, from what `read_votes` found."""
    pairs = _by_pair(votes.rows)
    found = _standing(pairs, votes.rule)
    wanted = _column(pairs, "wanted").to_numpy(zero_copy_only=False)
    names = (*HOWS[:RULED], votes.rule.name)
    values = pairs.values.tolist()
    judgments = _judgments(pairs)
    rows = zip(
        _column(pairs, "query_id").to_pylist(),
        _column(pairs, "document_id").to_pylist(),
        _column(pairs, "decision").to_pylist(),
        *(column.tolist() for column in (*found, pairs.tally, judgments, wanted)),
        strict=True,
    )
    standing = []
    for query_id, document_id, decision, value, how, confidence, tally, number, asked in rows:
        if asked:
            given = {grade: times for grade, times in zip(values, tally, strict=True) if times}
            grade = decision if how == ADJUDICATED else values[value] if value >= 0 else None
            sure = confidence if confidence == confidence else None  # NaN is not itself
            silent = number - sum(given.values())
            standing.append(
                PairConsensus(query_id, document_id, grade, names[how], given, silent, number, sure)
            )
    return Consensus(votes.rule.name, tuple(standing))


def counted(votes: Votes) -> ConsensusCounts:
    """How many pairs stand how: `settled(votes).counts`, without an object for each pair."""
    pairs = _by_pair(votes.rows)
    wanted = _column(pairs, "wanted").to_numpy(zero_copy_only=False).astype(bool)
    return _counts(votes.rule.name, _standing(pairs, votes.rule).how[wanted])


def errors(votes: Votes, ordinal: bool = False) -> Errors | None:
    """Annotators' errors as Dawid and Skene's model estimates them, by name; None without a grade."""
    pairs = _by_pair(votes.rows)
    if not len(pairs.item):
        return None
    found = estimate(_said(pairs), ordinal, votes.rule.smoothing)
    given = np.bincount(pairs.annotator, minlength=len(pairs.names)).tolist()
    shares, steps = found.shares, pairs.values[None, :] - pairs.values[:, None]
    right = np.einsum("k,akk->a", shares, found.confusion)
    bias = np.einsum("k,akl,kl->a", shares, found.confusion, steps.astype(np.float64))
    people = [
        Confusion(name, given[place], _six(right[place]), _six(bias[place]), _matrix(found, place))
        for place, name in enumerate(pairs.names)
    ]
    return Errors(
        tuple(pairs.values.tolist()),
        tuple(map(_six, shares)),
        found.iterations,
        found.converged,
        tuple(people),
    )


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


def _by_pair(rows: pa.Table) -> _Pairs:
    number = rows.num_rows
    new = np.ones(number, dtype=bool)
    for name in ("query_id", "document_id"):
        column = rows[name].combine_chunks()
        changed = pc.not_equal(column.slice(1), column.slice(0, max(0, number - 1)))
        kept = changed.to_numpy(zero_copy_only=False).astype(bool)
        new[1:] = kept if name == "query_id" else new[1:] | kept
    item = np.cumsum(new) - 1
    graded = pc.is_valid(rows["grade"]).to_numpy().astype(bool)
    given = rows.filter(pa.array(graded))
    people = given["annotator"].combine_chunks().dictionary_encode()
    grades = given["grade"].to_numpy().astype(np.int64)
    values, value = np.unique(grades, return_inverse=True)
    item, first = item[graded].astype(np.int64), np.flatnonzero(new)
    names, annotator = _by_name(people)
    order = np.lexsort((annotator, value, item))
    tally = np.bincount(item * len(values) + value, minlength=len(first) * len(values))
    return _Pairs(
        rows,
        first,
        item[order],
        annotator[order],
        value[order].astype(np.int64),
        names,
        values,
        tally.reshape(len(first), len(values)).astype(np.int64),
    )


def _by_name(people: pa.DictionaryArray) -> tuple[tuple[str, ...], Ints]:
    """Annotators' names in order, and each row's place among them."""
    found = people.dictionary.to_pylist()
    names = sorted(found)
    places = np.asarray([names.index(name) for name in found], dtype=np.int64)
    return tuple(names), places[people.indices.to_numpy().astype(np.int64)]


def _column(pairs: _Pairs, name: str) -> pa.Array:
    """One value a pair."""
    return pairs.rows[name].take(pa.array(pairs.first)).combine_chunks()


def _judgments(pairs: _Pairs) -> Ints:
    """Who said something on each pair, cannot-tell included."""
    said = pc.is_valid(pairs.rows["annotator"]).to_numpy().astype(np.int64)
    return np.add.reduceat(said, pairs.first) if len(pairs.first) else said


def _standing(pairs: _Pairs, rule: Rule) -> _Standing:
    decided = _column(pairs, "decided").to_numpy(zero_copy_only=False).astype(bool)
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
    return _Standing(
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


def _by_errors(pairs: _Pairs, rule: Rule) -> tuple[Ints, Floats]:
    """Each pair's most probable grade and its probability, to six decimals: the rest is the machine's."""
    value, confidence = np.full(len(pairs.first), -1), np.full(len(pairs.first), np.nan)
    if len(pairs.item):
        posterior = np.round(estimate(_said(pairs), rule.ordinal, rule.smoothing).posterior, 6)
        graded = np.unique(pairs.item)
        confidence[graded] = posterior.max(axis=1)
        sure = posterior.max(axis=1) > rule.least
        value[graded] = np.where(sure, posterior.argmax(axis=1), -1)
    return value, confidence


def _said(pairs: _Pairs) -> Said:
    _, item = np.unique(pairs.item, return_inverse=True)
    return Said(item.astype(np.int64), pairs.annotator, pairs.value, len(pairs.names), len(pairs.values))


def _six(value: np.float64) -> float:
    return round(float(value), 6) + 0.0  # never -0.0


def _matrix(found: Estimate, place: int) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(_six, row)) for row in found.confusion[place])
