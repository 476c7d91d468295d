"""One table of all grades as CSV: query_id, query_text, doc_id, relevance, split."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from curation.releases.export.formats.export_format import ExportFormat
from curation.releases.export.formats.files import Written, write_table

if TYPE_CHECKING:
    from curation.releases.export.gold import Gold

COLUMNS = ("query_id", "query_text", "doc_id", "relevance", "split")


def write_csv(folder: Path, gold: Gold) -> Written:
    """qrels.csv."""
    write_table(folder / "qrels.csv", COLUMNS, gold.judged(), ",")
    return Written()


CSV = ExportFormat("csv", write_csv)
