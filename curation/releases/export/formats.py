"""The list of all export formats, in the order of the help text.

Each module of formats holds the record of a format, or the records of similar formats. The bytes of an export
depend only on the release and the options (Parquet files also on the version of pyarrow). The command line
reads the records for its help, so format modules import heavy packages only in the functions that write
files.
"""

from __future__ import annotations

from curation.releases.export.answer_evaluators import DEEPEVAL, LANGSMITH, RAGAS
from curation.releases.export.beir import BEIR, LEADERBOARD
from curation.releases.export.csv_tables import CSV, PARQUET
from curation.releases.export.export_format import ExportFormat
from curation.releases.export.full import FULL
from curation.releases.export.hugging_face import HF
from curation.releases.export.label_studio import LABEL_STUDIO
from curation.releases.export.search_engines import RANK_EVAL, RATINGS
from curation.releases.export.trec import TREC
from curation.releases.export.triplets import TRIPLETS

_ALL = (
    *(BEIR, LEADERBOARD, TREC, CSV, PARQUET, HF, TRIPLETS, FULL),
    *(RANK_EVAL, RATINGS, LABEL_STUDIO, RAGAS, DEEPEVAL, LANGSMITH),
)
FORMATS: dict[str, ExportFormat] = {format.name: format for format in _ALL}
"""Map from name to export format, in the order of the help text."""
