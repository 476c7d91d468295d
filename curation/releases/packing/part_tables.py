"""A release's part as a Parquet table that anybody reads, and from which the part's very lines come back.

Texts, numbers and lists of texts are columns of their type. Everything else, such as the votes of a pair,
is a column of JSON texts. A field that some rows lack is null there; one that also has nulls of its own is
JSON. A field's metadata says which it is, and whether it was added to the part, as a document's text is.

The rows are walked twice: types follow from all of them. Of the same rows the file has the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.core.text import canonical_json
from curation.store.release_parts import batched

if TYPE_CHECKING:
    import pyarrow as pa

Row = Mapping[str, Any]

FORM, ABSENT, ADDED = b"goldset", b"goldset_absent", b"goldset_added"
"""Keys of a field's metadata: 'json' or 'plain'; whether null is a missing field; whether it was added."""
NUMBERS = {"traffic": int, "inclusion_probability": float, "rank": int, "score": float, "confidence": float}
"""The types of numbers of which a release may have none at all."""
_MISSING = object()
_LARGEST = 2**63


def write_part(path: Path, rows: Iterable[Row], added: Iterable[str] = ()) -> int:
    """Write the rows, which can be walked twice, and return their number; nothing where there is none.

    added: fields that the part does not have.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(rows, frozenset(added))
    if schema is None:
        return 0
    written = 0
    with pq.ParquetWriter(path, schema, compression="zstd", version="2.6") as writer:
        for batch in batched(rows):
            columns = [[_cell(row.get(field.name, _MISSING), field) for row in batch] for field in schema]
            arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            written += len(batch)
    return written


def batch_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """The rows of a batch of such a table as the part has them, without what was added."""
    fields = [field for field in batch.schema if ADDED not in field.metadata]
    columns = [values_of(batch.column(field.name)) for field in fields]
    for place, field in enumerate(fields):
        if field.metadata[FORM] == b"json":
            columns[place] = [_MISSING if text is None else json.loads(text) for text in columns[place]]
        elif ABSENT in field.metadata:
            columns[place] = [_MISSING if value is None else value for value in columns[place]]
    names = [field.name for field in fields]
    return [
        {name: value for name, value in zip(names, values, strict=True) if value is not _MISSING}
        for values in zip(*columns, strict=True)
    ]


def values_of(column: pa.Array) -> list[Any]:
    """The values of a column; of a dictionary they are sixteen times slower one by one."""
    import pyarrow as pa

    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    found: list[Any] = plain.to_pylist()
    return found


def _schema(rows: Iterable[Row], added: frozenset[str]) -> pa.Schema | None:
    """The columns by name, ids first; None without a row."""
    import pyarrow as pa

    kinds: dict[str, set[Any]] = {}
    count: dict[str, int] = {}
    total = 0
    for row in rows:
        total += 1
        for name, value in row.items():
            kinds.setdefault(name, set()).add(_kind(value))
            count[name] = count.get(name, 0) + 1
    names = sorted(kinds, key=lambda name: (name in added, not name.endswith("_id"), name))
    fields = [_field(name, kinds[name], count[name] < total, name in added) for name in names]
    return pa.schema(fields) if total else None


def _kind(value: Any) -> Any:
    """The type of a value that is a column's; list of texts as [str]; other values are JSON."""
    if isinstance(value, list):
        return "texts" if all(type(item) is str for item in value) else "json"
    if isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        return "json"
    return type(value) if value is None or isinstance(value, str | int | float) else "json"


def _field(name: str, kinds: set[Any], lacking: bool, added: bool) -> pa.Field:
    import pyarrow as pa

    types: dict[Any, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    types |= {bool: pa.bool_(), "texts": pa.list_(pa.string())}
    with_null = type(None) in kinds
    known = kinds - {type(None)} or {NUMBERS.get(name, str)}
    found = types.get(next(iter(known))) if len(known) == 1 and not (lacking and with_null) else None
    metadata = {FORM: b"plain" if found else b"json"}
    metadata |= {ABSENT: b"1"} if lacking and found else {}
    metadata |= {ADDED: b"1"} if added else {}
    return pa.field(name, found or pa.string(), metadata=metadata)


def _cell(value: Any, field: pa.Field) -> Any:
    if value is _MISSING:
        return None
    return canonical_json(value) if field.metadata[FORM] == b"json" else value
