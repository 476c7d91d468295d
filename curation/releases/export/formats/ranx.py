"""Qrels as `ranx.Qrels.from_file` reads them: one JSON object, query id → document id → grade.

`datasets` would take each query for a column; rows/<part>.jsonl has the same grades as rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from curation.releases.export.formats.export_format import (
    ExportFormat,
    Written,
    json_line,
    write_parts,
)

if TYPE_CHECKING:
    from curation.releases.export.gold import Gold


def write_ranx(folder: Path, gold: Gold) -> Written:
    """All grades, and those of each part."""
    files = {"qrels.json": None, **{f"qrels.{part}.json": part for part in gold.parts}}
    for name, part in files.items():
        with (folder / name).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(_object(gold, part))
    (folder / "rows").mkdir()
    splits = write_parts(folder / "rows", gold, ".jsonl", lambda part: map(json_line, _rows(gold, part)))
    return Written({"default": {split: f"rows/{name}" for split, name in splits.items()}})


def _rows(gold: Gold, part: str) -> Iterator[dict[str, str | int]]:
    for row in gold.judged(part):
        yield {"query_id": row.query_id, "doc_id": row.document_id, "relevance": row.grade}


def _object(gold: Gold, part: str | None) -> Iterator[str]:
    """The text of the object, a query at a time: grades are ordered by query."""
    before = "{"
    for query_id, rows in groupby(gold.judged(part), lambda row: row.query_id):
        yield f"{before}{json_line(query_id)}: {json_line({row.document_id: row.grade for row in rows})}"
        before = ", "
    yield "{}\n" if before == "{" else "}\n"


RANX = ExportFormat("ranx", write_ranx, readers="ranx: qrels as JSON")
