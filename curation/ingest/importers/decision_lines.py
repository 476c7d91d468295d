"""Reviewers' decisions in a file: each line has a pair, a final grade and a reason."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from curation.core.progress import Progress, silent
from curation.ingest.readers.fields import DecisionFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import field_to_text


class DecisionLine(NamedTuple):
    """A reviewer's decision as written in a file; `query` is an id or a text, `grade` is any text."""

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
    """Return the decisions in a file; a line without its own reason gets `reason`.

    Raises
    ------
    InputError: the file cannot be read or lacks a field; the error lists all problems.
    """
    records = Records(path, layout, progress, judged=True)
    used = records.resolve(fields or DecisionFields())
    lines = []
    for record in records:
        columns = (used.query, used.document, used.grade, used.reason)
        query, document_id, grade, line_reason = (
            field_to_text(record.fields, name).strip() for name in columns
        )
        decision_reason = line_reason or reason.strip()
        lines.append(DecisionLine(record.line, query, document_id, grade, decision_reason, used))
    return lines
