"""Ratings as Quepid and OpenSearch's Search Relevance Workbench import them: query,docid,rating.

A query is its text, and has no id.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from curation.releases.export.formats.export_format import (
    ExportFormat,
    Written,
    csv_types,
    split_names,
    write_table,
)

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource

COLUMNS = ("query", "docid", "rating")


def write_ratings(folder: Path, gold: ExportSource) -> Written:
    """A table for each part."""
    files = {split: f"{part}.csv" for part, split in split_names(gold.parts).items()}
    for part, name in zip(gold.parts, files.values(), strict=True):
        write_table(folder / name, COLUMNS, (row[1:4] for row in gold.judged(part)), ",")
    return Written({"default": files}, loading=csv_types(COLUMNS))


RATINGS = ExportFormat(
    "ratings", write_ratings, readers="Quepid and the Search Relevance Workbench: query, docid, rating"
)
