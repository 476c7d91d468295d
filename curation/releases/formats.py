"""The formats of exports. Each writer puts its files into a folder and returns what it did to ids.

beir     corpus.jsonl (the whole pinned corpus), queries.jsonl, qrels/<part>.tsv. BEIR's evaluator drops a
         document whose id equals the query's: where the two share an id, all get a prefix.
trec     topics.tsv, qrels.txt with all parts, qrels.<part>.txt. TREC files are split at white space: in ids
         that have some it is percent-encoded, and ids.tsv has the table.
csv, parquet   one table: query_id, query_text, doc_id, relevance, split.

Bytes depend on the release only (Parquet's also on the version of pyarrow that writes them).
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from curation.store.rows import Document

COLUMNS = ("query_id", "query_text", "doc_id", "relevance", "split")
_SPACE = re.compile(r"[\s%]")


@dataclass(frozen=True)
class Gold:
    """A release's rows as the writers need them; `documents` can be walked once."""

    release_id: str
    parts: Sequence[str]
    queries: Sequence[Mapping[str, Any]]
    qrels: Sequence[Mapping[str, Any]]
    document_ids: Sequence[str]
    documents: Iterable[Document]

    def judged(self) -> Iterator[tuple[str, str, str, int, str]]:
        """Rows of `COLUMNS`, by query and document id."""
        queries = {query["query_id"]: query for query in self.queries}
        for row in self.qrels:
            query = queries[row["query_id"]]
            yield row["query_id"], query["text"], row["document_id"], row["grade"], query["part"]


def write_beir(folder: Path, gold: Gold) -> dict[str, Any]:
    clash = not {query["query_id"] for query in gold.queries}.isdisjoint(gold.document_ids)
    of_query, of_document = ("q-", "d-") if clash else ("", "")
    corpus = (
        {
            "_id": f"{of_document}{document.document_id}",
            "title": document.title,
            "text": document.body,
            "metadata": _present(url=document.url, published=document.published, group=document.group_key),
        }
        for document in gold.documents
    )
    _write_lines(folder / "corpus.jsonl", map(_json, corpus))
    queries = (
        {
            "_id": f"{of_query}{query['query_id']}",
            "text": query["text"],
            "metadata": _present(
                split=query["part"], stratum=query["stratum"], information_need=query["information_need"]
            ),
        }
        for query in gold.queries
    )
    _write_lines(folder / "queries.jsonl", map(_json, queries))
    (folder / "qrels").mkdir()
    for part in gold.parts:
        rows = [
            (f"{of_query}{query_id}", f"{of_document}{document_id}", grade)
            for query_id, _, document_id, grade, where in gold.judged()
            if where == part
        ]
        _write_table(folder / "qrels" / f"{part}.tsv", ("query-id", "corpus-id", "score"), rows, "\t")
    return {"query_prefix": of_query, "document_prefix": of_document}


def write_trec(folder: Path, gold: Gold) -> dict[str, Any]:
    queries = _without_space(query["query_id"] for query in gold.queries)
    documents = _without_space(row["document_id"] for row in gold.qrels)
    topics = (f"{queries[query['query_id']]}\t{' '.join(query['text'].split())}" for query in gold.queries)
    _write_lines(folder / "topics.tsv", topics)
    lines = [
        (part, f"{queries[query_id]} 0 {documents[document_id]} {grade}")
        for query_id, _, document_id, grade, part in gold.judged()
    ]
    _write_lines(folder / "qrels.txt", (line for _, line in lines))
    for part in gold.parts:
        _write_lines(folder / f"qrels.{part}.txt", (line for where, line in lines if where == part))
    mapped = [
        (kind, exported, original)
        for kind, ids in (("query", queries), ("document", documents))
        for original, exported in ids.items()
        if exported != original
    ]
    if mapped:
        _write_table(folder / "ids.tsv", ("kind", "exported", "original"), mapped, "\t")
    return {"mapped": len(mapped)}


def write_csv(folder: Path, gold: Gold) -> dict[str, Any]:
    _write_table(folder / "qrels.csv", COLUMNS, gold.judged(), ",")
    return {}


def write_parquet(folder: Path, gold: Gold) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.string()
    types = dict(zip(COLUMNS, (text, text, text, pa.int32(), text), strict=True))
    schema = pa.schema(types, metadata={"goldset_release_id": gold.release_id})
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in gold.judged()]
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(table, folder / "qrels.parquet", compression="zstd", version="2.6")
    return {}


FORMATS: dict[str, Callable[[Path, Gold], dict[str, Any]]] = {
    "beir": write_beir,
    "trec": write_trec,
    "csv": write_csv,
    "parquet": write_parquet,
}


def _without_space(ids: Iterable[str]) -> dict[str, str]:
    """Id → id without white space. Once one id has some, '%' is encoded in all: no two can meet."""
    known = sorted(set(ids))
    if not any(re.search(r"\s", name) for name in known):
        return {name: name for name in known}
    return {name: _SPACE.sub(lambda match: quote(match[0]), name) for name in known}


def _present(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def _write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], delimiter: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
