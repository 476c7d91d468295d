"""What a split is made from: the graded queries, their relevant documents, and their strata."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from curation.agreement.consensus import consensus
from curation.errors import InputError
from curation.labeling.guides import current_guide
from curation.sources.corpus import current_snapshot
from curation.sources.queries import active_queries
from curation.store import Cursor, fetch, get_setting
from curation.store.rows import Document, Query


@dataclass(frozen=True)
class Material:
    """What leakage is looked for in.

    Attributes
    ----------
    queries: query id → text.
    relevant: query id → ids of its relevant documents; queries without any are absent.
    documents: id of a relevant document → its text.
    """

    queries: Mapping[str, str]
    relevant: Mapping[str, frozenset[str]]
    documents: Mapping[str, str]

    @property
    def queries_of(self) -> dict[str, list[str]]:
        """Relevant document → the queries that it is relevant to, both ordered."""
        found: dict[str, list[str]] = defaultdict(list)
        for query_id in sorted(self.relevant):
            for document_id in self.relevant[query_id]:
                found[document_id].append(query_id)
        return {document_id: found[document_id] for document_id in sorted(found)}


@dataclass(frozen=True)
class Graded:
    """The project's queries with a consensus grade on a document of the current corpus.

    Attributes
    ----------
    material: their texts and relevant documents.
    strata: query id → stratum of the current sample, or its source ('imported', 'written').
    relevant_grade: the least grade that counted as relevant.
    left_out: reason → number.
    """

    material: Material
    strata: Mapping[str, str]
    relevant_grade: int
    left_out: dict[str, int]


def read_graded(cursor: Cursor, relevant_grade: int | None = None) -> Graded:
    """Read what a split is made from; without a grade, all above the scale's lowest are relevant.

    Raises
    ------
    InputError: the relevant grade is not on the scale, or is its lowest.
    RefusedError: the project has no corpus.
    """
    grade = _checked(relevant_grade, current_guide(cursor).values)
    queries = {query.query_id: query for query in active_queries(cursor)}
    pairs = [pair for pair in consensus(cursor).pairs if pair.grade is not None]
    documents = _documents(cursor, sorted({pair.document_id for pair in pairs}))
    known = [pair for pair in pairs if pair.document_id in documents and pair.query_id in queries]
    texts = {pair.query_id: queries[pair.query_id].text for pair in known}
    relevant: dict[str, set[str]] = defaultdict(set)
    for pair in known:
        if pair.grade is not None and pair.grade >= grade:
            relevant[pair.query_id].add(pair.document_id)
    found = {query_id: frozenset(relevant[query_id]) for query_id in sorted(relevant)}
    wanted = sorted(set().union(*found.values()))
    left_out = {
        "query without a grade": len(queries) - len(texts),
        "graded pair whose document is not in the current corpus": sum(
            pair.document_id not in documents for pair in pairs
        ),
        "graded pair whose query is not in the current sample": sum(
            pair.query_id not in queries and pair.document_id in documents for pair in pairs
        ),
    }
    return Graded(
        Material(dict(sorted(texts.items())), found, {name: documents[name] for name in wanted}),
        strata_of(cursor, [queries[query_id] for query_id in sorted(texts)]),
        grade,
        {reason: count for reason, count in left_out.items() if count},
    )


def strata_of(cursor: Cursor, queries: list[Query]) -> dict[str, str]:
    """Query id → its stratum in the current sample, else its source."""
    rows = cursor.execute(
        "SELECT query_id, stratum FROM sample_queries WHERE sample_id = ?", [get_setting(cursor, "sample")]
    ).fetchall()
    sampled = dict(rows)
    return {query.query_id: sampled.get(query.query_id, query.source) for query in queries}


def _checked(relevant_grade: int | None, scale: tuple[int, ...]) -> int:
    if relevant_grade is None:
        return scale[1]
    if relevant_grade not in scale[1:]:
        choices = ", ".join(map(str, scale[1:]))
        raise InputError(
            f"--relevant-grade {relevant_grade}: expected a grade above the scale's lowest: {choices}"
        )
    return relevant_grade


def _documents(cursor: Cursor, ids: list[str]) -> dict[str, str]:
    """Those of the documents that the current corpus has: id → text."""
    rows = fetch(
        cursor,
        Document,
        """
        SELECT s.document_id, content_hash, d.title, d.body
        FROM snapshot_documents s JOIN documents d USING (content_hash)
        WHERE s.snapshot_id = ? AND s.document_id IN (SELECT unnest(?::TEXT[]))
        """,
        [current_snapshot(cursor), ids],
    )
    return {document.document_id: document.text for document in rows}
