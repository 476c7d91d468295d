"""The grade that a pair ends up with: the reviewer's decision if there is one, else a strict majority.

Grades and cannot-tell are kept apart: a cannot-tell is no vote for any grade. Without a majority the pair
is disputed and has no grade until somebody decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from curation.store import Cursor

MAJORITY = "majority"
HOWS = ("adjudicated", "majority", "single", "disputed", "unjudgeable")


class PairConsensus(NamedTuple):
    """Where one pair stands.

    Attributes
    ----------
    grade: None for a disputed or unjudgeable pair, and where the reviewer decided that there is none.
    how: one of `HOWS`.
    votes: grade → number of annotators, ascending by grade.
    cannot_tell: annotators who could not tell.
    judgments: annotators who said something: votes and cannot-tell together.
    """

    query_id: str
    document_id: str
    grade: int | None
    how: str
    votes: Mapping[int, int]
    cannot_tell: int
    judgments: int


@dataclass(frozen=True)
class ConsensusCounts:
    """Pairs by how their grade came about; `pairs` is their sum."""

    rule: str
    pairs: int
    disputed: int
    adjudicated: int
    majority: int
    single: int
    unjudgeable: int


@dataclass(frozen=True)
class Consensus:
    """The standing of every judged or adjudicated pair, ordered by query id and document id."""

    rule: str
    pairs: tuple[PairConsensus, ...]

    @property
    def counts(self) -> ConsensusCounts:
        """How many pairs stand how."""
        hows = Counter(pair.how for pair in self.pairs)
        return ConsensusCounts(self.rule, len(self.pairs), **{how: hows[how] for how in HOWS})


def consensus(cursor: Cursor, round_id: str | None = None) -> Consensus:
    """Where every pair stands, by all that was said about it; with a round, only the pairs shown in it."""
    return settled(read_votes(cursor, round_id))


def read_votes(cursor: Cursor, round_id: str | None = None) -> pa.Table:
    """What was said about every pair and what was decided, as rows for `settled`."""
    return cursor.sql(
        """
        WITH votes AS (
            SELECT query_id, document_id, histogram(grade) AS votes,
                   count(*) FILTER (kind = 'cannot_tell') AS cannot_tell, count(*) AS judgments
            FROM counted_judgments GROUP BY query_id, document_id
        )
        SELECT query_id, document_id, v.votes AS votes, coalesce(v.cannot_tell, 0) AS cannot_tell,
               coalesce(v.judgments, 0) AS judgments, a.revision IS NOT NULL AS decided, a.grade AS decision
        FROM votes v FULL JOIN current_adjudications a USING (query_id, document_id)
        WHERE ?::TEXT IS NULL
           OR (query_id, document_id) IN (
                SELECT (query_id, document_id) FROM presentations WHERE round_id = ?)
        ORDER BY query_id, document_id
        """,
        params=[round_id, round_id],
    ).to_arrow_table()


def settled(votes: pa.Table) -> Consensus:
    """Where every pair stands, from what `read_votes` found."""
    pairs = []
    columns = (column.to_pylist() for column in votes.columns)
    for query_id, document_id, found, cannot_tell, judgments, decided, decision in zip(*columns, strict=True):
        grades = dict(found or ())
        grade, how = (decision, "adjudicated") if decided else settle(grades)
        pairs.append(PairConsensus(query_id, document_id, grade, how, grades, cannot_tell, judgments))
    return Consensus(MAJORITY, tuple(pairs))


def settle(votes: Mapping[int, int]) -> tuple[int | None, str]:
    """The grade that more than half of the votes name, and how it came about; without votes, unjudgeable."""
    total = sum(votes.values())
    if total == 0:
        return None, "unjudgeable"
    grade = max(votes, key=lambda value: votes[value])
    if 2 * votes[grade] <= total:
        return None, "disputed"
    return grade, "single" if total == 1 else "majority"
