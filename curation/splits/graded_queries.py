"""A project's graded queries, which are split, with their relevant documents and strata.

`read_labels` reads the rows in one lease of the database, and `collect_graded_queries` finds the grades by
the consensus of the votes.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from curation.core.errors import InputError, RefusedError
from curation.guides.guide import current_guide
from curation.ingest.filters import find_outside_pairs
from curation.ingest.importers.queries import read_active_queries
from curation.labeling.consensus.consensus import PairConsensus, compute_consensus
from curation.labeling.consensus.votes import Votes, read_votes
from curation.people.seal_access import read_closed_access
from curation.queries.sampling.strata import STRATUM_SEPARATOR
from curation.splits.inputs import SplitInputs
from curation.store import Cursor, Document, Query, get_setting
from curation.store.documents import current_snapshot, snapshot_texts
from curation.store.query_ranges import MAX_PRESENTATIONS

_RELEVANT = """
    SELECT document_id FROM current_judgments WHERE grade >= $grade
    UNION SELECT document_id FROM adjudications WHERE grade >= $grade
"""
"""SQL for the documents with at least one vote that is high enough for a relevant document."""


@dataclass(frozen=True)
class GradedQueries:
    """The project's queries that have a consensus grade on a document of the current corpus.

    Attributes
    ----------
    inputs: the texts and relevant documents of the queries.
    levels: query id → (dimension, level) in which parts should be alike: 'stratum' of the current sample (or
        the source of a query that the sample did not draw), each dimension that the sample crossed, 'source',
        and 'tag' for each tag of the query.
    relevant_grade: the lowest grade of a relevant document.
    corpus: the hash of the corpus.
    left_out: reason → number.
    grades: query id → number of its documents in the corpus that have a grade.
    """

    inputs: SplitInputs
    levels: Mapping[str, frozenset[tuple[str, str]]]
    relevant_grade: int
    corpus: str
    left_out: dict[str, int]
    grades: Mapping[str, int] = field(default_factory=dict)


class SplitLabels(NamedTuple):
    """The rows of a project from which a split is made.

    Attributes
    ----------
    scale: the grades of the current guide, ascending.
    votes: the votes for `labeling.consensus.consensus.compute_consensus`.
    snapshot: document_id, content_hash of the current corpus, in order.
    documents: document_id, title, body of all documents that somebody found relevant.
    strata: query id → stratum of the current sample.
    crossed: the dimensions of the strata.
    outside: pairs of query id and document id that the filter of a query excludes.
    """

    scale: tuple[int, ...]
    relevant_grade: int
    queries: list[Query]
    votes: Votes
    snapshot_id: str
    snapshot: pa.Table
    documents: pa.Table
    strata: Mapping[str, str]
    crossed: tuple[str, ...]
    tags: pa.Table
    sealed: frozenset[str]
    outside: Collection[tuple[str, str]]


def read_labels(cursor: Cursor, relevant_grade: int | None = None) -> SplitLabels:
    """Read the rows from which a split is made. By default, all grades above the lowest are relevant.

    Raises
    ------
    InputError: the relevant grade is not on the scale of grades, or is the lowest grade of the scale.
    RefusedError: the project has no corpus.
    """
    scale = current_guide(cursor).values
    grade = scale[1] if relevant_grade is None else relevant_grade
    if grade not in scale[1:]:
        choices = ", ".join(map(str, scale[1:]))
        raise InputError(
            f"The lowest relevant grade is {grade}; expected a grade above the lowest grade "
            f"of the scale: {choices}"
        )
    snapshot = current_snapshot(cursor)
    sample_id = get_setting(cursor, "sample")
    strata_sql = "SELECT query_id, stratum FROM sample_queries WHERE sample_id = ?"
    samples = cursor.execute("SELECT parameters FROM samples WHERE sample_id = ?", [sample_id]).fetchall()
    documents = cursor.sql(
        "SELECT document_id, content_hash FROM snapshot_documents WHERE snapshot_id = ? ORDER BY document_id",
        params=[snapshot],
    ).to_arrow_table()
    relevant = cursor.execute(_RELEVANT, {"grade": grade}).fetchall()
    return SplitLabels(
        scale=scale,
        relevant_grade=grade,
        queries=read_active_queries(cursor),
        votes=read_votes(cursor, batch_size=MAX_PRESENTATIONS),
        snapshot_id=snapshot,
        snapshot=documents,
        documents=snapshot_texts(cursor, snapshot, [document_id for (document_id,) in relevant]),
        strata=dict(cursor.execute(strata_sql, [sample_id]).fetchall()),
        crossed=tuple(json.loads(samples[0][0]).get("strata", ())) if samples else (),
        tags=cursor.sql("SELECT query_id, tag FROM current_query_tags ORDER BY ALL").to_arrow_table(),
        sealed=read_closed_access(cursor).closed,
        outside=find_outside_pairs(cursor),
    )


def find_graded_queries(labels: SplitLabels) -> GradedQueries:
    """Collect the project's graded queries, with grades from the consensus of annotators' votes.

    Raises
    ------
    RefusedError: no query has a grade.
    """
    graded = collect_graded_queries(labels, compute_consensus(labels.votes))
    if not graded.inputs.queries:
        raise RefusedError(
            "No query has a grade yet, so there is nothing to split. First judge some pairs. A disputed pair "
            "counts only after a reviewer's decision.",
            command="`goldgrade app` serves the pages for judging. `goldgrade import judgments PATH` imports "
            "judgments.",
        )
    return graded


def collect_graded_queries(labels: SplitLabels, pairs: Iterable[PairConsensus]) -> GradedQueries:
    """Collect the graded queries of a split. `pairs` yields the consensus grade of each pair once."""
    queries = {query.query_id: query for query in labels.queries}
    corpus_ids = set(labels.snapshot["document_id"].to_pylist())
    relevant: dict[str, set[str]] = defaultdict(set)
    grades: Counter[str] = Counter()
    without_document = without_query = 0
    for pair in pairs:
        if pair.grade is None:
            continue
        if pair.document_id not in corpus_ids:
            without_document += 1
        elif pair.query_id not in queries:
            without_query += 1
        else:
            grades[pair.query_id] += 1
            if pair.grade >= labels.relevant_grade and pair[:2] not in labels.outside:
                relevant[pair.query_id].add(pair.document_id)
    left_out = {
        "query without a grade": len(queries) - len(grades),
        "graded pair whose document is not in the current corpus": without_document,
        "graded pair whose query is not in the current sample": without_query,
    }
    graded = {query_id: queries[query_id] for query_id in sorted(grades)}
    relevant_ids = set().union(*relevant.values())
    rows = zip(*(column.to_pylist() for column in labels.documents.columns), strict=True)
    documents = [Document(document_id, "", title, body) for document_id, title, body in rows]
    texts = {row.document_id: row.text for row in documents if row.document_id in relevant_ids}
    return GradedQueries(
        inputs=SplitInputs(
            queries={query_id: query.text for query_id, query in graded.items()},
            relevant={query_id: frozenset(relevant[query_id]) for query_id in sorted(relevant)},
            documents=dict(sorted(texts.items())),
            sealed=labels.sealed,
        ),
        levels=_find_levels(graded, labels),
        relevant_grade=labels.relevant_grade,
        corpus=labels.snapshot_id,
        left_out={reason: count for reason, count in left_out.items() if count},
        grades=grades,
    )


def _find_levels(queries: Mapping[str, Query], labels: SplitLabels) -> dict[str, frozenset[tuple[str, str]]]:
    levels: dict[str, set[tuple[str, str]]] = {query_id: set() for query_id in queries}
    for query_id, query in queries.items():
        stratum = labels.strata.get(query_id, query.source)
        levels[query_id] |= {("stratum", stratum), ("source", query.source)}
        values = stratum.split(STRATUM_SEPARATOR)
        if query_id in labels.strata and 1 < len(values) == len(labels.crossed):
            levels[query_id] |= set(zip(labels.crossed, values, strict=True))
    for query_id, tag in zip(*(column.to_pylist() for column in labels.tags.columns), strict=True):
        if query_id in levels:
            levels[query_id].add(("tag", tag))
    return {query_id: frozenset(pairs) for query_id, pairs in levels.items()}
