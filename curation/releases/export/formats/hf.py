"""A Hugging Face data-set folder, which `datasets.load_dataset` and MTEB's retrieval loader take.

Three configs, all in Parquet: `corpus` and `queries` with one split each, and `default` (the name under which
MTEB looks for qrels) with a split for each part. README.md is the data-set card; its front matter names them.
Each config names the release: `datasets` would else take two folders of one name for the same data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.releases.export.formats.export_format import ExportFormat, Written
from curation.store.release_parts import batched

if TYPE_CHECKING:
    from curation.releases.export.gold import Gold
    from curation.store import Document


CORPUS = ("_id", "title", "text")
QUERIES = ("_id", "text", "part", "stratum")
QRELS = ("query-id", "corpus-id", "score")
_LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]*")
_SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
)


def write_hf(folder: Path, gold: Gold) -> Written:
    """Corpus, queries of all parts, and the grades that the gold has."""
    of_query, of_document = gold.prefixes
    corpus = ((f"{of_document}{document.document_id}", *_text(document)) for document in gold.documents)
    queries = (
        (f"{of_query}{query['query_id']}", query["text"], query["part"], query["stratum"])
        for query in gold.queries
    )
    files = {"corpus": {"corpus": "corpus/corpus.parquet"}, "queries": {"queries": "queries/queries.parquet"}}
    _write(folder / files["corpus"]["corpus"], CORPUS, corpus)
    _write(folder / files["queries"]["queries"], QUERIES, queries)
    for part, split in split_names(gold.parts).items():
        rows = (
            (f"{of_query}{row.query_id}", f"{of_document}{row.document_id}", row.grade)
            for row in gold.judged(part)
        )
        files.setdefault("default", {})[split] = f"qrels/{split}.parquet"
        _write(folder / files["default"][split], QRELS, rows)
    write_readme(folder, gold, files)
    return Written({"query_prefix": of_query, "document_prefix": of_document})


def write_readme(folder: Path, gold: Gold, files: Mapping[str, Mapping[str, str]]) -> None:
    """The card under its front matter; `files` is config → split → path."""
    import yaml

    matter = yaml.safe_dump(front_matter(gold, files), sort_keys=False, allow_unicode=True)
    (folder / "README.md").write_text(f"---\n{matter}---\n\n{gold.card.text}", encoding="utf-8", newline="\n")


def front_matter(gold: Gold, files: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """What a data-set card says to machines; `files` is config → split → path."""
    licence = gold.options.licence
    named: dict[str, Any] = {"license": licence}
    if not _LICENCE.fullmatch(licence):
        named = {"license": "other", "license_name": licence}
    return {
        **named,
        "pretty_name": gold.name,
        "task_categories": ["text-retrieval"],
        "tags": ["goldset", f"release-{gold.release_id[:12]}"],
        "size_categories": [_size(len(gold.documents.ids))],
        "configs": [
            {
                "config_name": config,
                "description": f"release {gold.release_id}",  # `datasets` keys its cache by it and the folder
                "data_files": [{"split": split, "path": path} for split, path in splits.items()],
            }
            for config, splits in sorted(files.items())
        ],
    }


def split_names(parts: Iterable[str]) -> dict[str, str]:
    """Part → a name that `datasets` takes for a split: letters, digits and underscores, each its own."""
    names: dict[str, str] = {}
    for part in parts:
        name = re.sub(r"\W", "_", part)
        while name in names.values():
            name += "_"
        names[part] = name
    return names


def _text(document: Document) -> tuple[str, str]:
    return document.title, document.body


def _size(documents: int) -> str:
    return next((name for limit, name in _SIZES if documents < limit), "n>10M")


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A Parquet file, batch by batch; the column `score` is a 32-bit integer, all others are text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(exist_ok=True)
    schema = pa.schema([(name, pa.int32() if name == "score" else pa.string()) for name in columns])
    with pq.ParquetWriter(path, schema, compression="zstd", version="2.6") as writer:
        for batch in batched(rows):
            arrays = zip(*batch, strict=True)
            data = [pa.array(values, field.type) for values, field in zip(arrays, schema, strict=True)]
            writer.write_batch(pa.record_batch(data, schema=schema))


HF = ExportFormat("hf", write_hf, readers="Hugging Face datasets and MTEB, with a data-set card")
