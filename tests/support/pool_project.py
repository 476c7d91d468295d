"""A small judged project for the tests of what a pool is worth: documents, a query, runs and grades."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.run_import import import_run
from curation.labeling.judgments.imported import import_judgments
from curation.retrieval.index.array_files import read_arrays, write_arrays
from curation.retrieval.index.counting import counter
from curation.retrieval.index.stored import index_folder
from curation.store import Store


def put_texts(store: Store, folder: Path, texts: Mapping[str, str], queries: Mapping[str, str]) -> None:
    """Documents and queries: id → text."""
    for name, items in (("documents", texts), ("queries", queries)):
        lines = [json.dumps({"id": key, "text": text}) for key, text in items.items()]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    import_corpus(store, folder / "documents.jsonl")
    import_queries(store, folder / "queries.jsonl")


def put_run(store: Store, folder: Path, name: str, lists: Mapping[str, Sequence[str]]) -> None:
    """A run: query id → document ids, best first."""
    path = folder / f"{name}.trec"
    lines = [
        f"{query_id} Q0 {document_id} {rank} {100 - rank} {name}"
        for query_id, document_ids in lists.items()
        for rank, document_id in enumerate(document_ids, 1)
    ]
    path.write_text("\n".join(lines) + "\n")
    import_run(store, path, name)


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


def break_index(store: Store) -> None:
    """Put counts of words as no document has them into files that are whole."""
    for path in index_folder(store.path).glob("*.counts"):
        held = read_arrays(path, counter())
        assert held is not None
        write_arrays(path, counter(), held | {"counts": held["counts"] + 1})
