"""The export formats csv and parquet: one table with one row per grade.

To add a column, add its name to `COLUMNS` and its field to `export_source.ExportedGrade`, at the same
position.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from curation.core.characters import quote_formula
from curation.releases.export.export_format import ExportFormat, Written
from curation.releases.export.files import QUERY_COLUMNS, describe_csv_types, write_parquet, write_table

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource

COLUMNS = ("query_id", "query_text", "doc_id", "relevance", "split")


def write_csv(folder: Path, source: ExportSource) -> Written:
    """Write the file qrels.csv, in which no spreadsheet takes a text for a formula."""
    rows = (
        [quote_formula(c) if isinstance(c, str) else c for c in row[: len(COLUMNS)]]
        for row in source.iterate_grades()
    )
    write_table(folder / "qrels.csv", COLUMNS, rows, ",")
    return Written({"default": {"qrels": "qrels.csv"}}, loading=describe_csv_types(COLUMNS))


def write_parquet_table(folder: Path, source: ExportSource) -> Written:
    """Write the file qrels.parquet, with the release id in the metadata of its schema."""
    queries = source.query_rows
    rows = (
        (*row[: len(COLUMNS)], *row.extras, *(queries[row.query_id][column] for column in QUERY_COLUMNS))
        for row in source.iterate_grades()
    )
    columns = (*COLUMNS, *source.extra_columns, *QUERY_COLUMNS)
    write_parquet(folder / "qrels.parquet", columns, rows, source.release.row.release_id)
    return Written({"default": {"qrels": "qrels.parquet"}})


CSV = ExportFormat("csv", write_csv, readers="Spreadsheets: a row for each grade")


PARQUET = ExportFormat(
    "parquet",
    write_parquet_table,
    readers="pandas, Polars, DuckDB, Spark: a row for each grade, with votes and traffic weights",
    reading='gold = pd.read_parquet("qrels.parquet").query("split == @sys.argv[1]")',
)
