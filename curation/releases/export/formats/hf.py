"""A Hugging Face data-set folder, which `datasets.load_dataset` and MTEB's retrieval loader take.

Three configs, all in Parquet: `corpus` and `queries` with one split each, and `default` (the name under which
MTEB looks for qrels) with a split for each part. README.md is the data-set card; its front matter names them.
Each config names the release: `datasets` would else take two folders of one name for the same data.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from curation.releases.export.formats.export_format import (
    ABOUT_QUERIES,
    ExportFormat,
    Written,
    split_names,
    write_parquet,
)

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource


CORPUS = ("_id", "title", "text")
QUERIES = ("_id", "text", "part", *ABOUT_QUERIES)
QRELS = ("query-id", "corpus-id", "score")
READING = (
    'gold = pd.read_parquet(f"qrels/{sys.argv[1]}.parquet")'
    '.merge(pd.read_parquet("queries/queries.parquet"), left_on="query-id", right_on="_id")'
    '.rename(columns={"query-id": "query_id", "corpus-id": "doc_id", "score": "relevance"})'
)


def write_hf(folder: Path, gold: ExportSource) -> Written:
    """Corpus, queries of all parts, and the grades that the gold has."""
    of_query, of_document = gold.prefixes
    corpus = (
        (f"{of_document}{document.document_id}", document.title, document.body) for document in gold.documents
    )
    queries = (
        (f"{of_query}{name}", query["text"], query["part"], *(query[column] for column in ABOUT_QUERIES))
        for name, query in sorted(gold.about.items())
    )
    files = {"corpus": {"corpus": "corpus/corpus.parquet"}, "queries": {"queries": "queries/queries.parquet"}}
    write_parquet(folder / files["corpus"]["corpus"], CORPUS, corpus)
    write_parquet(folder / files["queries"]["queries"], QUERIES, queries)
    for part, split in split_names(gold.parts).items():
        rows = (
            (f"{of_query}{row.query_id}", f"{of_document}{row.document_id}", row.grade, *row.about)
            for row in gold.judged(part)
        )
        files.setdefault("default", {})[split] = f"qrels/{split}.parquet"
        write_parquet(folder / files["default"][split], (*QRELS, *gold.about_grades), rows)
    return Written(files, {"query_prefix": of_query, "document_prefix": of_document})


HF = ExportFormat(
    "hf", write_hf, readers="Hugging Face datasets and MTEB, with a data-set card", reading=READING
)
