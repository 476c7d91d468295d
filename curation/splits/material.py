"""What a split is made from: the graded queries, their relevant documents, and their strata.

`read_labels` brings the rows out of the file in one turn, `graded` makes of them what they mean.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from curation.agreement.consensus import Consensus, Votes, read_votes
from curation.errors import InputError
from curation.labeling.guides import current_guide
from curation.sources.corpus import current_snapshot
from curation.sources.queries import active_queries
from curation.store import Cursor, get_setting
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


class Labels(NamedTuple):
    """The rows that a split is made from, as they were read.

    Attributes
    ----------
    scale: the values of the guide in force, ascending.
    votes: what `agreement.consensus.settled` takes.
    snapshot: document_id, content_hash of the current corpus, ordered.
    documents: document_id, title, body of all that somebody found relevant.
    strata: query id → stratum of the current sample.
    """

    scale: tuple[int, ...]
    relevant_grade: int
    queries: list[Query]
    votes: Votes
    snapshot_id: str
    snapshot: pa.Table
    documents: pa.Table
    strata: Mapping[str, str]


def read_labels(cursor: Cursor, relevant_grade: int | None = None) -> Labels:
    """Read what a split is made from; without a grade, all above the scale's lowest are relevant.

    Raises
    ------
    InputError: the relevant grade is not on the scale, or is its lowest.
    RefusedError: the project has no corpus.
    """
    scale = current_guide(cursor).values
    grade = _checked(relevant_grade, scale)
    snapshot = current_snapshot(cursor)
    sampled = cursor.execute(
        "SELECT query_id, stratum FROM sample_queries WHERE sample_id = ?", [get_setting(cursor, "sample")]
    ).fetchall()
    documents = cursor.sql(
        "SELECT document_id, content_hash FROM snapshot_documents WHERE snapshot_id = ? ORDER BY document_id",
        params=[snapshot],
    ).to_arrow_table()
    relevant = _relevant(cursor, snapshot, grade)
    queries, votes = active_queries(cursor), read_votes(cursor)
    return Labels(scale, grade, queries, votes, snapshot, documents, relevant, dict(sampled))


def graded(labels: Labels, standing: Consensus) -> Graded:
    """What the labels mean for a split; `standing` is where their votes settled."""
    queries = {query.query_id: query for query in labels.queries}
    documents = set(labels.snapshot["document_id"].to_pylist())
    pairs = [pair for pair in standing.pairs if pair.grade is not None]
    known = [pair for pair in pairs if pair.document_id in documents and pair.query_id in queries]
    texts = {pair.query_id: queries[pair.query_id].text for pair in known}
    relevant: dict[str, set[str]] = defaultdict(set)
    for pair in known:
        if pair.grade is not None and pair.grade >= labels.relevant_grade:
            relevant[pair.query_id].add(pair.document_id)
    gone = sum(pair.document_id not in documents for pair in pairs)
    left_out = {
        "query without a grade": len(queries) - len(texts),
        "graded pair whose document is not in the current corpus": gone,
        "graded pair whose query is not in the current sample": len(pairs) - len(known) - gone,
    }
    return Graded(
        _material(texts, relevant, labels.documents),
        {query_id: labels.strata.get(query_id, queries[query_id].source) for query_id in sorted(texts)},
        labels.relevant_grade,
        {reason: count for reason, count in left_out.items() if count},
    )


def _material(texts: Mapping[str, str], relevant: Mapping[str, set[str]], documents: pa.Table) -> Material:
    wanted = set().union(*relevant.values())
    rows = zip(*(column.to_pylist() for column in documents.columns), strict=True)
    found = {name: Document(name, "", title, body).text for name, title, body in rows if name in wanted}
    return Material(
        dict(sorted(texts.items())),
        {query_id: frozenset(relevant[query_id]) for query_id in sorted(relevant)},
        dict(sorted(found.items())),
    )


def _relevant(cursor: Cursor, snapshot: str, grade: int) -> pa.Table:
    """The documents of the corpus that somebody graded so high: all that can be relevant, and few others."""
    return cursor.sql(
        """
        SELECT s.document_id, d.title, d.body
        FROM snapshot_documents s JOIN documents d USING (content_hash)
        WHERE s.snapshot_id = $snapshot AND s.document_id IN (
            SELECT document_id FROM current_judgments WHERE grade >= $grade
            UNION SELECT document_id FROM adjudications WHERE grade >= $grade)
        """,
        params={"snapshot": snapshot, "grade": grade},
    ).to_arrow_table()


def _checked(relevant_grade: int | None, scale: tuple[int, ...]) -> int:
    if relevant_grade is None:
        return scale[1]
    if relevant_grade not in scale[1:]:
        choices = ", ".join(map(str, scale[1:]))
        raise InputError(
            f"--relevant-grade {relevant_grade}: expected a grade above the scale's lowest: {choices}"
        )
    return relevant_grade
