"""The rows that a release is made from, read in one lease of the database; `content` interprets them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from curation.agreement.annotators.intra_annotator import Repeats, read_repeats
from curation.agreement.between.grades import Grades, read_grades
from curation.agreement.gate import Demand, all_imported, read_demand
from curation.core.errors import RefusedError
from curation.guides.guide import Guide, guide_by_hash
from curation.ingest.importers.answers.nuggets import Nugget, read_nuggets
from curation.labeling.consensus.evidence import ProjectMarks, newer_versions, read_marks
from curation.labeling.rounds.lifecycle import RoundState, open_states
from curation.labeling.rounds.rounds import list_rounds
from curation.releases.freeze.relabeled import RelabeledPairs, read_relabeled
from curation.releases.release_rows import NOT_COUNTED
from curation.splits.inputs import SplitLabels, read_labels
from curation.store import Cursor, Document, Round, get_setting, require_setting
from curation.store.documents import is_held
from curation.store.query_ranges import SHOWINGS, WITHIN, give_back, tables_by_range

NO_SPLIT = "There is no split yet. Make one first."
HOW_TO_SPLIT = "`goldgrade split --dev 0.7 --test 0.3 --seed 0` does."


_ASSIGNED = "SELECT query_id, part, group_id FROM split_assignments WHERE split_id = ? ORDER BY query_id"
_EDGES = """
    SELECT query_a, query_b, kind, similarity, detail FROM leakage_edges WHERE split_id = ?
    ORDER BY query_a, query_b, kind
"""
_JUDGMENTS = f"""
    SELECT query_id, document_id, annotator, round_id AS round, kind, grade,
           duplicate_of IS NOT NULL AS duplicate, guide_hash AS guide, content_hash
    FROM current_judgments
    WHERE query_id IN (SELECT query_id FROM split_assignments WHERE split_id = $split) AND {WITHIN}
"""  # noqa: S608  a condition from code
_ADJUDICATIONS = """
    SELECT a.query_id, a.document_id, a.grade, a.reason, a.reviewer, a.content_hash
    FROM adjudications a LEFT JOIN (
        SELECT query_id, document_id, revision, true AS counts FROM counted_adjudications) c
        USING (query_id, document_id, revision)
    WHERE a.query_id IN (SELECT query_id FROM split_assignments WHERE split_id = ?)
    QUALIFY row_number() OVER (
        PARTITION BY a.query_id, a.document_id ORDER BY coalesce(c.counts, false) DESC, a.revision DESC) = 1
    ORDER BY a.query_id, a.document_id
"""
_CANDIDATES = f"""
    SELECT pool_id, query_id, document_id, system, rank, score FROM candidate_sources
    WHERE query_id IN (SELECT query_id FROM split_assignments WHERE split_id = $split) AND {WITHIN}
"""  # noqa: S608  a condition from code
_SAMPLES = "SELECT sample_id, parameters, report FROM samples WHERE sample_id = ?"
_SAMPLED = """
    SELECT query_id, stratum, traffic, inclusion_probability FROM sample_queries WHERE sample_id = ?
"""
_ABOUT_QUERIES = """
    SELECT query_id, metadata->>'segment' AS segment, coalesce(t.tags, []) AS tags
    FROM queries LEFT JOIN (
        SELECT query_id, list(tag ORDER BY tag) AS tags FROM current_query_tags GROUP BY query_id) t
    USING (query_id)
"""
_LOGS = """
    SELECT i.rows, i.left_out, min(t.time)::TEXT AS first, max(t.time)::TEXT AS last
    FROM traffic_imports i LEFT JOIN traffic t USING (import_id)
    WHERE i.import_id IN (SELECT import_id FROM sample_logs WHERE sample_id = ?)
    GROUP BY i.import_id, i.rows, i.left_out ORDER BY i.import_id
"""
_POOL_SAMPLE = """
    SELECT pool_id, query_id, band, inclusion_probability,
           coalesce(list(document_id ORDER BY document_id) FILTER (sampled), []) AS drawn,
           coalesce(list(document_id ORDER BY document_id) FILTER (NOT sampled), []) AS not_drawn
    FROM pool_sample_pairs
    WHERE query_id IN (SELECT query_id FROM split_assignments WHERE split_id = ?)
    GROUP BY ALL ORDER BY pool_id, query_id, band
