"""A small judged project for the tests of what a pool is worth: documents, a query, runs and grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from curation.core.characters import normalise_query
from curation.core.digests import digest
from curation.core.request import DEFAULT_MODEL
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.run_import import import_run
from curation.labeling.imported import import_judgments
from curation.store import Store, append, append_rows
from tests.support.evaluated_project import write_run
from tests.support.gold_project import write_corpus


def put_texts(store: Store, folder: Path, texts: Mapping[str, str], queries: Mapping[str, str]) -> None:
    """Documents and queries: id → text."""
    documents = [{"id": key, "text": text} for key, text in texts.items()]
    asked = [{"id": key, "text": text} for key, text in queries.items()]
    import_corpus(store, write_corpus(folder / "documents.jsonl", documents))
    import_queries(store, write_corpus(folder / "queries.jsonl", asked))


def put_queries(store: Store, queries: Mapping[str, str]) -> None:
    """Queries alone: id → text."""
    rows = [(query_id, text, normalise_query(text)) for query_id, text in queries.items()]
    names = ("query_id", "text", "normalised")
    with store.transaction() as cursor:
        append_rows(cursor, "queries", rows, names, source="imported", metadata="{}")


def put_vectors(store: Store, kind: str, texts: Mapping[str, Sequence[float]]) -> None:
    """Stored vectors of the default model, of documents or queries: text → vector."""
    columns = {
        "model": [DEFAULT_MODEL] * len(texts),
        "text_hash": [digest(kind, text) for text in texts],
        "vector": [list(vector) for vector in texts.values()],
    }
    with store.transaction() as cursor:
        append(cursor, "embeddings", columns)


def put_run(store: Store, folder: Path, name: str, lists: Mapping[str, Sequence[str]]) -> None:
    """A run: query id → document ids, best first."""
    import_run(store, write_run(folder / f"{name}.trec", lists), name)


def judge(
    store: Store, folder: Path, grades: Mapping[tuple[str, str], int | str], annotator: str = "ada"
) -> None:
    """One annotator's grades: (query id, document id) → grade."""
    path = folder / f"{annotator}.csv"
    rows = [
        f"{query_id},{document_id},{annotator},{grade}" for (query_id, document_id), grade in grades.items()
    ]
    path.write_text("\n".join(["query,document,annotator,grade", *rows]) + "\n")
    import_judgments(store, path)
