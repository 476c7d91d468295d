"""The export formats: a file with its record each (several where rows are the same), and their order here.

The bytes of an export depend only on the release and the options (those of Parquet also on the version of
pyarrow). The command line's help reads the records, so format modules import heavy packages where they write.
"""

from __future__ import annotations

from curation.releases.export.formats.beir import BEIR, LEADERBOARD
from curation.releases.export.formats.export_format import ExportFormat
from curation.releases.export.formats.full import FULL
from curation.releases.export.formats.hf import HF
from curation.releases.export.formats.label_studio import LABEL_STUDIO
from curation.releases.export.formats.questions import DEEPEVAL, LANGSMITH, RAGAS
from curation.releases.export.formats.rank_eval import RANK_EVAL
from curation.releases.export.formats.ratings import RATINGS
from curation.releases.export.formats.tables import CSV, PARQUET
from curation.releases.export.formats.trec import TREC
from curation.releases.export.formats.triplets import TRIPLETS

_ALL = (
    *(BEIR, LEADERBOARD, TREC, CSV, PARQUET, HF, TRIPLETS, FULL),
    *(RANK_EVAL, RATINGS, LABEL_STUDIO, RAGAS, DEEPEVAL, LANGSMITH),
)
FORMATS: dict[str, ExportFormat] = {format.name: format for format in _ALL}
"""Name → format, in the order of the help."""
GONE = {
    "letor": "the format letor is gone: write full, which has the ranks and scores of the pools",
    "ntuples": "the format ntuples is gone: write triplets, which has one negative in a row",
    "ranx": 'the format ranx is gone: write trec, and read it with ranx.Qrels.from_file(..., kind="trec")',
}
"""Format that went → which one to write."""
