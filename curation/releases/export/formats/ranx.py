"""Qrels as `ranx.Qrels.from_file` reads them: one JSON object, query id → document id → grade."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from curation.releases.export.formats.export_format import ExportFormat, Written, json_line, write_lines

if TYPE_CHECKING:
    from curation.releases.export.gold import Gold


def write_ranx(folder: Path, gold: Gold) -> Written:
    """All grades, and those of each part."""
    files = {"qrels.json": None, **{f"qrels.{part}.json": part for part in gold.parts}}
    for name, part in files.items():
        qrels: dict[str, dict[str, int]] = {}
        for row in gold.judged(part):
            qrels.setdefault(row.query_id, {})[row.document_id] = row.grade
        write_lines(folder / name, [json_line(qrels)])
    return Written()


RANX = ExportFormat("ranx", write_ranx, readers="ranx: qrels as JSON")
