"""The votes on pairs: the judgments and reviewers' decisions that count, in one table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.statistics.arrays import Ints
from curation.labeling.consensus.rule import ConsensusRule, read_rule
from curation.store import Cursor
from curation.store.query_ranges import WITHIN, read_by_range, restrict_to_query

# The grade that a pair had when its re-labeling was planned, and the document version of that grade. The pair
# keeps it until some grade has more than half of the re-labeling's votes.
_KEPT = """
    SELECT j.query_id, j.document_id, arg_max(a.grade, j.round_sequence) AS grade,
           arg_max(a.content_hash, j.round_sequence) AS content_hash
    FROM judged j JOIN relabeling_rounds b USING (round_id)
    JOIN relabeling_pairs a USING (plan_id, query_id, document_id)
    GROUP BY ALL HAVING 2 * list_max(map_values(histogram(j.grade))) <= count(j.grade)
"""
_NOTHING_KEPT = "SELECT query_id, document_id, grade, content_hash FROM adjudications WHERE false"
_VOTES = """
WITH corpus AS (
    SELECT document_id, min(content_hash) AS content_hash FROM snapshot_documents
    WHERE snapshot_id = (SELECT value FROM settings WHERE name = 'corpus') GROUP BY document_id),
judged AS (FROM counted_judgments WHERE {within}),
decisions AS (FROM {decisions} WHERE {within}),
kept AS ({kept})
SELECT query_id, document_id, j.annotator, j.grade,
       a.revision IS NOT NULL AS decided, a.grade AS decision,
       coalesce(coalesce(a.content_hash, j.content_hash) <> s.content_hash, false) AS changed,
       k.grade AS kept, coalesce(k.content_hash <> s.content_hash, false) AS kept_changed,
       $round::TEXT IS NULL OR (query_id, document_id) IN (
            SELECT (query_id, document_id) FROM presentations WHERE round_id = $round) AS wanted{more}
FROM judged j FULL JOIN decisions a USING (query_id, document_id)
LEFT JOIN corpus s USING (document_id) LEFT JOIN kept k USING (query_id, document_id)
ORDER BY query_id, document_id
"""


class Votes(NamedTuple):
    """All votes on pairs as rows of a table, with the project's consensus rule.

    Attributes
    ----------
    rows: query_id, document_id, annotator, grade (null: cannot tell), decided, decision, changed, kept,
        kept_changed, wanted; one row for each judgment, and one row without an annotator for a pair that has
        a decision and no judgment; ordered by the ids. `changed`: the judgment or decision is about an older
        version of the document than the corpus has. `kept`: the grade from before a re-labeling whose votes
        disagree.
    """

    rule: ConsensusRule
    rows: pa.Table


class VotesByPair(NamedTuple):
    """All votes grouped by query-document pair, as arrays.

    Attributes
    ----------
    first: shape (P,), index of each pair's first row.
    item, annotator, value: shape (J,), pair, annotator and index in `values` of each grade that was given.
    tally: shape (P, values), number of votes for each grade.
    """

    rows: pa.Table
    first: Ints
    item: Ints
    annotator: Ints
    value: Ints
    names: tuple[str, ...]
    values: Ints
    tally: Ints


def read_votes(cursor: Cursor, round_id: str | None = None, batch_size: int | None = None) -> Votes:
    """Read all judgments and decisions that count, and the project's consensus rule.

    Parameters
    ----------
    batch_size: number of presentations to read at a time; a smaller number takes less memory and more time.
    """
    sql = _VOTES.format(**_choose_views(cursor), within=WITHIN, more="")
    tables = list(read_by_range(cursor, sql, batch_size, round=round_id))
    return Votes(read_rule(cursor), pa.concat_tables(tables))


def read_query_votes(cursor: Cursor, query_id: str) -> Votes:
    """Read the votes of one query, with the annotators' reasons, notes and flags, and the document
    versions."""
    extra_columns = ", j.reason, j.note, j.flagged, j.same_text, j.content_hash"
    sql = _VOTES.format(**_choose_views(cursor), within="true", more=extra_columns)
    sql = restrict_to_query(cursor, sql)
    rows = cursor.sql(sql, params={"query": query_id, "round": None}).to_arrow_table()
    return Votes(read_rule(cursor), rows)


def choose_decisions_view(cursor: Cursor) -> str:
    """Return the name of the view that contains the decisions that count.

    Without any decision, return a cheaper empty view: planning `counted_adjudications` takes 20 ms.
    """
    decided = cursor.execute("SELECT 1 FROM adjudications LIMIT 1").fetchall()
    return "counted_adjudications" if decided else "current_adjudications"


def group_votes(rows: pa.Table) -> VotesByPair:
    """Group votes by query-document pair."""
    row_count = rows.num_rows
    begins_pair = np.ones(row_count, dtype=bool)
    for name in ("query_id", "document_id"):
        column = rows[name].combine_chunks()
        changed = pc.not_equal(column.slice(1), column.slice(0, max(0, row_count - 1)))
        is_changed = changed.to_numpy(zero_copy_only=False).astype(bool)
        begins_pair[1:] = is_changed if name == "query_id" else begins_pair[1:] | is_changed
    item = np.cumsum(begins_pair) - 1
    is_graded = pc.is_valid(rows["grade"]).to_numpy().astype(bool)
    graded_rows = rows.filter(pa.array(is_graded))
    annotators = graded_rows["annotator"].combine_chunks().dictionary_encode()
    grades = graded_rows["grade"].to_numpy().astype(np.int64)
    values, value_indexes = np.unique(grades, return_inverse=True)
    item, first = item[is_graded].astype(np.int64), np.flatnonzero(begins_pair)
    names, annotator = _order_annotators(annotators)
    order = np.lexsort((annotator, value_indexes, item))
    tally = np.bincount(item * len(values) + value_indexes, minlength=len(first) * len(values))
    tally = tally.reshape(len(first), len(values)).astype(np.int64)
    value = value_indexes[order].astype(np.int64)
    return VotesByPair(rows, first, item[order], annotator[order], value, names, values, tally)


def take_pair_column(pairs: VotesByPair, name: str) -> pa.Array:
    """Return a column of `Votes`, reduced to one value per pair."""
    return pairs.rows[name].take(pa.array(pairs.first)).combine_chunks()


def _choose_views(cursor: Cursor) -> dict[str, str]:
    """Return the SQL views of decisions, and of grades kept from before a re-labeling."""
    has_relabeling = cursor.execute("SELECT 1 FROM relabeling_rounds LIMIT 1").fetchall()
    return {"decisions": choose_decisions_view(cursor), "kept": _KEPT if has_relabeling else _NOTHING_KEPT}


def _order_annotators(annotators: pa.DictionaryArray) -> tuple[tuple[str, ...], Ints]:
    """Return the sorted names of annotators, and, for each row, the index of the annotator's name."""
    unordered = annotators.dictionary.to_pylist()
    names = sorted(unordered)
    ranks = np.asarray([names.index(name) for name in unordered], dtype=np.int64)
    return tuple(names), ranks[annotators.indices.to_numpy().astype(np.int64)]
