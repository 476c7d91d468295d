"""One table of all grades as Parquet, with the columns of the CSV table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from curation.releases.export.formats.csv_table import COLUMNS
from curation.releases.export.formats.export_format import ExportFormat
from curation.releases.export.formats.files import Written

if TYPE_CHECKING:
    from curation.releases.export.gold import Gold


def write_parquet(folder: Path, gold: Gold) -> Written:
    """qrels.parquet; the release id is in the schema's metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.string()
    types = dict(zip(COLUMNS, (text, text, text, pa.int32(), text), strict=True))
    schema = pa.schema(types, metadata={"goldset_release_id": gold.release_id})
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in gold.judged()]
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(table, folder / "qrels.parquet", compression="zstd", version="2.6")
    return Written()


PARQUET = ExportFormat("parquet", write_parquet)
