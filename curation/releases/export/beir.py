"""The export formats beir and leaderboard: a folder for BEIR's GenericDataLoader.

    corpus.jsonl, queries.jsonl, qrels/<part>.tsv, qrels/<part>.jsonl, evidence.jsonl

MTEB and the package `datasets` load the same folder by its README.md. Both read the qrels from
qrels/<part>.jsonl with the same rows, because in a table without types an id such as 007 becomes the number
7. The format leaderboard is the same folder without the grades of sealed parts, so anybody may have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from curation.releases.export.export_format import ExportFormat, Written
from curation.releases.export.files import json_line, name_splits, write_evidence, write_lines, write_table

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource

READERS = "BEIR, MTEB and sentence-transformers: corpus, queries and qrels of each part"
QRELS = ("query-id", "corpus-id", "score")
QUERY_FIELDS = ("stratum", "information_need", "filter")


def write_beir(folder: Path, source: ExportSource) -> Written:
    """Write the corpus, the queries of all parts, and the grades of the requested parts."""
    query_prefix, document_prefix = source.prefixes
    corpus = (
        {
            "_id": f"{document_prefix}{document.document_id}",
            "title": document.title,
            "text": document.body,
            "metadata": _drop_none(url=document.url, published=document.published, group=document.group_key),
        }
        for document in source.documents()
    )
    write_lines(folder / "corpus.jsonl", map(json_line, corpus))
    queries = (
        {
            "_id": f"{query_prefix}{query['query_id']}",
            "text": query["text"],
            "metadata": _drop_none(split=query["part"], **{name: query.get(name) for name in QUERY_FIELDS}),
        }
        for query in source.queries
    )
    write_lines(folder / "queries.jsonl", map(json_line, queries))
    (folder / "qrels").mkdir()
    files = {"corpus": {"corpus": "corpus.jsonl"}, "queries": {"queries": "queries.jsonl"}}
    for part, split in name_splits(source.parts).items():
        write_table(folder / "qrels" / f"{part}.tsv", QRELS, _walk_grades(source, part), "\t")
        files.setdefault("default", {})[split] = f"qrels/{part}.jsonl"
        objects = (dict(zip(QRELS, row, strict=True)) for row in _walk_grades(source, part))
        write_lines(folder / "qrels" / f"{part}.jsonl", map(json_line, objects))
    files |= write_evidence(folder, source, query_prefix.__add__, document_prefix.__add__)
    return Written(files, {"query_prefix": query_prefix, "document_prefix": document_prefix})


def _walk_grades(source: ExportSource, part: str) -> Iterator[tuple[str, str, int]]:
    query_prefix, document_prefix = source.prefixes
    for row in source.iterate_grades(part):
        yield f"{query_prefix}{row.query_id}", f"{document_prefix}{row.document_id}", row.grade


def _drop_none(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


BEIR = ExportFormat("beir", write_beir, readers=READERS)


LEADERBOARD = ExportFormat(
    "leaderboard",
    write_beir,
    note="beir without sealed grades",
    sealed_by_default=False,
    never_sealed=True,
    readers="Public use: like beir, but without the grades of sealed parts",
)