"""
_UNANSWERED = f"""
    WITH judged AS (SELECT query_id, document_id, annotator FROM counted_judgments WHERE {WITHIN}),
    asked AS (
        SELECT query_id, document_id, annotator, round_id, r.sequence, content_hash,
               content_hash IN (
                   SELECT s.content_hash FROM snapshot_documents s
                   WHERE s.snapshot_id = (SELECT value FROM settings WHERE name = 'corpus')) AS in_force
        FROM live_presentations p JOIN rounds r USING (round_id)
        LEFT JOIN presentation_states s USING (presentation_id)
        WHERE NOT coalesce(s.answered, false) AND p.duplicate_of IS NULL AND {WITHIN}
          AND NOT list_contains($kinds::TEXT[], r.kind))
    SELECT query_id, document_id, count(DISTINCT annotator)
    FROM asked ANTI JOIN judged USING (query_id, document_id, annotator)
    ANTI JOIN known_answers USING (round_id, query_id, document_id)
    WHERE NOT EXISTS (
        FROM relabeling_progress n
        WHERE n.query_id = asked.query_id AND n.document_id = asked.document_id
          AND n.whole AND n.sequence > asked.sequence
          AND (NOT asked.in_force OR list_contains(n.shown, asked.content_hash)))
    GROUP BY query_id, document_id
"""  # noqa: S608  a condition from code
_SYNTHETIC = """
    SELECT query_id, writer AS model, detail::TEXT AS detail,
           (SELECT arg_max(share, revision) FROM synthetic_draws d WHERE d.query_id = c.query_id) AS share
    FROM coverage_queries c JOIN queries USING (query_id) WHERE source = 'synthetic'
"""
_ANSWERS = "SELECT query_id, answers FROM current_reference_answers ORDER BY query_id"
_PERSONAL = """
    SELECT kind, sum(rows)::BIGINT AS rows FROM traffic_personal_data
    WHERE import_id IN (SELECT import_id FROM sample_logs WHERE sample_id = ?)
    GROUP BY kind ORDER BY kind
