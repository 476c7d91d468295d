"""Functions that write the files of an export, such as JSON lines and Parquet."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.store.release_parts import batched

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource

QUERY_COLUMNS = ("stratum", "segment", "tags", "traffic", "inclusion_probability", "traffic_weight")
"""Columns of facts about a query, from `ExportSource.query_rows`."""
TYPES = {
    **dict.fromkeys(("score", "relevance", "rating"), "int32"),
    "traffic": "int64",
    **dict.fromkeys(("confidence", "inclusion_probability", "traffic_weight"), "float64"),
    "tags": "list<string>",
    "evidence": "ranges",
}
"""Map from column of a table to its type. All other columns are text."""


def json_line(value: Any) -> str:
    """Return a value as JSON on one line, with characters unescaped and keys in their given order."""
    return json.dumps(value, ensure_ascii=False)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a UTF-8 file, with a line feed after each line on every operating system."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], delimiter: str) -> None:
    """Write a table with a header to a file. Only fields that need quotes are quoted."""
    with path.open("w", encoding="utf-8", newline="") as file:
        minimal = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        quoted = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        minimal.writerow(header)
        for row in rows:
            # Older Pythons do not quote a lone carriage return, and take it for the end of the row.
            writer = quoted if any("\r" in str(field) for field in row) else minimal
            writer.writerow(row)


def write_parquet(
    path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]], release_id: str | None = None
) -> None:
    """Write a Parquet file, batch by batch, with the release id in the schema's metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(exist_ok=True)
    ranges = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("quote", pa.string())])
    types = {"list<string>": pa.list_(pa.string()), "ranges": pa.list_(ranges)}
    fields = [(name, types.get(kind) or pa.type_for_alias(kind)) for name, kind in map_types(columns).items()]
    schema = pa.schema(fields, metadata={"goldset_release_id": release_id} if release_id else None)
    with pq.ParquetWriter(path, schema, compression="zstd", version="2.6") as writer:
        for batch in batched(rows):
            arrays = zip(*batch, strict=True)
            data = [pa.array(values, field.type) for values, field in zip(arrays, schema, strict=True)]
            writer.write_batch(pa.record_batch(data, schema=schema))


def map_types(columns: Iterable[str]) -> dict[str, str]:
    """Map each column of an exported table to its type."""
    return {name: TYPES.get(name, "string") for name in columns}


def describe_csv_types(columns: Iterable[str]) -> dict[str, Any]:
    """Return the column types for configs of CSV files. Without types, 007 becomes a number and NA a null."""
    types = [{"name": name, "dtype": kind} for name, kind in map_types(columns).items()]
    return {"keep_default_na": False, "features": types}


def write_evidence(
    folder: Path, source: ExportSource, query: Callable[[str], str], document: Callable[[str], str]
) -> dict[str, dict[str, str]]:
    """Write evidence.jsonl, with one marked range of a document's text per line, and return its config.

    For a release without evidence, no file is written and no config is returned.

    Parameters
    ----------
    query, document: functions that return an id in the form of the export format.
    """
    if "evidence" not in source.extra_columns:
        return {}
    lines = (
        json_line({"query_id": query(row.query_id), "document_id": document(row.document_id), **span})
        for row in source.iterate_grades()
        for span in row.evidence or ()
    )
    write_lines(folder / "evidence.jsonl", lines)
    return {"evidence": {"evidence": "evidence.jsonl"}}


def write_parts(
    folder: Path, source: ExportSource, ending: str, lines: Callable[[str], Iterable[str]]
) -> dict[str, str]:
    """Write a file of lines for each part, named after the part, and return a map from split to file."""
    for part in source.parts:
        write_lines(folder / f"{part}{ending}", lines(part))
    return map_files(source, ending)


def map_files(source: ExportSource, ending: str) -> dict[str, str]:
    """Return a map from split to file, for files that are named after the parts."""
    return {split: f"{part}{ending}" for part, split in name_splits(source.parts).items()}


def json_array(objects: Iterable[Any]) -> Iterator[str]:
    """Yield the lines of a JSON array, with an object on each line."""
    prefix = "["
    for row in objects:
        yield f"{prefix}{json_line(row)}"
        prefix = ","
    yield "[]" if prefix == "[" else "]"


def name_splits(parts: Iterable[str]) -> dict[str, str]:
    """Map each part to a valid name of a split in `datasets`: letters, digits and underscores.

    Different parts always get different names.
    """
    names: dict[str, str] = {}
    for part in parts:
        name = re.sub(r"\W", "_", part)
        while name in names.values():
            name += "_"
        names[part] = name
    return names
