"""Small projects for the labeling tests, built through the store alone."""

from __future__ import annotations

from collections.abc import Mapping

from curation.labeling.annotators import add_annotator
from curation.store import Store, append, put_setting
from curation.text import digest

PASSWORD = "a long password"


def add_pairs(store: Store, pairs: Mapping[str, list[str]]) -> None:
    """Queries with their candidate documents; ids serve as texts."""
    documents = sorted({document for found in pairs.values() for document in found})
    hashes = [digest(document) for document in documents]
    rows = [(query, document) for query, found in pairs.items() for document in found]
    with store.transaction() as cursor:
        append(
            cursor,
            "documents",
            {
                "content_hash": hashes,
                "document_id": documents,
                "title": documents,
                "body": [f"The body of {document}." for document in documents],
                "metadata": ["{}"] * len(documents),
            },
        )
        snapshot = {"snapshot_id": ["now"] * len(documents), "document_id": documents, "content_hash": hashes}
        append(cursor, "snapshot_documents", snapshot)
        put_setting(cursor, "corpus", "now")
        queries = list(pairs)
        append(
            cursor,
            "queries",
            {
                "query_id": queries,
                "text": queries,
                "normalised": queries,
                "source": ["written"] * len(queries),
                "metadata": ["{}"] * len(queries),
            },
        )
        append(cursor, "candidates", {"query_id": [q for q, _ in rows], "document_id": [d for _, d in rows]})


def add_people(store: Store, *names: str) -> None:
    for name in names:
        add_annotator(store, name, "annotator", PASSWORD)


def grid(queries: int, documents: int) -> dict[str, list[str]]:
    """`queries` queries with `documents` candidates each."""
    return {f"query {q}": [f"document {q}.{d}" for d in range(documents)] for q in range(queries)}
