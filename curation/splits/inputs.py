"""Inputs of the search for ties between queries: the queries' texts, relevant documents, keys, times and
embeddings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.request import DEFAULT_MODEL
from curation.retrieval.embedding_model import Vectors
from curation.retrieval.embeddings import embed
from curation.retrieval.unread_texts import find_unread_texts
from curation.splits.query_keys import read_keys
from curation.splits.rules import GROUP, Rules
from curation.store import Cursor, Store
from curation.store.documents import group_keys

_TIMES = """
    SELECT q.query_id, min(t.time)
    FROM queries q JOIN traffic t USING (normalised)
    WHERE list_contains($queries, q.query_id) AND t.time IS NOT NULL
    GROUP BY q.query_id ORDER BY q.query_id
"""


@dataclass(frozen=True)
class SplitInputs:
    """The queries and documents among which ties are searched for.

    Attributes
    ----------
    queries: query id → text.
    relevant: query id → ids of its relevant documents; queries without relevant documents are absent.
    documents: id of a relevant document → its text.
    keys: query id → (kind, value), such as ('session', '4f1c…'), ('group', 'sku-9'), ('project', 'apollo').
    times: query id → when the query was first asked (UTC).
    vectors: unit vectors of the queries, shape (queries, d), in the order of their ids. A query that the
        model cannot read has a vector of zeros. None without embeddings.
    sealed: queries whose relevant documents people may not see.
    grouped: relevant documents with a group, if the rules tie groups. Similarity does not tie these
        documents.
    """

    queries: Mapping[str, str]
    relevant: Mapping[str, frozenset[str]]
    documents: Mapping[str, str]
    keys: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)
    times: Mapping[str, datetime] = field(default_factory=dict)
    vectors: Vectors | None = None
    sealed: frozenset[str] = frozenset()
    grouped: frozenset[str] = frozenset()

    @property
    def grouped_queries(self) -> frozenset[str]:
        """Return the queries that have a relevant document with a document group; empty if the split does not
        tie by document group."""
        relevant = self.relevant.items()
        return frozenset(name for name, documents in relevant if not self.grouped.isdisjoint(documents))

    @property
    def queries_of(self) -> dict[str, list[str]]:
        """Map each relevant document to its queries, both in order."""
        queries_of: dict[str, list[str]] = defaultdict(list)
        for query_id in sorted(self.relevant):
            for document_id in self.relevant[query_id]:
                queries_of[document_id].append(query_id)
        return {document_id: queries_of[document_id] for document_id in sorted(queries_of)}


def restrict_inputs(inputs: SplitInputs, members: Iterable[str]) -> SplitInputs:
    """Reduce the inputs of the search for ties to these queries."""
    query_ids = sorted(set(members) & set(inputs.queries))
    relevant = {query_id: inputs.relevant[query_id] for query_id in query_ids if query_id in inputs.relevant}
    documents = sorted(set().union(*relevant.values()))
    vectors = inputs.vectors
    if vectors is not None:
        row_of = {query_id: row for row, query_id in enumerate(sorted(inputs.queries))}
        vectors = vectors[[row_of[query_id] for query_id in query_ids]]
    return replace(
        inputs,
        queries={query_id: inputs.queries[query_id] for query_id in query_ids},
        relevant=relevant,
        documents={document_id: inputs.documents[document_id] for document_id in documents},
        keys={query_id: inputs.keys[query_id] for query_id in query_ids if query_id in inputs.keys},
        times={query_id: inputs.times[query_id] for query_id in query_ids if query_id in inputs.times},
        vectors=vectors,
        grouped=inputs.grouped & set(documents),
    )


def complete_inputs(
    store: Store, inputs: SplitInputs, rules: Rules, progress: Progress = silent, with_times: bool = False
) -> SplitInputs:
    """Add to the inputs the keys and embeddings that the rules need, and times if `with_times`.

    Raises
    ------
    InputError: no query or relevant document has a requested key.
    RefusedError: embeddings are missing and the model is not available.
    """
    if rules.keys or with_times:
        with store.reading() as cursor:
            keys = read_keys(cursor, list(inputs.queries), inputs.relevant, rules.keys)
            times = read_times(cursor, list(inputs.queries)) if with_times else {}
            grouped = group_keys(cursor, list(inputs.documents)) if GROUP in rules.keys else {}
        key_sets = {query_id: frozenset(pairs) for query_id, pairs in sorted(keys.items())}
        inputs = replace(inputs, keys=key_sets, times=times, grouped=frozenset(grouped))
    if rules.paraphrase is None or inputs.grouped_queries == set(inputs.queries):
        return inputs
    return replace(inputs, vectors=embed_queries(store, inputs.queries, rules.model, progress))


def embed_queries(
    store: Store, queries: Mapping[str, str], model: str = DEFAULT_MODEL, progress: Progress = silent
) -> Vectors:
    """Compute unit vectors of the query texts, shape (queries, d), ordered by query id.

    New embeddings are stored. A text in a language that the model cannot read has a vector of zeros.

    Parameters
    ----------
    queries: query id → text.

    Raises
    ------
    RefusedError, NotFoundError: vectors are missing and the model cannot be used.
    """
    texts = [queries[query_id] for query_id in sorted(queries)]
    try:
        vectors = embed(store, texts, "query", model, progress)
    except RefusedError as error:
        raise RefusedError(
            f"goldgrade cannot look for paraphrases among the queries: {getattr(error, 'found', error)} Or "
            "split without paraphrases. Similar spelling finds only about a fifth of the paraphrases.",
            command="--no-paraphrase splits without paraphrases.",
        ) from error
    vectors[find_unread_texts(texts, vectors, model)] = 0
    return vectors


def read_times(cursor: Cursor, queries: Sequence[str]) -> dict[str, datetime]:
    """Read when each query was first asked (UTC): query id → time. Queries without a known time are left out.

    A query is looked up in the query logs by its normalised text, so other spellings do not count.
    """
    return dict(cursor.execute(_TIMES, {"queries": list(queries)}).fetchall())
