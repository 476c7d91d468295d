"""The hf export format: Parquet files for `datasets.load_dataset` and MTEB's retrieval loader.

The folder has three configs: `corpus` and `queries` with one split each, and `default` with a split for each
part. MTEB looks for qrels under the name `default`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from curation.releases.export.beir import QRELS
from curation.releases.export.export_format import ExportFormat, Written
from curation.releases.export.files import QUERY_COLUMNS, name_splits, write_parquet

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource

READERS = "Hugging Face datasets and MTEB, with a data-set card"
CORPUS = ("_id", "title", "text")
QUERIES = ("_id", "text", "part", *QUERY_COLUMNS)
READING = (
    'gold = pd.read_parquet(f"qrels/{sys.argv[1]}.parquet")'
    '.merge(pd.read_parquet("queries/queries.parquet"), left_on="query-id", right_on="_id")'
    '.rename(columns={"query-id": "query_id", "corpus-id": "doc_id", "score": "relevance"})'
)


def write_hf(folder: Path, source: ExportSource) -> Written:
    """Write the corpus, the queries of all parts, and the grades of the requested parts."""
    query_prefix, document_prefix = source.prefixes
    corpus = ((f"{document_prefix}{row.document_id}", row.title, row.body) for row in source.documents())
    queries = (
        (f"{query_prefix}{name}", query["text"], query["part"], *(query[column] for column in QUERY_COLUMNS))
        for name, query in sorted(source.query_rows.items())
    )
    files = {"corpus": {"corpus": "corpus/corpus.parquet"}, "queries": {"queries": "queries/queries.parquet"}}
    write_parquet(folder / files["corpus"]["corpus"], CORPUS, corpus)
    write_parquet(folder / files["queries"]["queries"], QUERIES, queries)
    for part, split in name_splits(source.parts).items():
        rows = (
            (f"{query_prefix}{row.query_id}", f"{document_prefix}{row.document_id}", row.grade, *row.extras)
            for row in source.iterate_grades(part)
        )
        files.setdefault("default", {})[split] = f"qrels/{split}.parquet"
        write_parquet(folder / files["default"][split], (*QRELS, *source.extra_columns), rows)
    return Written(files, {"query_prefix": query_prefix, "document_prefix": document_prefix})


HF = ExportFormat("hf", write_hf, readers=READERS, reading=READING)
