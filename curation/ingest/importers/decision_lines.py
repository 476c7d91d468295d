"""The lines of a file of reviewers' decisions: a pair, its grade, and the reason."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from curation.core.progress import Progress, silent
from curation.ingest.readers.fields import DecisionFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import text_of


class DecisionLine(NamedTuple):
    """A decision as its line has it: `query` is an id or a text, `grade` any text; `fields` its columns."""

    line: int
    query: str
    document_id: str
    grade: str
    reason: str
    fields: DecisionFields = DecisionFields()


def read_decision_lines(
    path: Path,
    fields: DecisionFields | None = None,
    reason: str = "",
    layout: FileLayout | None = None,
    progress: Progress = silent,
) -> list[DecisionLine]:
    """The decisions in a file, each with the reason in its own field, or else the one for all.

    Raises
    ------
    InputError: the file cannot be read or lacks a field; all problems at once.
    """
    records = Records(path, layout, progress, judged=True)
    used = records.resolve(fields or DecisionFields())
    columns = [name or "" for name in (used.query, used.document, used.grade, used.reason)]
    lines = []
    for record in records:
        query, document_id, grade, reason_here = (
            text_of(record.fields.get(name)).strip() for name in columns
        )
        lines.append(
            DecisionLine(record.line, query, document_id, grade, reason_here or reason.strip(), used)
        )
    return lines