"""
_PEOPLE = "SELECT name, name FROM annotators UNION ALL SELECT email, annotator FROM identities"


class Rows(NamedTuple):
    """All that a release of one moment rests on; tables have the columns of the queries below.

    Attributes
    ----------
    sampled: query_id, stratum, traffic, inclusion_probability of the current sample.
    about_queries: query_id, segment, tags (ordered).
    logs: rows, left_out, first, last of each log that the current sample could be drawn from; first and last
        are the times of its rows, as text.
    personal: kind, rows: personal data found in these logs.
    answers: query_id, answers: the reference answers.
    synthetic: query_id, model, detail, share: the queries that language models wrote, and which share of all
        such queries people judge.
    people: every name and e-mail address by which the project knows somebody, with the annotator's name.
    guides: all that the project has, by hash.
    demand, all_imported: what the gate asks of the agreement.
    open_rounds: those under way that count.
    unanswered: pair → people who were asked about it and whose opinion does not count yet, though it would.
    marks: what people marked as evidence. newer: the documents whose text has changed since that.
    """

    labels: SplitLabels
    split_id: str
    split_parameters: str
    assigned: pa.Table
    edges: pa.Table
    judgments: pa.Table
    adjudications: pa.Table
    candidates: pa.Table
    pools: pa.Table
    samples: pa.Table
    sampled: pa.Table
    rounds: list[Round]
    guides: list[Guide]
    guide_hash: str
    grades: Grades
    repeats: list[Repeats]
    demand: Demand
    all_imported: bool
    about_queries: pa.Table
    logs: pa.Table
    personal: pa.Table
    people: dict[str, str]
    relabeled: RelabeledPairs
    answers: pa.Table
    nuggets: dict[str, tuple[Nugget, ...]]
    synthetic: pa.Table
    pool_sample: pa.Table
    open_rounds: list[RoundState]
    unanswered: dict[tuple[str, str], int]
    held: bool
    marks: ProjectMarks
    newer: dict[str, Document]


def read_rows(cursor: Cursor) -> Rows:
    """Read all that a release of this moment would hold.

    Raises
    ------
    RefusedError: there is no corpus or no split.
    """
    labels = read_labels(cursor)
    split_id = require_setting(cursor, "split", NO_SPLIT, HOW_TO_SPLIT)
    row = cursor.execute("SELECT parameters FROM splits WHERE split_id = ?", [split_id]).fetchone()
    if row is None:
        raise RefusedError(NO_SPLIT, command=HOW_TO_SPLIT)
    sample_id = get_setting(cursor, "sample")
    hashes = cursor.execute("SELECT guide_hash FROM guides ORDER BY guide_hash").fetchall()
    marks = read_marks(cursor, SHOWINGS)
    rows = Rows(
        labels=labels,
        split_id=split_id,
        split_parameters=row[0],
        assigned=_table(cursor, _ASSIGNED, [split_id]),
        edges=_table(cursor, _EDGES, [split_id]),
        judgments=_by_range(cursor, _JUDGMENTS, split_id),
        adjudications=_table(cursor, _ADJUDICATIONS, [split_id]),
        candidates=_by_range(cursor, _CANDIDATES, split_id),
        pools=_table(cursor, "SELECT pool_id, snapshot_id, parameters FROM pools ORDER BY pool_id"),
        samples=_table(cursor, _SAMPLES, [sample_id]),
        sampled=_table(cursor, _SAMPLED, [sample_id]),
        rounds=list_rounds(cursor),
        guides=[guide_by_hash(cursor, guide_hash) for (guide_hash,) in hashes],
        guide_hash=get_setting(cursor, "guide") or "",
        grades=read_grades(cursor, showings=SHOWINGS),
        repeats=read_repeats(cursor),
        demand=read_demand(cursor),
        all_imported=all_imported(cursor),
        about_queries=_table(cursor, _ABOUT_QUERIES),
        logs=_table(cursor, _LOGS, [sample_id]),
        personal=_table(cursor, _PERSONAL, [sample_id]),
        people=dict(cursor.execute(_PEOPLE).fetchall()),
        relabeled=read_relabeled(cursor),
        answers=_table(cursor, _ANSWERS),
        nuggets=read_nuggets(cursor),
        synthetic=_table(cursor, _SYNTHETIC),
        pool_sample=_table(cursor, _POOL_SAMPLE, [split_id]),
        open_rounds=[state for state in open_states(cursor) if state.kind not in NOT_COUNTED],
        unanswered=_unanswered(cursor),
        held=is_held(cursor),
        marks=marks,
        newer=newer_versions(cursor, marks),
    )
    give_back(cursor)
    return rows


def columns(table: pa.Table) -> Iterable[tuple[Any, ...]]:
    """The rows of a table as tuples."""
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def _table(cursor: Cursor, sql: str, parameters: Sequence[Any] = ()) -> pa.Table:
    return cursor.sql(sql, params=list(parameters)).to_arrow_table()


def _by_range(cursor: Cursor, sql: str, split_id: str) -> pa.Table:
    """The rows of a query about the split, range by range; each text is there once in a range.

    Ids and hashes are many times in such a table, and a number in their place takes a tenth of them.
    """
    return pa.concat_tables(list(map(_words_once, tables_by_range(cursor, sql, SHOWINGS, split=split_id))))


def _unanswered(cursor: Cursor) -> dict[tuple[str, str], int]:
    found = tables_by_range(cursor, _UNANSWERED, SHOWINGS, kinds=NOT_COUNTED)
    return {
        (query_id, document_id): people for table in found for query_id, document_id, people in columns(table)
    }


def _words_once(table: pa.Table) -> pa.Table:
    """A copy with texts as numbers; one column of the engine's own would keep the memory of all of them."""
    every = pa.array(np.arange(table.num_rows))
    columns = [
        column.dictionary_encode() if pa.types.is_string(column.type) else column.take(every)
        for column in table.columns
    ]
    return pa.table(columns, table.column_names)
