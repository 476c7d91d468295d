"""One table of all grades, as CSV and as Parquet: query_id, query_text, doc_id, relevance, split."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from curation.releases.export.formats.export_format import ExportFormat, Written, write_table
from curation.store.release_parts import batched

if TYPE_CHECKING:
    from curation.releases.export.gold import Gold


COLUMNS = ("query_id", "query_text", "doc_id", "relevance", "split")


def write_csv(folder: Path, gold: Gold) -> Written:
    """qrels.csv."""
    write_table(folder / "qrels.csv", COLUMNS, gold.judged(), ",")
    return Written()


CSV = ExportFormat("csv", write_csv, readers="Spreadsheets and people: a row for each grade")


def write_parquet(folder: Path, gold: Gold) -> Written:
    """qrels.parquet; the release id is in the schema's metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.string()
    types = dict(zip(COLUMNS, (text, text, text, pa.int32(), text), strict=True))
    schema = pa.schema(types, metadata={"goldset_release_id": gold.release_id})
    batches = (
        pa.record_batch(list(map(list, zip(*batch, strict=True))), schema=schema)
        for batch in batched(gold.judged())
    )
    table = pa.Table.from_batches(batches, schema).combine_chunks()  # chunks would be other pages
    pq.write_table(table, folder / "qrels.parquet", compression="zstd", version="2.6")
    return Written()


PARQUET = ExportFormat(
    "parquet", write_parquet, readers="pandas, Polars, DuckDB, Spark: a row for each grade"
)
