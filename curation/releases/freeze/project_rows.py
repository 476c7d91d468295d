"""The project's rows for a release, read in one lease of the database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from curation.agreement.fast_answers import AnswerPace, read_paces
from curation.agreement.gate import Demand, has_only_imports, read_demand
from curation.agreement.grades import Grades, read_grades
from curation.agreement.intra_annotator import Repeats, read_repeats
from curation.core.errors import RefusedError
from curation.guides.guide import Guide, load_guide
from curation.ingest.importers.nuggets import Nugget, read_nuggets
from curation.labeling.consensus.marks import ProjectMarks, read_marks, read_newer_versions
from curation.labeling.rounds.round_states import RoundState, read_open_states
from curation.labeling.rounds.rounds import list_rounds
from curation.releases.freeze.relabeled_pairs import read_relabeled_pairs, read_relabeling_fields
from curation.splits.graded_queries import SplitLabels, read_labels
from curation.store import Cursor, Document, Round, get_setting, require_setting
from curation.store.documents import is_held
from curation.store.query_ranges import MAX_PRESENTATIONS, WITHIN, read_by_range, release_memory

NOT_COUNTED = ("pilot", "practice")
"""Kinds of rounds whose judgments never count."""

NO_SPLIT = "There is no split yet. First make a split."
HOW_TO_SPLIT = "`goldgrade split` makes a split."
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
_ABOUT_QUERIES = """
    SELECT q.query_id, metadata->>'segment' AS segment, coalesce(t.tags, []) AS tags,
           coalesce(s.stratum, source) AS stratum, s.traffic, s.inclusion_probability,
           CASE WHEN source = 'synthetic' THEN writer END AS model, c.detail::TEXT AS detail,
           (SELECT arg_max(share, revision) FROM synthetic_draws d WHERE d.query_id = q.query_id) AS share,
           k.matches
    FROM queries q
    LEFT JOIN (SELECT query_id, list(tag ORDER BY tag) AS tags FROM current_query_tags GROUP BY query_id) t
        USING (query_id)
    LEFT JOIN (FROM sample_queries WHERE sample_id = ?) s USING (query_id)
    LEFT JOIN coverage_queries c USING (query_id)
    LEFT JOIN (
        SELECT query_id, list({'file': file, 'what': what, 'similarity': similarity}) AS matches
        FROM (SELECT query_id, file, what, max(similarity) AS similarity FROM current_contamination
              GROUP BY ALL ORDER BY ALL)
        GROUP BY query_id) k USING (query_id)
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
_ANSWERS = "SELECT query_id, answers FROM current_reference_answers ORDER BY query_id"
_PERSONAL = """
    SELECT kind, sum(rows)::BIGINT AS rows FROM traffic_personal_data
    WHERE import_id IN (SELECT import_id FROM sample_logs WHERE sample_id = ?)
    GROUP BY kind ORDER BY kind
"""
_PEOPLE = "SELECT name, name FROM annotators UNION ALL SELECT email, annotator FROM identities"


@dataclass(frozen=True)
class Split:
    """The current split; `parts` and `groups` are by query id."""

    split_id: str
    parameters: dict[str, Any]
    parts: Mapping[str, str]
    groups: Mapping[str, str]


class ProjectRows(NamedTuple):
    """All rows of a project that a release needs. The tables have the columns of this module's SQL queries.

    Attributes
    ----------
    about_queries: what is known about each query: its segment and tags (in order), how the current sample
        drew the query, and, where a language model wrote the query, the model, its detail, and the share of
        such queries that people judge.
    logs: rows, left_out, first, last of each log of the current sample; first and last are the times of the
        earliest and latest row, as text.
    personal: kind, rows: the personal data that these logs had.
    answers: query_id, answers: the reference answers.
    people: every name and e-mail address by which the project knows somebody, with the annotator's name.
    guides: all guides of the project, by hash.
    demand, all_imported: the agreement that the gate demands, and whether all judgments were imported.
    relabelings: the fields of the release's header about re-labelings; empty without a re-labeling.
    relabeled: query id, document id, quarter and change of each pair that everybody who was asked judged
        again, by ids. A pair whose grade is about a different text than its re-labelings showed is absent.
    retired: query id → the reason why the query was retired.
    open_rounds: the open rounds that count.
    paces: the pace of each annotator.
    unanswered: pair → number of people who were asked about the pair and have not given their opinion.
    marks: the evidence that people marked.
    newer: the documents whose text has changed since people marked evidence.
    """

    labels: SplitLabels
    split: Split
    edges: pa.Table
    judgments: pa.Table
    adjudications: pa.Table
    candidates: pa.Table
    pools: pa.Table
    samples: pa.Table
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
    relabelings: dict[str, Any]
    relabeled: list[tuple[str, str, str, str]]
    retired: dict[str, str]
    answers: pa.Table
    nuggets: dict[str, tuple[Nugget, ...]]
    pool_sample: pa.Table
    open_rounds: list[RoundState]
    paces: tuple[AnswerPace, ...]
    unanswered: dict[tuple[str, str], int]
    has_only_engine_documents: bool
    marks: ProjectMarks
    newer: dict[str, Document]


