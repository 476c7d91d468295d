"""Votes: the judgments that count and the reviewer's decisions, as rows and by pair."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.consensus.dawid_skene import GradeArrays
from curation.consensus.rule import ConsensusRule, read_rule
from curation.statistics.arrays import Ints
from curation.store import Cursor
from curation.store.query_ranges import WITHIN, tables_by_range


class Votes(NamedTuple):
    """All votes as rows, and the rule in force.

    Attributes
    ----------
    rows: query_id, document_id, annotator, grade (null: cannot tell), decided, decision, changed, wanted; one
        row a judgment, or one without an annotator for a pair that was only decided; ordered by the ids.
        `changed`: the pair was judged, or decided, on another version of the document than the corpus has.
    """

    rule: ConsensusRule
    rows: pa.Table


class VotesByPair(NamedTuple):
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


def read_votes(cursor: Cursor, round_id: str | None = None, showings: int | None = None) -> Votes:
    """The judgments of every pair, the decisions, and the rule in force.

    Parameters
    ----------
    showings: read so many at a time, which takes less memory and more time (`query_ranges`).
    """
    sql = _VOTES.format(decisions=counted_decisions_view(cursor), within=WITHIN)
    tables = list(tables_by_range(cursor, sql, showings, round=round_id))
    return Votes(read_rule(cursor), pa.concat_tables(tables))


def counted_decisions_view(cursor: Cursor) -> str:
    """The view with the decisions that count.

    Where nobody has decided anything, another one that is as empty: the view that says what counts takes
    20 ms of processor time to plan.
    """
    decided = cursor.execute("SELECT 1 FROM adjudications LIMIT 1").fetchall()
    return "counted_adjudications" if decided else "current_adjudications"


def votes_by_pair(rows: pa.Table) -> VotesByPair:
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
    return VotesByPair(
        rows,
        first,
        item[order],
        annotator[order],
        value[order].astype(np.int64),
        names,
        values,
        tally.reshape(len(first), len(values)).astype(np.int64),
    )


def pair_column(pairs: VotesByPair, name: str) -> pa.Array:
    """One value a pair."""
    return pairs.rows[name].take(pa.array(pairs.first)).combine_chunks()


def given_grades(pairs: VotesByPair) -> GradeArrays:
    _, item = np.unique(pairs.item, return_inverse=True)
    return GradeArrays(
        item.astype(np.int64), pairs.annotator, pairs.value, len(pairs.names), len(pairs.values)
    )


def _by_name(people: pa.DictionaryArray) -> tuple[tuple[str, ...], Ints]:
    """Annotators' names in order, and each row's place among them."""
    found = people.dictionary.to_pylist()
    names = sorted(found)
    places = np.asarray([names.index(name) for name in found], dtype=np.int64)
    return tuple(names), places[people.indices.to_numpy().astype(np.int64)]


_VOTES = """
WITH corpus AS (
    SELECT document_id, min(content_hash) AS content_hash FROM snapshot_documents
    WHERE snapshot_id = (SELECT value FROM settings WHERE name = 'corpus') GROUP BY document_id),
judged AS (FROM counted_judgments WHERE {within}),
decisions AS (FROM {decisions} WHERE {within})
SELECT query_id, document_id, j.annotator, j.grade,
       a.revision IS NOT NULL AS decided, a.grade AS decision,
       coalesce(coalesce(a.content_hash, j.content_hash) <> s.content_hash, false) AS changed,
       $round::TEXT IS NULL OR (query_id, document_id) IN (
            SELECT (query_id, document_id) FROM presentations WHERE round_id = $round) AS wanted
FROM judged j FULL JOIN decisions a USING (query_id, document_id)
LEFT JOIN corpus s USING (document_id)
ORDER BY query_id, document_id
"""
