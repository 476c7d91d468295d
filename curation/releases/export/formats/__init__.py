"""The export formats: a file with its record each (two where both write the same rows), and their order here.

The bytes of an export depend only on the release and the options (those of Parquet also on the version of
pyarrow). The command line's help reads the records, so format modules import heavy packages where they write.
"""

from __future__ import annotations

from curation.releases.export.formats.beir import BEIR, LEADERBOARD
from curation.releases.export.formats.export_format import ExportFormat
from curation.releases.export.formats.full import FULL
from curation.releases.export.formats.hf import HF
from curation.releases.export.formats.ranx import RANX
from curation.releases.export.formats.tables import CSV, PARQUET
from curation.releases.export.formats.trec import TREC
from curation.releases.export.formats.tuples import NTUPLES, TRIPLETS

FORMATS: dict[str, ExportFormat] = {
    format.name: format
    for format in (BEIR, LEADERBOARD, TREC, RANX, CSV, PARQUET, HF, TRIPLETS, NTUPLES, FULL)
}
"""Name → format, in the order of the help."""
