"""Warnings about a corpus that was imported as requested, but probably not as intended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from curation.core.text import join_names
from curation.ingest.readers.document_files.front_matter import starts_with_front_matter
from curation.ingest.readers.document_files.rows import FolderRemarks
from curation.ingest.readers.fields import CorpusFields
from curation.ingest.readers.records import Records
from curation.store import Document

MIN_SHARE = 0.3
"""Smallest share of the first documents from which a doubt about them becomes a warning."""
_UNLIKELY_ID = re.compile(r"(?i)true|false|-?\d+\.\d+(?:e[+-]?\d+)?|\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]+)?")
"""Pattern of ids that are truth values, floating-point numbers or dates."""


def describe_alike(folder: FolderRemarks) -> list[str]:
    """Return a sentence about files in a folder whose names differ only in case or Unicode form."""
    if not folder.alike:
        return []
    return [f"Some names differ only by case or by Unicode form: {join_names(folder.alike, 10)}."]


def find_corpus_warnings(
    documents: Sequence[Document], fields: CorpusFields, records: Records
) -> Iterator[str]:
    """Yield warnings: front matter in texts, missing titles, long texts that are not searched, and unlikely
    ids."""
    if not documents:
        return
    with_front_matter = sum(starts_with_front_matter(document.body) for document in documents)
    if with_front_matter >= MIN_SHARE * len(documents):
        yield (
            "The texts begin with front matter, which would be searched and shown as text. Import the "
            "folder with the files instead, so that front matter becomes fields of the documents."
        )
    if fields.title is None:
        yield (
            "No column was recognized as the title, so documents have no title. Name the title column with "
            "--map title=COLUMN."
        )
    longest = records.find_longest_text(set(fields.used.values()))
    if longest and fields.body:
        columns = " ".join(f"--map body={name}" for name in (*fields.body, longest))
        yield f"The column {longest} contains long texts but is not searched. To search it, add {columns}."
    unlikely = [
        document.document_id for document in documents if _UNLIKELY_ID.fullmatch(document.document_id)
    ]
    if len(unlikely) >= MIN_SHARE * len(documents):
        yield (
            f"The ids look like measurements, Boolean values or dates, such as {unlikely[0]}. "
            "Name the column of ids with --map id=COLUMN."
        )
