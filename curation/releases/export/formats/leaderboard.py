"""The BEIR folder without the grades of sealed parts: it can be given to anybody."""

from __future__ import annotations

from curation.releases.export.formats.beir import write_beir
from curation.releases.export.formats.export_format import ExportFormat

LEADERBOARD = ExportFormat(
    "leaderboard",
    write_beir,
    note="beir without sealed grades",
    sealed_by_default=False,
    never_sealed=True,
)
