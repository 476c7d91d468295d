"""Formats as records: those of TREC, SMART, LETOR, the Search Relevance Workbench, and spreadsheets."""

from curation.ingest.readers.classic.letor import letor_rows
from curation.ingest.readers.classic.smart import smart_rows
from curation.ingest.readers.classic.trec import trec_rows
from curation.ingest.readers.classic.workbench import workbench_rows

CLASSIC_ROWS = {"trec": trec_rows, "smart": smart_rows, "srw": workbench_rows, "letor": letor_rows}
"""Format → the function that gives (line, fields) for each record of its lines, and notes problems."""

__all__ = ["CLASSIC_ROWS"]