def read_rows(cursor: Cursor) -> ProjectRows:
    """Read all rows for a release of the current labels.

    Raises
    ------
    RefusedError: there is no corpus or no split.
    """
    labels = read_labels(cursor)
    split = _read_split(cursor)
    split_id = split.split_id
    retired = dict(cursor.execute("SELECT query_id, reason FROM retired_queries").fetchall())
    relabelings = read_relabeling_fields(cursor, retired)
    sample_id = get_setting(cursor, "sample")
    hashes = cursor.execute("SELECT guide_hash FROM guides ORDER BY guide_hash").fetchall()
    marks = read_marks(cursor, MAX_PRESENTATIONS)
    rows = ProjectRows(
        labels=labels,
        split=split,
        edges=_read_table(cursor, _EDGES, [split_id]),
        judgments=_read_by_range(cursor, _JUDGMENTS, split_id),
        adjudications=_read_table(cursor, _ADJUDICATIONS, [split_id]),
        candidates=_read_by_range(cursor, _CANDIDATES, split_id),
        pools=_read_table(cursor, "SELECT pool_id, snapshot_id, parameters FROM pools ORDER BY pool_id"),
        samples=_read_table(cursor, _SAMPLES, [sample_id]),
        rounds=list_rounds(cursor),
        guides=[load_guide(cursor, guide_hash) for (guide_hash,) in hashes],
        guide_hash=get_setting(cursor, "guide") or "",
        grades=read_grades(cursor, showings=MAX_PRESENTATIONS),
        repeats=read_repeats(cursor),
        demand=read_demand(cursor),
        all_imported=has_only_imports(cursor),
        about_queries=_read_table(cursor, _ABOUT_QUERIES, [sample_id]),
        logs=_read_table(cursor, _LOGS, [sample_id]),
        personal=_read_table(cursor, _PERSONAL, [sample_id]),
        people=dict(cursor.execute(_PEOPLE).fetchall()),
        relabelings=relabelings,
        relabeled=read_relabeled_pairs(cursor) if "relabeled" in relabelings else [],  # saves 20 ms
        retired=retired,
        answers=_read_table(cursor, _ANSWERS),
        nuggets=read_nuggets(cursor),
        pool_sample=_read_table(cursor, _POOL_SAMPLE, [split_id]),
        open_rounds=[state for state in read_open_states(cursor) if state.kind not in NOT_COUNTED],
        paces=read_paces(cursor, None),
        unanswered=_read_unanswered(cursor),
        has_only_engine_documents=is_held(cursor),
        marks=marks,
        newer=read_newer_versions(cursor, marks),
    )
    release_memory(cursor)
    return rows


def iterate_rows(table: pa.Table) -> Iterable[tuple[Any, ...]]:
    """Yield the rows of an Arrow table as tuples."""
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def _read_table(cursor: Cursor, sql: str, parameters: Sequence[Any] = ()) -> pa.Table:
    return cursor.sql(sql, params=list(parameters)).to_arrow_table()


def _read_by_range(cursor: Cursor, sql: str, split_id: str) -> pa.Table:
    """Read the rows of an SQL query range by range, storing each text only once per range.

    The rows repeat ids and hashes, and a number takes a tenth of the memory of a text.
    """
    return pa.concat_tables(list(map(_encode, read_by_range(cursor, sql, MAX_PRESENTATIONS, split=split_id))))


def _read_unanswered(cursor: Cursor) -> dict[tuple[str, str], int]:
    tables = read_by_range(cursor, _UNANSWERED, MAX_PRESENTATIONS, kinds=NOT_COUNTED)
    return {(query, document): people for table in tables for query, document, people in iterate_rows(table)}


def _encode(table: pa.Table) -> pa.Table:
    """Copy an Arrow table with numbers instead of repeated texts.

    A column without a copy would keep DuckDB's memory.
    """
    all_rows = pa.array(np.arange(table.num_rows))
    columns = [
        column.dictionary_encode() if pa.types.is_string(column.type) else column.take(all_rows)
        for column in table.columns
    ]
    return pa.table(columns, table.column_names)


def _read_split(cursor: Cursor) -> Split:
    split_id = require_setting(cursor, "split", NO_SPLIT, HOW_TO_SPLIT)
    row = cursor.execute("SELECT parameters FROM splits WHERE split_id = ?", [split_id]).fetchone()
    if row is None:
        raise RefusedError(NO_SPLIT, command=HOW_TO_SPLIT)
    assigned = cursor.execute(_ASSIGNED, [split_id]).fetchall()
    parts = {query_id: part for query_id, part, _ in assigned}
    groups = {query_id: group for query_id, _, group in assigned}
    return Split(split_id, json.loads(row[0]), parts, groups)
